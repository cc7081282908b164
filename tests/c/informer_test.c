/* SPDX-License-Identifier: Apache-2.0 */
/* Informers, their caches and handlers. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <string.h>

void informer_fills_its_cache_and_reads_from_it(void);
void informer_selects_by_labels_and_fields(void);
void informer_reports_why_it_has_not_synced(void);
void handler_is_called_on_workers_for_each_change(void);
void handler_added_late_sees_existing_objects(void);
void handler_may_call_the_server(void);
void objects_outlive_the_callback_as_clones(void);

static size_t count(kubecxx_informer* informer, const char* namespace_, const char* selector) {
  kubecxx_list* list;
  size_t size;
  CHECK_OK(kubecxx_informer_list(informer, kubecxx_str(namespace_), kubecxx_str(selector), &list));
  size = kubecxx_list_size(list);
  CHECK(kubecxx_list_item(list, size) == NULL);
  if (size > 0) CHECK(contains(kubecxx_object_json(kubecxx_list_item(list, 0)), "ConfigMap"));
  kubecxx_list_free(list);
  return size;
}

static kubecxx_informer* new_informer(kubecxx_client* client, const char* namespace_,
                                      const kubecxx_informer_options* options) {
  const kubecxx_resource maps = config_maps(namespace_);
  kubecxx_informer* informer;
  CHECK_OK(kubecxx_informer_new(client, &maps, options, &informer));
  return informer;
}

static void start_and_sync(kubecxx_informer* informer) {
  CHECK_OK(kubecxx_informer_start(informer));
  CHECK_OK(kubecxx_informer_wait_for_sync(informer, WAIT_MS, NULL));
  CHECK(kubecxx_informer_has_synced(informer) == 1);
}

/* CA-5 */
void informer_fills_its_cache_and_reads_from_it(void) {
  kubecxx_client* const client = new_client();
  kubecxx_string leave_out = kubecxx_str("metadata.managedFields");
  kubecxx_informer_options options = {.size = sizeof options};
  kubecxx_informer* informer;
  kubecxx_object* object;
  kubecxx_text* text;
  create_namespace(client, "one");
  create_namespace(client, "two");
  create_config_map(client, "one", "a", "web");
  create_config_map(client, "one", "b", "db");
  create_config_map(client, "two", "c", "web");
  options.leave_out = &leave_out;
  options.leave_out_count = 1;
  informer = new_informer(client, "", &options);
  CHECK(kubecxx_informer_has_synced(informer) == 0);
  CHECK_CODE(KUBECXX_ERROR_MISUSE,
             kubecxx_informer_wait_for_sync(informer, WAIT_MS, NULL)); /* not started */

  start_and_sync(informer);
  CHECK_CODE(KUBECXX_ERROR_MISUSE, kubecxx_informer_start(informer));

  CHECK_OK(kubecxx_informer_get(informer, kubecxx_str("one/a"), &object));
  CHECK(equals(kubecxx_object_name(object), "a") &&
        equals(kubecxx_object_namespace(object), "one"));
  CHECK(!contains(kubecxx_object_json(object), "managedFields"));
  kubecxx_object_free(object);
  CHECK_CODE(KUBECXX_ERROR_NOT_FOUND,
             kubecxx_informer_get(informer, kubecxx_str("one/z"), &object));
  CHECK(object == NULL);
  CHECK(count(informer, "", "app in (web,db)") == 3);
  CHECK(count(informer, "", "app=web") == 2);
  CHECK(count(informer, "one", "") == 2);
  CHECK(count(informer, "one", "app=web") == 1);
  CHECK(count(informer, "elsewhere", "") == 0);
  {
    kubecxx_list* list;
    CHECK_CODE(KUBECXX_ERROR_INVALID_ARGUMENT,
               kubecxx_informer_list(informer, kubecxx_str(""), kubecxx_str("=="), &list));
  }
  CHECK_OK(kubecxx_informer_last_error(informer, &text));
  CHECK(kubecxx_text_get(text).size == 0);
  kubecxx_text_free(text);
  kubecxx_informer_free(informer);
  kubecxx_client_free(client);
}

