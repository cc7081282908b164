/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the server. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void requests_create_read_change_and_delete_objects(void);
void requests_report_what_the_server_says(void);
void requests_end_with_a_timeout_or_a_cancel(void);
void requests_report_malformed_json(void);

/* CA-5 */
void requests_create_read_change_and_delete_objects(void) {
  kubecxx_client* const client = new_client();
  const kubecxx_resource maps = config_maps("shop");
  kubecxx_object* object;
  kubecxx_object* changed;
  kubecxx_write_options options = {.size = sizeof options};
  kubecxx_delete_options delete_options = {.size = sizeof delete_options};
  create_namespace(client, "shop");
  create_config_map(client, "shop", "settings", "web");

  CHECK_OK(kubecxx_client_get(client, &maps, kubecxx_str("settings"), NULL, &object));
  CHECK(equals(kubecxx_object_name(object), "settings"));
  CHECK(equals(kubecxx_object_namespace(object), "shop"));
  CHECK(kubecxx_object_resource_version(object).size > 0);
  CHECK(contains(kubecxx_object_json(object), "\"data\":{\"key\":\"value\"}"));

  CHECK_OK(kubecxx_client_update(client, &maps, kubecxx_object_json(object), NULL, &changed));
  kubecxx_object_free(changed);
  CHECK_OK(kubecxx_client_patch(
      client, &maps, kubecxx_str("settings"), KUBECXX_PATCH_JSON,
      kubecxx_str("[{\"op\":\"replace\",\"path\":\"/data/key\",\"value\":\"patched\"}]"), NULL,
      &changed));
  CHECK(contains(kubecxx_object_json(changed), "patched"));
  kubecxx_object_free(changed);

  options.field_manager = kubecxx_str("c-test");
  options.force = 1;
  CHECK_OK(kubecxx_client_apply(
      client, &maps,
      kubecxx_str("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                  "\"settings\"},\"data\":{\"key\":\"applied\"}}"),
      &options, &changed));
  CHECK(contains(kubecxx_object_json(changed), "applied"));
  kubecxx_object_free(changed);

  delete_options.dry_run = 1;
  CHECK_OK(kubecxx_client_delete(client, &maps, kubecxx_str("settings"), &delete_options));
  CHECK_OK(kubecxx_client_get(client, &maps, kubecxx_str("settings"), NULL, NULL));
  CHECK_OK(kubecxx_client_delete(client, &maps, kubecxx_str("settings"), NULL));
  CHECK_CODE(KUBECXX_ERROR_NOT_FOUND,
             kubecxx_client_get(client, &maps, kubecxx_str("settings"), NULL, &changed));

  kubecxx_client_free(client); /* objects stay */
  CHECK(contains(kubecxx_object_json(object), "settings"));
  kubecxx_object_free(object);
}

/* CA-3 */
void requests_report_what_the_server_says(void) {
  kubecxx_client* const client = new_client();
  const kubecxx_resource maps = config_maps("default");
  kubecxx_resource nameless = {.size = sizeof nameless};
  kubecxx_object* object;
  kubecxx_write_options options = {.size = sizeof options};
  char stale[4096];

  CHECK_CODE(KUBECXX_ERROR_NOT_FOUND,
             kubecxx_client_get(client, &maps, kubecxx_str("missing"), NULL, &object));
  CHECK(object == NULL);
  CHECK(kubecxx_error_http_status() == 404 && equals(kubecxx_error_reason(), "NotFound"));
  CHECK(contains(kubecxx_error_message(), "missing"));

  create_config_map(client, "default", "twice", "web");
  CHECK_OK(kubecxx_client_get(client, &maps, kubecxx_str("twice"), NULL, &object));
  CHECK(kubecxx_error_http_status() == 0 && kubecxx_error_reason().size == 0);
  CHECK_CODE(KUBECXX_ERROR_ALREADY_EXISTS,
             kubecxx_client_create(
                 client, &maps,
                 kubecxx_str("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                             "\"twice\"}}"),
                 NULL, NULL));
  CHECK(kubecxx_error_http_status() == 409);

  CHECK(kubecxx_object_json(object).size < sizeof stale);
  memcpy(stale, kubecxx_object_json(object).data, kubecxx_object_json(object).size);
  stale[kubecxx_object_json(object).size] = '\0';
  touch_config_map(client, "default", "twice", "newer");
  CHECK_CODE(KUBECXX_ERROR_CONFLICT,
             kubecxx_client_update(client, &maps, kubecxx_str(stale), NULL, NULL));
  kubecxx_object_free(object);

  CHECK_CODE(KUBECXX_ERROR_INVALID_ARGUMENT,
             kubecxx_client_get(client, &nameless, kubecxx_str("x"), NULL, &object));
  CHECK_CODE(KUBECXX_ERROR_INVALID_ARGUMENT,
             kubecxx_client_get(client, &maps, kubecxx_str(""), NULL, &object));
  CHECK_CODE(
      KUBECXX_ERROR_INVALID_ARGUMENT,
      kubecxx_client_patch(client, &maps, kubecxx_str("twice"), 77, kubecxx_str("{}"), NULL, NULL));
  options.subresource = kubecxx_str("scale");
  options.field_manager = kubecxx_str("c-test");
  CHECK_CODE(KUBECXX_ERROR_INVALID_ARGUMENT,
             kubecxx_client_apply(client, &maps, kubecxx_str("{}"), &options, NULL));
  kubecxx_client_free(client);
}

