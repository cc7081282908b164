// SPDX-License-Identifier: Apache-2.0
// Tries fabric8's kubernetes-client against the server of the kubeconfig that KUBECONFIG names. With the argument
// "simulated" the server is kubecxx with a simulated cluster; otherwise it is a real one without controllers.

import io.fabric8.kubernetes.api.model.NamedContext;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;

public final class Main {
  public static void main(String[] arguments) throws Exception {
    boolean simulated = arguments.length > 0 && arguments[0].equals("simulated");
    String namespace = "fabric8-" + ProcessHandle.current().pid();
    int failures = 0;
    try (KubernetesClient client = connect(namespace, false);
        KubernetesClient plain = connect(namespace, true)) {
      client.namespaces()
          .resource(new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build())
          .create();
      Checks checks = new Checks(simulated);
      new Writes(client, namespace).add(checks);
      new Deletions(client, namespace).add(checks);
      new CustomResources(client, namespace).add(checks);
      // Watches over WebSocket, which is the default, and over chunked HTTP.
      new Watches(client, namespace, "websocket").add(checks);
      new Watches(plain, namespace, "http").add(checks);
      new Workloads(client, namespace).add(checks);
      failures = checks.run();
      client.apiextensions().v1().customResourceDefinitions().withName(CustomResources.NAME).delete();
      client.namespaces().withName(namespace).delete();
    }
    System.out.println(failures == 0 ? "all checks passed" : failures + " checks failed");
    System.exit(failures == 0 ? 0 : 1);
  }

  /** Uses the token of the context "root" if there is one: fabric8 does not read an EC key without Bouncy Castle. */
  private static KubernetesClient connect(String namespace, boolean onlyHttpWatches) {
    Config found = Config.autoConfigure(null);
    for (NamedContext context : found.getContexts()) {
      if (context.getName().equals("root")) found = Config.autoConfigure("root");
    }
    Config config = new ConfigBuilder(found).withNamespace(namespace).withOnlyHttpWatches(onlyHttpWatches)
        .withRequestRetryBackoffLimit(2)  // An eviction that a budget refuses is not tried for long.
        .build();
    return new KubernetesClientBuilder().withConfig(config).build();
  }
}
