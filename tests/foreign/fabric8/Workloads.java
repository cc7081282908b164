// SPDX-License-Identifier: Apache-2.0

import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.authentication.SelfSubjectReview;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Pods, and what needs a cluster behind the server: the simulation has one. */
final class Workloads {
  private final KubernetesClient client;
  private final String namespace;

  Workloads(KubernetesClient client, String namespace) {
    this.client = client;
    this.namespace = namespace;
  }

  void add(Checks checks) {
    checks.add("logs of a pod", () -> logs(checks));
    checks.add("token of a service account", this::token);
    if (!checks.simulated) return;
    checks.add("a deployment gets ready and rolls out", this::rollout);
    checks.add("eviction respects a budget", this::evict);
    checks.add("a job completes", this::job);
  }

  private void logs(Checks checks) {
    var pods = client.pods().inNamespace(namespace);
    pods.resource(new PodBuilder().withNewMetadata().withName("talks").endMetadata()
        .withNewSpec().addNewContainer().withName("c").withImage("busybox:1.36").endContainer().endSpec()
        .build()).create();
    if (checks.simulated) pods.withName("talks").waitUntilReady(30, TimeUnit.SECONDS);
    // The control has no node that could run a pod.
    checks.differs(pods.withName("talks").get().getStatus().getPhase(), "Pending", "Running");
    Checks.equal(pods.withName("talks").tailingLines(5).getLog(), "");
    pods.withName("talks").withGracePeriod(0).delete();
  }

  private void token() {
    client.serviceAccounts().inNamespace(namespace)
        .resource(new ServiceAccountBuilder().withNewMetadata().withName("robot").endMetadata().build()).create();
    String token = client.serviceAccounts().inNamespace(namespace).withName("robot")
        .tokenRequest(new TokenRequestBuilder().withNewSpec().withExpirationSeconds(600L).endSpec().build())
        .getStatus().getToken();
    Config config = new ConfigBuilder(client.getConfiguration()).withOauthToken(token).withUsername(null)
        .withPassword(null).withClientCertData(null).withClientKeyData(null).withClientCertFile(null)
        .withClientKeyFile(null).withOauthTokenProvider(null).build();
    config.setAutoOAuthToken(null);
    try (KubernetesClient robot = new KubernetesClientBuilder().withConfig(config).build()) {
      SelfSubjectReview review = robot.resource(new SelfSubjectReview()).create();
      Checks.equal(review.getStatus().getUserInfo().getUsername(),
          "system:serviceaccount:" + namespace + ":robot");
    }
  }

  private List<Pod> pods(String app) {
    return client.pods().inNamespace(namespace).withLabel("app", app).list().getItems();
  }

  private void rollout() throws Exception {
    var deployments = client.apps().deployments().inNamespace(namespace);
    deployments.resource(Writes.deployment("rolled", 2)).create();
    deployments.withName("rolled").waitUntilReady(30, TimeUnit.SECONDS);
    Checks.equal(pods("rolled").size(), 2);
    deployments.withName("rolled").rolling().updateImage(Map.of("web", "nginx:1.30"));
    Checks.eventually(() -> pods("rolled").size() == 2 && pods("rolled").stream().allMatch(
        pod -> pod.getSpec().getContainers().get(0).getImage().equals("nginx:1.30")));
    deployments.withName("rolled").rolling().undo();
    Checks.eventually(() -> pods("rolled").size() == 2 && pods("rolled").stream().allMatch(
        pod -> pod.getSpec().getContainers().get(0).getImage().equals("nginx:1.29")));
    deployments.withName("rolled").delete();
    Checks.eventually(() -> pods("rolled").isEmpty());
  }

  private void evict() throws Exception {
    var deployments = client.apps().deployments().inNamespace(namespace);
    deployments.resource(Writes.deployment("guarded", 2)).create();
    var budgets = client.policy().v1().podDisruptionBudget().inNamespace(namespace);
    budgets.resource(new PodDisruptionBudgetBuilder().withNewMetadata().withName("careful").endMetadata()
        .withNewSpec().withMinAvailable(new IntOrString(2)).withNewSelector().addToMatchLabels("app", "guarded")
        .endSelector().endSpec().build()).create();
    budgets.withName("careful").waitUntilCondition(
        budget -> budget.getStatus() != null && Integer.valueOf(2).equals(budget.getStatus().getCurrentHealthy()),
        30, TimeUnit.SECONDS);
    String pod = pods("guarded").get(0).getMetadata().getName();
    Checks.that(!client.pods().inNamespace(namespace).withName(pod).evict(), "evicted against the budget");
    deployments.withName("guarded").scale(3, false);
    budgets.withName("careful").waitUntilCondition(
        budget -> Integer.valueOf(1).equals(budget.getStatus().getDisruptionsAllowed()), 30, TimeUnit.SECONDS);
    Checks.that(client.pods().inNamespace(namespace).withName(pod).evict(), "not evicted");
    Checks.eventually(() -> client.pods().inNamespace(namespace).withName(pod).get() == null);
    budgets.withName("careful").delete();
    deployments.withName("guarded").delete();
  }

  private void job() {
    var jobs = client.batch().v1().jobs().inNamespace(namespace);
    jobs.resource(new JobBuilder().withNewMetadata().withName("once").endMetadata()
        .withNewSpec().withNewTemplate().withNewSpec().withRestartPolicy("Never")
        .addNewContainer().withName("c").withImage("busybox:1.36").endContainer()
        .endSpec().endTemplate().endSpec().build()).create();
    jobs.withName("once").waitUntilCondition(
        job -> job.getStatus() != null && Integer.valueOf(1).equals(job.getStatus().getSucceeded()),
        30, TimeUnit.SECONDS);
    Checks.equal(jobs.withName("once").getLog(), "");
  }
}
