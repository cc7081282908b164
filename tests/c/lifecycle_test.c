/* SPDX-License-Identifier: Apache-2.0 */
/* The end of handles, user data, and logs. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <string.h>

void freeing_a_handler_waits_for_its_callback(void);
void a_handler_frees_everything_in_its_callback(void);
void handles_are_freed_in_any_order(void);
void user_data_stays_with_the_caller_if_adding_fails(void);
void log_sink_gets_lines_and_must_not_wait(void);
void log_sink_is_silent_after_free(void);

static kubecxx_informer* new_informer(kubecxx_client* client, const char* namespace_) {
  const kubecxx_resource maps = config_maps(namespace_);
  kubecxx_informer* informer;
  CHECK_OK(kubecxx_informer_new(client, &maps, NULL, &informer));
  return informer;
}

typedef struct blocker {
  recorder base; /* the first member */
  int let_go, freeing, freed, returned;
  kubecxx_handler* handler;
} blocker;

static void block(void* user_data, const kubecxx_object* object, int in_initial_list) {
  blocker* const b = user_data;
  (void)object;
  (void)in_initial_list;
  recorder_count(&b->base, &b->base.adds);
  recorder_wait(&b->base, &b->let_go, 1);
  CHECK(recorder_get(&b->base, &b->freed) == 0);
  recorder_count(&b->base, &b->returned);
}

static void* free_handler(void* user_data) {
  blocker* const b = user_data;
  recorder_count(&b->base, &b->freeing);
  kubecxx_handler_free(b->handler);
  CHECK(recorder_get(&b->base, &b->returned) == recorder_get(&b->base, &b->base.adds));
  CHECK(recorder_get(&b->base, &b->base.releases) == 1);
  recorder_count(&b->base, &b->freed);
  return NULL;
}

/* CA-2 */
void freeing_a_handler_waits_for_its_callback(void) {
  kubecxx_client* const client = new_client();
  kubecxx_informer* const informer = new_informer(client, "blocked");
  kubecxx_handler_options options = {.size = sizeof options};
  blocker b;
  pthread_t thread;
  memset(&b, 0, sizeof b);
  recorder_init(&b.base);
  options.on_add = block;
  options.user_data = &b;
  options.release = count_release;
  create_namespace(client, "blocked");
  create_config_map(client, "blocked", "a", "web");
  create_config_map(client, "blocked", "b", "web");
  CHECK_OK(kubecxx_informer_add_handler(informer, &options, &b.handler));
  CHECK_OK(kubecxx_informer_start(informer));
  recorder_wait(&b.base, &b.base.adds, 1);

  CHECK(pthread_create(&thread, NULL, free_handler, &b) == 0);
  recorder_wait(&b.base, &b.freeing, 1);
  CHECK(recorder_get(&b.base, &b.base.releases) == 0);
  recorder_count(&b.base, &b.let_go);
  CHECK(pthread_join(thread, NULL) == 0);
  create_config_map(client, "blocked", "c", "web");
  CHECK(recorder_get(&b.base, &b.base.adds) == recorder_get(&b.base, &b.returned));
  kubecxx_informer_free(informer);
  kubecxx_client_free(client);
}

typedef struct suicide {
  recorder base; /* the first member */
  kubecxx_runtime* runtime;
  kubecxx_client* client;
  kubecxx_informer* informer;
  kubecxx_handler* handler;
  kubecxx_handler* other;
} suicide;

static void free_everything(void* user_data, const kubecxx_object* object, int in_initial_list) {
  suicide* const s = user_data;
  (void)in_initial_list;
  kubecxx_handler_free(s->other);
  CHECK(recorder_get(&s->base, &s->base.releases) == 1); /* nobody is inside the other handler */
  kubecxx_handler_free(s->handler);
  kubecxx_informer_free(s->informer);
  kubecxx_client_free(s->client);
  kubecxx_runtime_free(s->runtime);
  CHECK(recorder_get(&s->base, &s->base.releases) ==
        1); /* the user data of this call is still in use */
  CHECK(equals(kubecxx_object_name(object), "a"));
  recorder_count(&s->base, &s->base.adds);
}

/* CA-2: afterwards no thread is left. */
void a_handler_frees_everything_in_its_callback(void) {
  const int threads = thread_count();
  kubecxx_client* const other_client = new_client();
  kubecxx_handler_options options = {.size = sizeof options};
  suicide s;
  recorder_init(&s.base);
  create_namespace(other_client, "own-end");
  create_config_map(other_client, "own-end", "a", "web");
  kubecxx_client_free(other_client);
  CHECK_OK(kubecxx_runtime_new(NULL, &s.runtime));
  s.client = new_client_on(s.runtime);
  s.informer = new_informer(s.client, "own-end");
  options.user_data = &s;
  options.release = count_release;
  CHECK_OK(kubecxx_informer_add_handler(s.informer, &options, &s.other));
  options.on_add = free_everything;
  CHECK_OK(kubecxx_informer_add_handler(s.informer, &options, &s.handler));
  CHECK_OK(kubecxx_informer_start(s.informer));
  recorder_wait(&s.base, &s.base.releases, 2);
  CHECK(s.base.adds == 1);
  wait_for_threads(threads); /* they end by themselves */
}

