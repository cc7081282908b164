// SPDX-License-Identifier: Apache-2.0

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A definition, and its resources as a class and as a tree. Watches uses them after these checks. */
final class CustomResources {
  /** The definition, which Main deletes in the end. */
  static final String NAME = "lamps.fabric8.foreign.example.com";

  private static final String DEFINITION = """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: lamps.fabric8.foreign.example.com}
      spec:
        group: fabric8.foreign.example.com
        scope: Namespaced
        names: {plural: lamps, singular: lamp, kind: Lamp}
        versions:
        - name: v1
          served: true
          storage: true
          subresources: {status: {}, scale: {specReplicasPath: .spec.watts, statusReplicasPath: .status.count}}
          schema:
            openAPIV3Schema:
              type: object
              properties:
                spec:
                  type: object
                  properties:
                    watts: {type: integer, minimum: 1}
                    color: {type: string, default: white}
                  x-kubernetes-validations:
                  - {rule: 'self.watts < 100 || self.color != "red"', message: too hot}
                status:
                  type: object
                  x-kubernetes-preserve-unknown-fields: true
      """;

  private final KubernetesClient client;
  private final String namespace;
  private final NonNamespaceOperation<Lamp, KubernetesResourceList<Lamp>, Resource<Lamp>> lamps;

  CustomResources(KubernetesClient client, String namespace) {
    this.client = client;
    this.namespace = namespace;
    lamps = client.resources(Lamp.class).inNamespace(namespace);
  }

  void add(Checks checks) {
    checks.add("a definition is established", this::define);
    checks.add("custom resources as a class", this::typed);
    checks.add("status of a custom resource", this::status);
    checks.add("custom resources as a tree", this::untyped);
    checks.add("rules in CEL", this::rules);
  }

  private void define() throws Exception {
    CustomResourceDefinition definition =
        client.getKubernetesSerialization().unmarshal(DEFINITION, CustomResourceDefinition.class);
    var definitions = client.apiextensions().v1().customResourceDefinitions();
    definitions.resource(definition).create();
    definitions.resource(definition).waitUntilCondition(found -> found != null && found.getStatus() != null
        && found.getStatus().getConditions().stream()
            .anyMatch(one -> one.getType().equals("Established") && one.getStatus().equals("True")),
        30, TimeUnit.SECONDS);
    // A real server serves a kind a moment after it says so.
    Checks.eventually(() -> {
      try {
        lamps.list();
        return true;
      } catch (KubernetesClientException error) {
        return false;
      }
    });
  }

  private void typed() throws Exception {
    Lamp made = lamps.resource(Lamp.of("one", 40)).create();
    Checks.equal(made.getSpec().color, "white");
    Checks.equal(made.getMetadata().getGeneration(), 1L);
    Checks.refused(422, "Invalid", () -> lamps.resource(Lamp.of("none", 0)).create());
    Lamp changed = lamps.withName("one").edit(lamp -> {
      lamp.getSpec().watts = 60;
      return lamp;
    });
    Checks.equal(changed.getMetadata().getGeneration(), 2L);
    Lamp applied = lamps.resource(Lamp.of("two", 5)).fieldManager("test").serverSideApply();
    Checks.equal(applied.getSpec().watts, 5);
    Checks.equal(lamps.list().getItems().size(), 2);
  }

  private void status() {
    Lamp lit = lamps.withName("one").editStatus(lamp -> {
      lamp.setStatus(new Lamp.Status());
      lamp.getStatus().lit = true;
      lamp.getSpec().watts = 1;
      return lamp;
    });
    Checks.equal(lit.getStatus().lit, true);
    Checks.equal(lit.getSpec().watts, 60);
    Checks.equal(lit.getMetadata().getGeneration(), 2L);
    Checks.equal(lamps.withName("one").scale().getSpec().getReplicas(), 60);
  }

  private void untyped() {
    var any = client.genericKubernetesResources("fabric8.foreign.example.com/v1", "Lamp").inNamespace(namespace);
    GenericKubernetesResource one = any.withName("one").get();
    Checks.equal(one.get("spec", "watts"), 60);
    one.setAdditionalProperty("spec", Map.of("watts", 61, "unknown", true));
    GenericKubernetesResource updated = any.resource(one).update();
    Checks.equal(updated.get("spec", "watts"), 61);
    Checks.equal(updated.get("spec", "unknown"), null);
  }

  private void rules() throws Exception {
    Lamp hot = Lamp.of("hot", 100);
    hot.getSpec().color = "red";
    try {
      lamps.resource(hot).create();
    } catch (KubernetesClientException error) {
      Checks.equal(error.getCode(), 422);
      Checks.equal(error.getStatus().getDetails().getCauses().get(0).getField(), "spec");
      Checks.that(error.getStatus().getMessage().endsWith(": too hot"), error.getStatus().getMessage());
      return;
    }
    throw new AssertionError("the rule was not evaluated");
  }
}