/* CA-3 */
void requests_report_malformed_json(void) {
  kubecxx_client* const client = new_client();
  const kubecxx_resource maps = config_maps("default");
  CHECK_CODE(KUBECXX_ERROR_CODEC,
             kubecxx_client_create(client, &maps, kubecxx_str("{\"a\":"), NULL, NULL));
  CHECK_CODE(KUBECXX_ERROR_INVALID_ARGUMENT,
             kubecxx_client_create(client, &maps, kubecxx_str("[]"), NULL, NULL));
  CHECK_CODE(KUBECXX_ERROR_CODEC,
             kubecxx_client_create(client, &maps, kubecxx_str(""), NULL, NULL));
  kubecxx_client_free(client);
}

static void* cancel_soon(void* cancel) {
  CHECK_OK(kubecxx_cancel_request(cancel));
  return NULL;
}

/* CA-5: a server that accepts connections and never answers. */
void requests_end_with_a_timeout_or_a_cancel(void) {
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address;
  socklen_t size = sizeof address;
  char kubeconfig[512];
  kubecxx_config* config;
  kubecxx_client* client;
  kubecxx_cancel* cancel;
  const kubecxx_resource maps = config_maps("default");
  kubecxx_get_options options = {.size = sizeof options};
  pthread_t thread;

  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(bind(server, (struct sockaddr*)&address, sizeof address) == 0 && listen(server, 8) == 0);
  CHECK(getsockname(server, (struct sockaddr*)&address, &size) == 0);
  snprintf(kubeconfig, sizeof kubeconfig,
           "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:%d'}}]\ncontexts: [{name: c, "
           "context: {cluster: c, "
           "user: ''}}]\ncurrent-context: c\n",
           ntohs(address.sin_port));
  CHECK_OK(kubecxx_config_parse(kubecxx_str(kubeconfig), NULL, &config));
  CHECK_OK(kubecxx_client_new(config, NULL, &client));

  options.timeout_ms = 50;
  CHECK_CODE(KUBECXX_ERROR_TIMEOUT,
             kubecxx_client_get(client, &maps, kubecxx_str("x"), &options, NULL));

  CHECK_OK(kubecxx_cancel_new(&cancel));
  options.timeout_ms = 0;
  options.cancel = cancel;
  CHECK(pthread_create(&thread, NULL, cancel_soon, cancel) == 0);
  CHECK_CODE(KUBECXX_ERROR_CANCELED,
             kubecxx_client_get(client, &maps, kubecxx_str("x"), &options, NULL));
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_CODE(KUBECXX_ERROR_CANCELED,
             kubecxx_client_get(client, &maps, kubecxx_str("x"), &options, NULL));
  kubecxx_cancel_free(cancel);
  kubecxx_client_free(client);

  close(server);
  CHECK_OK(kubecxx_client_new(config, NULL, &client));
  options.cancel = NULL;
  CHECK_CODE(KUBECXX_ERROR_TRANSPORT, kubecxx_client_delete(client, &maps, kubecxx_str("x"), NULL));
  kubecxx_client_free(client);
  kubecxx_config_free(config);
}