/* CA-5 */
void informer_selects_by_labels_and_fields(void) {
  kubecxx_client* const client = new_client();
  kubecxx_informer_options options = {.size = sizeof options};
  const kubecxx_resource maps = config_maps("");
  kubecxx_informer* informer;
  create_namespace(client, "sel");
  create_config_map(client, "sel", "a", "web");
  create_config_map(client, "sel", "b", "web");
  create_config_map(client, "sel", "c", "db");
  options.label_selector = kubecxx_str("app=web");
  options.field_selector = kubecxx_str("metadata.name=b");
  informer = new_informer(client, "sel", &options);
  start_and_sync(informer);
  CHECK(count(informer, "", "") == 1);
  kubecxx_informer_free(informer);

  options.label_selector = kubecxx_str("app in (");
  CHECK_CODE(KUBECXX_ERROR_INVALID_ARGUMENT,
             kubecxx_informer_new(client, &maps, &options, &informer));
  CHECK(informer == NULL);
  kubecxx_client_free(client);
}

/* CA-5: the server does not have the resource. */
void informer_reports_why_it_has_not_synced(void) {
  kubecxx_client* const client = new_client();
  kubecxx_resource resource = config_maps("");
  kubecxx_informer* informer;
  kubecxx_cancel* cancel;
  kubecxx_log* silence;
  CHECK_OK(kubecxx_log_new(NULL, NULL, NULL, KUBECXX_LOG_ERROR, &silence));
  resource.resource = kubecxx_str("unknowns");
  CHECK_OK(kubecxx_informer_new(client, &resource, NULL, &informer));
  CHECK_OK(kubecxx_informer_start(informer));
  while (kubecxx_informer_wait_for_sync(informer, 50, NULL) == KUBECXX_ERROR_TIMEOUT) {
    if (contains(kubecxx_error_message(), "could not find the requested resource")) break;
  }
  CHECK(kubecxx_error_code() == KUBECXX_ERROR_TIMEOUT);
  CHECK_CODE(KUBECXX_ERROR_TIMEOUT, kubecxx_informer_wait_for_sync(informer, 0, NULL));
  CHECK_OK(kubecxx_cancel_new(&cancel));
  CHECK_OK(kubecxx_cancel_request(cancel));
  CHECK_CODE(KUBECXX_ERROR_CANCELED, kubecxx_informer_wait_for_sync(informer, -1, cancel));
  kubecxx_cancel_free(cancel);
  kubecxx_informer_free(informer);
  kubecxx_client_free(client);
  kubecxx_log_free(silence);
}

/* CA-5, CA-7 */
void handler_is_called_on_workers_for_each_change(void) {
  kubecxx_client* const client = new_client();
  kubecxx_informer* const informer = new_informer(client, "handled", NULL);
  kubecxx_handler_options options;
  kubecxx_handler* handler;
  recorder r;
  recorder_init(&r);
  options = recording_handler(&r);
  options.name = kubecxx_str("counts");
  create_namespace(client, "handled");
  create_config_map(client, "handled", "a", "web");
  CHECK_OK(kubecxx_informer_add_handler(informer, &options, &handler));
  CHECK(kubecxx_handler_has_synced(handler) == 0);

  CHECK_OK(kubecxx_informer_start(informer));
  CHECK_OK(kubecxx_handler_wait_for_sync(handler, WAIT_MS, NULL));
  CHECK(kubecxx_handler_has_synced(handler) == 1);
  CHECK(r.adds == 1 && r.initial_adds == 1);
  create_config_map(client, "handled", "b", "web");
  recorder_wait(&r, &r.adds, 2);
  touch_config_map(client, "handled", "b", "changed");
  recorder_wait(&r, &r.updates, 1);
  delete_config_map(client, "handled", "b");
  recorder_wait(&r, &r.deletes, 1);

  CHECK(r.initial_adds == 1 && strcmp(r.last_key, "handled/b") == 0);
  CHECK(strncmp(r.thread_name, "kube-work-", 10) == 0);
  CHECK(r.releases == 0);
  kubecxx_handler_free(handler);
  CHECK(r.releases == 1);
  kubecxx_informer_free(informer);
  kubecxx_client_free(client);
  CHECK(r.releases == 1);
}