/* CA-2 */
void handles_are_freed_in_any_order(void) {
  const int threads = thread_count();
  kubecxx_runtime* runtime;
  kubecxx_client* client;
  kubecxx_informer* informer;
  kubecxx_handler* handler;
  kubecxx_handler_options options;
  kubecxx_list* list;
  recorder r;
  recorder_init(&r);
  options = recording_handler(&r);
  CHECK_OK(kubecxx_runtime_new(NULL, &runtime));
  client = new_client_on(runtime);
  create_namespace(client, "order");
  create_config_map(client, "order", "a", "web");
  informer = new_informer(client, "order");
  CHECK_OK(kubecxx_informer_add_handler(informer, &options, &handler));
  kubecxx_runtime_free(runtime);
  kubecxx_client_free(client);
  CHECK_OK(kubecxx_informer_start(informer));
  CHECK_OK(kubecxx_handler_wait_for_sync(handler, WAIT_MS, NULL));
  CHECK_OK(kubecxx_informer_list(informer, kubecxx_str(""), kubecxx_str(""), &list));
  kubecxx_informer_free(informer);
  kubecxx_handler_free(handler);
  CHECK(kubecxx_list_size(list) == 1);
  CHECK(contains(kubecxx_object_json(kubecxx_list_item(list, 0)), "order"));
  kubecxx_list_free(list);
  CHECK(r.releases == 1);
  wait_for_threads(threads);
}

/* CA-2 */
void user_data_stays_with_the_caller_if_adding_fails(void) {
  kubecxx_config* const config = load_config();
  kubecxx_election* election;
  kubecxx_election_options election_options = {.size = sizeof election_options};
  kubecxx_log* log;
  recorder r;
  recorder_init(&r);
  election_options.user_data = &r;
  election_options.release = count_release;
  CHECK_CODE(KUBECXX_ERROR_INVALID_ARGUMENT,
             kubecxx_election_new(config, &election_options, &election));
  CHECK_CODE(KUBECXX_ERROR_INVALID_ARGUMENT, kubecxx_log_new(NULL, &r, count_release, 17, &log));
  CHECK(r.releases == 0);
  kubecxx_config_free(config);
}

typedef struct sink {
  recorder base; /* the first member */
  kubecxx_client* client;
  kubecxx_informer* informer;
  int refused;
} sink;

static void take_line(void* user_data, int level, kubecxx_string component,
                      kubecxx_string message) {
  sink* const s = user_data;
  const kubecxx_resource maps = config_maps("default");
  kubecxx_object* object;
  CHECK(level >= KUBECXX_LOG_WARNING && level <= KUBECXX_LOG_ERROR);
  CHECK(component.size > 0 && message.size > 0);
  /* Calls that do not wait are allowed; calls that wait are refused. */
  CHECK_CODE(KUBECXX_ERROR_NOT_FOUND,
             kubecxx_informer_get(s->informer, kubecxx_str("a/b"), &object));
  CHECK_CODE(KUBECXX_ERROR_MISUSE,
             kubecxx_client_get(s->client, &maps, kubecxx_str("a"), NULL, &object));
  CHECK_CODE(KUBECXX_ERROR_MISUSE, kubecxx_informer_wait_for_sync(s->informer, WAIT_MS, NULL));
  recorder_count(&s->base, &s->refused);
}

/* CA-3, CA-5: an informer of a resource that does not exist logs why it fails. */
void log_sink_gets_lines_and_must_not_wait(void) {
  kubecxx_config* const config = load_config();
  kubecxx_resource unknown = config_maps("");
  kubecxx_client_options options = {.size = sizeof options};
  kubecxx_log* log;
  sink s;
  memset(&s, 0, sizeof s);
  recorder_init(&s.base);
  unknown.resource = kubecxx_str("unknowns");
  CHECK_OK(kubecxx_log_new(take_line, &s, count_release, KUBECXX_LOG_WARNING, &log));
  options.log = log;
  CHECK_OK(kubecxx_client_new(config, &options, &s.client));
  CHECK_OK(kubecxx_informer_new(s.client, &unknown, NULL, &s.informer));
  CHECK_OK(kubecxx_informer_start(s.informer));
  recorder_wait(&s.base, &s.refused, 1);
  kubecxx_informer_free(s.informer);
  kubecxx_client_free(s.client);
  CHECK(s.base.releases == 0);
  kubecxx_log_free(log);
  CHECK(s.base.releases == 1);
  kubecxx_config_free(config);
}

/* CA-2: a client continues after its log was freed. */
void log_sink_is_silent_after_free(void) {
  kubecxx_config* const config = load_config();
  kubecxx_resource unknown = config_maps("");
  kubecxx_client_options options = {.size = sizeof options};
  kubecxx_log* log;
  sink s;
  int lines;
  memset(&s, 0, sizeof s);
  recorder_init(&s.base);
  unknown.resource = kubecxx_str("unknowns");
  CHECK_OK(kubecxx_log_new(take_line, &s, count_release, KUBECXX_LOG_WARNING, &log));
  options.log = log;
  CHECK_OK(kubecxx_client_new(config, &options, &s.client));
  CHECK_OK(kubecxx_informer_new(s.client, &unknown, NULL, &s.informer));
  CHECK_OK(kubecxx_informer_start(s.informer));
  recorder_wait(&s.base, &s.refused, 1);
  kubecxx_log_free(log);
  lines = recorder_get(&s.base, &s.refused);
  CHECK(s.base.releases == 1);
  CHECK_CODE(KUBECXX_ERROR_TIMEOUT,
             kubecxx_informer_wait_for_sync(s.informer, 1500, NULL)); /* fails once more */
  CHECK(recorder_get(&s.base, &s.refused) == lines);
  kubecxx_informer_free(s.informer);
  kubecxx_client_free(s.client);
  kubecxx_config_free(config);
}
