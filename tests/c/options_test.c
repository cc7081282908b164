/* SPDX-License-Identifier: Apache-2.0 */
/* Versions, configuration, options, errors. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <stddef.h>
#include <string.h>

void versions_are_those_of_the_header(void);
void configuration_comes_from_a_file_or_a_text(void);
void missing_configuration_is_an_error_with_a_message(void);
void options_of_an_older_header_work(void);
void options_without_a_size_are_refused(void);
void options_of_a_newer_header_work_while_new_members_are_zero(void);
void errors_are_kept_per_thread(void);
void null_handles_are_refused_and_freeing_null_is_allowed(void);

/* CA-5 */
void versions_are_those_of_the_header(void) {
  CHECK(kubecxx_abi_version() == KUBECXX_ABI_VERSION);
  CHECK(strchr(kubecxx_version(), '.') != NULL);
}

/* CA-5 */
void configuration_comes_from_a_file_or_a_text(void) {
  static char text[65536];
  FILE* const file = fopen(getenv("KUBECONFIG"), "r");
  kubecxx_config* from_environment = load_config();
  kubecxx_config* from_file;
  kubecxx_config* from_text;
  kubecxx_string string = {text, 0};

  CHECK(file != NULL);
  string.size = fread(text, 1, sizeof text, file);
  fclose(file);
  CHECK_OK(kubecxx_config_load(kubecxx_str(getenv("KUBECONFIG")), NULL, &from_file));
  CHECK_OK(kubecxx_config_parse(string, NULL, &from_text));

  CHECK(contains(kubecxx_config_server(from_environment), "127.0.0.1"));
  CHECK(contains(kubecxx_config_server(from_file), "127.0.0.1"));
  CHECK(contains(kubecxx_config_server(from_text), "127.0.0.1"));
  CHECK(equals(kubecxx_config_namespace(from_text), "default"));
  kubecxx_config_free(from_environment);
  kubecxx_config_free(from_file);
  kubecxx_config_free(from_text);
}

/* CA-3 */
void missing_configuration_is_an_error_with_a_message(void) {
  kubecxx_config* config = (kubecxx_config*)1;
  kubecxx_config_options options = {.size = sizeof options};

  CHECK_CODE(KUBECXX_ERROR_CONFIG,
             kubecxx_config_load(kubecxx_str("/no/such/file"), NULL, &config));
  CHECK(config == NULL);
  CHECK(contains(kubecxx_error_message(), "/no/such/file"));
  CHECK_CODE(KUBECXX_ERROR_CONFIG, kubecxx_config_in_cluster(NULL, &config));
  CHECK_CODE(KUBECXX_ERROR_CONFIG, kubecxx_config_parse(kubecxx_str("]["), NULL, &config));
  options.context = kubecxx_str("elsewhere");
  CHECK_CODE(KUBECXX_ERROR_CONFIG, kubecxx_config_load(kubecxx_str(""), &options, &config));
  CHECK(contains(kubecxx_error_message(), "elsewhere"));
}

/* CA-4: the memory after the members of an older header is garbage, because it does not belong to the struct. */
void options_of_an_older_header_work(void) {
  kubecxx_client* const client = new_client();
  const kubecxx_resource resource = config_maps("default");
  kubecxx_informer* informer;
  kubecxx_informer_options informer_options;
  kubecxx_handler* handler;
  kubecxx_handler_options handler_options;
  kubecxx_get_options get_options;
  recorder r;
  recorder_init(&r);

  memset(&informer_options, 0xa5, sizeof informer_options);
  informer_options.size = offsetof(kubecxx_informer_options, field_selector);
  informer_options.label_selector = kubecxx_str("app=web");
  CHECK_OK(kubecxx_informer_new(client, &resource, &informer_options, &informer));

  handler_options = recording_handler(&r);
  handler_options.size = offsetof(kubecxx_handler_options, name);
  memset((char*)&handler_options + handler_options.size, 0xa5,
         sizeof handler_options - handler_options.size);
  CHECK_OK(kubecxx_informer_add_handler(informer, &handler_options, &handler));

  memset(&get_options, 0xa5, sizeof get_options);
  get_options.size = sizeof get_options.size;
  CHECK_CODE(KUBECXX_ERROR_NOT_FOUND,
             kubecxx_client_get(client, &resource, kubecxx_str("missing"), &get_options, NULL));

  CHECK_OK(kubecxx_informer_start(informer));
  create_config_map(client, "default", "older", "web");
  recorder_wait(&r, &r.adds, 1);
  kubecxx_informer_free(informer);
  CHECK(r.releases == 1);
  kubecxx_handler_free(handler);
  kubecxx_client_free(client);
}

