/* SPDX-License-Identifier: Apache-2.0 */
/* A runtime without threads, which the program runs. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <string.h>

void own_loop_needs_no_thread(void);
void own_loop_refuses_what_would_hang(void);
void own_loop_frees_in_callbacks(void);

static kubecxx_informer* new_informer(kubecxx_client* client, const char* namespace_) {
  const kubecxx_resource maps = config_maps(namespace_);
  kubecxx_informer* informer;
  CHECK_OK(kubecxx_informer_new(client, &maps, NULL, &informer));
  return informer;
}

/* CA-5 */
void own_loop_needs_no_thread(void) {
  kubecxx_client* writer = new_client();
  kubecxx_runtime* const runtime = new_runtime_without_threads();
  kubecxx_client* client;
  kubecxx_informer* informer;
  kubecxx_handler_options options;
  recorder r;
  int descriptor;
  int same;
  recorder_init(&r);
  create_namespace(writer, "loop");
  create_config_map(writer, "loop", "a", "web");
  kubecxx_client_free(writer);
  wait_for_threads(1);

  client = new_client_on(runtime);
  options = recording_handler(&r);
  informer = new_informer(client, "loop");
  CHECK_OK(kubecxx_informer_add_handler(informer, &options, NULL));
  CHECK_OK(kubecxx_informer_start(informer));
  CHECK_OK(kubecxx_runtime_descriptor(runtime, &descriptor));
  while (!kubecxx_informer_has_synced(informer) || r.adds < 1) run_loop(runtime);
  CHECK(r.adds == 1 && strncmp(r.thread_name, "kube-", 5) != 0);
  wait_for_threads(1);
  CHECK_OK(kubecxx_runtime_descriptor(runtime, &same));
  CHECK(same == descriptor);

  /* Requests run the loop themselves. */
  create_config_map(client, "loop", "b", "web");
  wait_for_threads(1);
  while (r.adds < 2) run_loop(runtime);
  kubecxx_informer_free(informer);
  CHECK(r.releases == 1);
  kubecxx_client_free(client);
  kubecxx_runtime_free(runtime);
  wait_for_threads(1);
}

typedef struct asker {
  recorder base; /* the first member */
  kubecxx_runtime* runtime;
  kubecxx_client* client;
  kubecxx_informer* informer;
} asker;

static void ask(void* user_data, const kubecxx_object* object, int in_initial_list) {
  asker* const a = user_data;
  const kubecxx_resource maps = config_maps("refused");
  int more;
  (void)in_initial_list;
  CHECK_CODE(KUBECXX_ERROR_MISUSE, kubecxx_runtime_run_ready(a->runtime, 0, &more));
  CHECK_CODE(KUBECXX_ERROR_MISUSE,
             kubecxx_client_get(a->client, &maps, kubecxx_object_name(object), NULL, NULL));
  recorder_count(&a->base, &a->base.adds);
}

/* CA-3 */
void own_loop_refuses_what_would_hang(void) {
  kubecxx_client* const writer = new_client();
  kubecxx_runtime* with_threads;
  kubecxx_handler_options options = {.size = sizeof options};
  asker a;
  int descriptor;
  recorder_init(&a.base);
  create_namespace(writer, "refused");
  create_config_map(writer, "refused", "a", "web");
  a.runtime = new_runtime_without_threads();
  a.client = new_client_on(a.runtime);
  a.informer = new_informer(a.client, "refused");
  options.on_add = ask;
  options.user_data = &a;
  CHECK_OK(kubecxx_informer_add_handler(a.informer, &options, NULL));
  CHECK_OK(kubecxx_informer_start(a.informer));
  while (a.base.adds == 0) run_loop(a.runtime);
  kubecxx_client_free(a.client);
  kubecxx_informer_free(a.informer);
  kubecxx_runtime_free(a.runtime);
  kubecxx_client_free(writer);

  CHECK_OK(kubecxx_runtime_new(NULL, &with_threads));
  CHECK_CODE(KUBECXX_ERROR_MISUSE, kubecxx_runtime_descriptor(with_threads, &descriptor));
  CHECK(descriptor == -1);
  CHECK_CODE(KUBECXX_ERROR_MISUSE, kubecxx_runtime_run_ready(with_threads, 0, NULL));
  kubecxx_runtime_free(with_threads);
}

static void free_all(void* user_data, const kubecxx_object* object, int in_initial_list) {
  asker* const a = user_data;
  (void)object;
  (void)in_initial_list;
  kubecxx_runtime_free(a->runtime);
  kubecxx_client_free(a->client);
  kubecxx_informer_free(a->informer);
  recorder_count(&a->base, &a->base.adds);
}

/* CA-2: once with run_ready(), once with a call that waits and runs the loop. */
void own_loop_frees_in_callbacks(void) {
  kubecxx_client* const writer = new_client();
  kubecxx_handler_options options = {.size = sizeof options};
  asker a;
  int waits;
  create_namespace(writer, "looped");
  create_config_map(writer, "looped", "a", "web");
  kubecxx_client_free(writer);
  for (waits = 0; waits < 2; ++waits) {
    recorder_init(&a.base);
    a.runtime = new_runtime_without_threads();
    a.client = new_client_on(a.runtime);
    a.informer = new_informer(a.client, "looped");
    options.on_add = free_all;
    options.user_data = &a;
    options.release = count_release;
    if (waits) {
      kubecxx_handler* handler;
      CHECK_OK(kubecxx_informer_add_handler(a.informer, &options, &handler));
      CHECK_OK(kubecxx_informer_start(a.informer));
      CHECK_OK(kubecxx_handler_wait_for_sync(handler, WAIT_MS, NULL));
      kubecxx_handler_free(handler);
    } else {
      CHECK_OK(kubecxx_informer_add_handler(a.informer, &options, NULL));
      CHECK_OK(kubecxx_informer_start(a.informer));
      while (a.base.adds == 0) CHECK_OK(kubecxx_runtime_run_ready(a.runtime, 0, NULL));
    }
    CHECK(a.base.adds == 1 && a.base.releases == 1);
    wait_for_threads(1);
  }
}
