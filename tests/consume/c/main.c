/* SPDX-License-Identifier: Apache-2.0 */
#include <kube/c/kubecxx.h>

#include <stdio.h>

int main(void) {
  const char* const kubeconfig =
      "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:6443'}}]\n"
      "contexts: [{name: c, context: {cluster: c, user: '', namespace: shop}}]\n"
      "current-context: c\n";
  kubecxx_config* config;
  kubecxx_client* client;
  kubecxx_string server;
  if (kubecxx_config_parse(kubecxx_str(kubeconfig), NULL, &config) != KUBECXX_OK ||
      kubecxx_client_new(config, NULL, &client) != KUBECXX_OK) {
    const kubecxx_string message = kubecxx_error_message();
    fprintf(stderr, "%.*s\n", (int)message.size, message.data);
    return 1;
  }
  server = kubecxx_config_server(config);
  printf("a client of %.*s, made with kubecxx %s\n", (int)server.size, server.data,
         kubecxx_version());
  kubecxx_client_free(client);
  kubecxx_config_free(config);
  return 0;
}