/* CA-4 */
void options_without_a_size_are_refused(void) {
  kubecxx_runtime* runtime;
  kubecxx_runtime_options options;
  memset(&options, 0, sizeof options);
  CHECK_CODE(KUBECXX_ERROR_INVALID_ARGUMENT, kubecxx_runtime_new(&options, &runtime));
  CHECK(contains(kubecxx_error_message(), "size"));
}

/* CA-4 */
void options_of_a_newer_header_work_while_new_members_are_zero(void) {
  struct {
    kubecxx_runtime_options known;
    int64_t added_later;
  } options;
  kubecxx_runtime* runtime;
  memset(&options, 0, sizeof options);
  options.known.size = sizeof options;
  CHECK_OK(kubecxx_runtime_new(&options.known, &runtime));
  kubecxx_runtime_free(runtime);

  options.added_later = 1;
  CHECK_CODE(KUBECXX_ERROR_INVALID_ARGUMENT, kubecxx_runtime_new(&options.known, &runtime));
  CHECK(contains(kubecxx_error_message(), "newer library"));
}

static void* succeed(void* unused) {
  kubecxx_cancel* cancel;
  CHECK(kubecxx_error_code() == KUBECXX_OK && kubecxx_error_message().size == 0);
  CHECK_OK(kubecxx_cancel_new(&cancel));
  kubecxx_cancel_free(cancel);
  return unused;
}

/* CA-3 */
void errors_are_kept_per_thread(void) {
  pthread_t thread;
  kubecxx_config* config;
  CHECK_CODE(KUBECXX_ERROR_CONFIG,
             kubecxx_config_load(kubecxx_str("/no/such/file"), NULL, &config));
  CHECK(pthread_create(&thread, NULL, succeed, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(kubecxx_error_code() == KUBECXX_ERROR_CONFIG);
  kubecxx_config_free(NULL); /* has no code, and leaves the last one */
  CHECK(contains(kubecxx_error_message(), "/no/such/file"));
  CHECK_OK(kubecxx_config_load(kubecxx_str(""), NULL, &config));
  kubecxx_config_free(config);
  CHECK(kubecxx_error_code() == KUBECXX_OK && kubecxx_error_message().size == 0);
}

/* CA-2, CA-3 */
void null_handles_are_refused_and_freeing_null_is_allowed(void) {
  const kubecxx_resource resource = config_maps("default");
  kubecxx_string broken = {NULL, 3};
  kubecxx_object* object = (kubecxx_object*)1;
  kubecxx_config* config;
  CHECK_CODE(KUBECXX_ERROR_INVALID_ARGUMENT,
             kubecxx_client_get(NULL, &resource, kubecxx_str("x"), NULL, &object));
  CHECK(object == NULL && contains(kubecxx_error_message(), "client"));
  CHECK_CODE(KUBECXX_ERROR_INVALID_ARGUMENT, kubecxx_informer_start(NULL));
  CHECK_CODE(KUBECXX_ERROR_INVALID_ARGUMENT, kubecxx_config_load(broken, NULL, &config));
  CHECK_CODE(KUBECXX_ERROR_INVALID_ARGUMENT, kubecxx_config_load(kubecxx_str(""), NULL, NULL));
  CHECK(kubecxx_object_json(NULL).size == 0 && kubecxx_list_size(NULL) == 0 &&
        kubecxx_list_item(NULL, 0) == NULL);
  CHECK(kubecxx_informer_has_synced(NULL) == 0 && kubecxx_election_is_leader(NULL) == 0);
  kubecxx_text_free(NULL);
  kubecxx_log_free(NULL);
  kubecxx_cancel_free(NULL);
  kubecxx_config_free(NULL);
  kubecxx_runtime_free(NULL);
  kubecxx_object_free(NULL);
  kubecxx_list_free(NULL);
  kubecxx_client_free(NULL);
  kubecxx_informer_free(NULL);
  kubecxx_handler_free(NULL);
  kubecxx_election_free(NULL);
}