/* CA-5 */
void handler_added_late_sees_existing_objects(void) {
  kubecxx_client* const client = new_client();
  kubecxx_informer* const informer = new_informer(client, "late", NULL);
  kubecxx_handler_options options;
  kubecxx_handler* handler;
  recorder r;
  recorder_init(&r);
  options = recording_handler(&r);
  create_namespace(client, "late");
  create_config_map(client, "late", "a", "web");
  create_config_map(client, "late", "b", "web");
  start_and_sync(informer);
  CHECK_OK(kubecxx_informer_add_handler(informer, &options, &handler));
  CHECK_OK(kubecxx_handler_wait_for_sync(handler, WAIT_MS, NULL));
  CHECK(r.adds == 2 && r.initial_adds == 2);
  kubecxx_informer_free(informer);
  CHECK(r.releases == 1); /* there are no callbacks any more */
  CHECK(kubecxx_handler_has_synced(handler) == 1);
  kubecxx_handler_free(handler);
  CHECK(r.releases == 1);
  kubecxx_client_free(client);
}

typedef struct writer {
  recorder base; /* the first member */
  kubecxx_client* client;
  kubecxx_informer* informer;
} writer;

/* Reads the cache and writes to the server in the handler. */
static void copy_object(void* user_data, const kubecxx_object* object, int in_initial_list) {
  writer* const w = user_data;
  kubecxx_object* cached;
  (void)in_initial_list;
  CHECK(equals(kubecxx_object_name(object), "source") ||
        equals(kubecxx_object_name(object), "copy"));
  CHECK_OK(kubecxx_informer_get(w->informer, kubecxx_str("writes/source"), &cached));
  kubecxx_object_free(cached);
  CHECK_OK(kubecxx_informer_wait_for_sync(w->informer, WAIT_MS, NULL));
  if (equals(kubecxx_object_name(object), "source"))
    create_config_map(w->client, "writes", "copy", "web");
  recorder_count(&w->base, &w->base.adds);
}

/* CA-3, CA-7 */
void handler_may_call_the_server(void) {
  writer w;
  kubecxx_handler_options options = {.size = sizeof options};
  recorder_init(&w.base);
  w.client = new_client();
  w.informer = new_informer(w.client, "writes", NULL);
  options.on_add = copy_object;
  options.user_data = &w;
  create_namespace(w.client, "writes");
  create_config_map(w.client, "writes", "source", "web");
  CHECK_OK(kubecxx_informer_add_handler(w.informer, &options, NULL));
  CHECK_OK(kubecxx_informer_start(w.informer));
  recorder_wait(&w.base, &w.base.adds, 2);
  kubecxx_informer_free(w.informer);
  kubecxx_client_free(w.client);
}

typedef struct keeper {
  recorder base; /* the first member */
  kubecxx_object* kept;
} keeper;

static void keep_object(void* user_data, const kubecxx_object* object, int in_initial_list) {
  keeper* const k = user_data;
  (void)in_initial_list;
  CHECK_OK(kubecxx_object_clone(object, &k->kept));
  recorder_count(&k->base, &k->base.adds);
}

/* CA-2 */
void objects_outlive_the_callback_as_clones(void) {
  kubecxx_client* const client = new_client();
  kubecxx_informer* const informer = new_informer(client, "kept", NULL);
  kubecxx_handler_options options = {.size = sizeof options};
  keeper k;
  recorder_init(&k.base);
  options.on_add = keep_object;
  options.user_data = &k;
  create_namespace(client, "kept");
  create_config_map(client, "kept", "a", "web");
  CHECK_OK(kubecxx_informer_add_handler(informer, &options, NULL));
  CHECK_OK(kubecxx_informer_start(informer));
  recorder_wait(&k.base, &k.base.adds, 1);
  kubecxx_informer_free(informer);
  kubecxx_client_free(client);
  CHECK(contains(kubecxx_object_json(k.kept), "\"name\":\"a\""));
  CHECK(kubecxx_object_json(k.kept).data == kubecxx_object_json(k.kept).data);
  kubecxx_object_free(k.kept);
}
