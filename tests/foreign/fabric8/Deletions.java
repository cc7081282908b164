// SPDX-License-Identifier: Apache-2.0

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.ConfigMapList;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Finalizers and propagation. The collector of garbage is part of kubecxx, and not of a server without controllers. */
final class Deletions {
  private final NonNamespaceOperation<ConfigMap, ConfigMapList, Resource<ConfigMap>> maps;

  Deletions(KubernetesClient client, String namespace) {
    maps = client.configMaps().inNamespace(namespace);
  }

  void add(Checks checks) {
    checks.add("deletion waits for finalizers", this::finalizers);
    checks.add("preconditions of a deletion", this::preconditions);
    checks.add("background deletion", () -> background(checks));
    checks.add("foreground deletion", () -> foreground(checks));
    checks.add("orphans", () -> orphan(checks));
  }

  private void finalizers() {
    maps.resource(new ConfigMapBuilder().withNewMetadata().withName("held").withFinalizers("example.test/hold")
        .endMetadata().build()).create();
    maps.withName("held").delete();
    Checks.that(maps.withName("held").get().isMarkedForDeletion(), "not marked");
    maps.withName("held").edit(map -> {
      map.getMetadata().setFinalizers(List.of());
      return map;
    });
    maps.withName("held").waitUntilCondition(map -> map == null, 10, TimeUnit.SECONDS);
  }

  private void preconditions() throws Exception {
    ConfigMap made = maps.resource(Writes.configMap("guarded", Map.of())).create();
    maps.resource(new ConfigMapBuilder(made).addToData("a", "1").build()).update();
    Checks.refused(409, "Conflict", () -> maps.resource(made).lockResourceVersion().delete());
    maps.withName("guarded").delete();
  }

  /** Makes an owner and a dependent. */
  private void family(String name) {
    ConfigMap owner = maps.resource(Writes.configMap(name, Map.of())).create();
    maps.resource(new ConfigMapBuilder().withNewMetadata().withName(name + "-child")
        .withOwnerReferences(new OwnerReferenceBuilder().withApiVersion("v1").withKind("ConfigMap").withName(name)
            .withUid(owner.getMetadata().getUid()).withBlockOwnerDeletion(true).build())
        .endMetadata().build()).create();
  }

  private boolean exists(String name) {
    return maps.withName(name).get() != null;
  }

  private void background(Checks checks) throws Exception {
    family("background");
    maps.withName("background").withPropagationPolicy(DeletionPropagation.BACKGROUND).delete();
    Checks.that(!exists("background"), "the owner is there");
    if (checks.simulated) Checks.eventually(() -> !exists("background-child"));
    // The real server has no collector.
    checks.differs(exists("background-child"), true, false);
  }

  private void foreground(Checks checks) throws Exception {
    family("foreground");
    maps.withName("foreground").withPropagationPolicy(DeletionPropagation.FOREGROUND).delete();
    if (checks.simulated) Checks.eventually(() -> !exists("foreground"));
    // The real server has no collector.
    checks.differs(exists("foreground"), true, false);
    checks.differs(exists("foreground-child"), true, false);
    if (!checks.simulated) {
      Checks.equal(maps.withName("foreground").get().getMetadata().getFinalizers(), List.of("foregroundDeletion"));
    }
  }

  private void orphan(Checks checks) throws Exception {
    family("orphan");
    maps.withName("orphan").withPropagationPolicy(DeletionPropagation.ORPHAN).delete();
    if (checks.simulated) Checks.eventually(() -> !exists("orphan"));
    // The real server has no collector.
    checks.differs(exists("orphan"), true, false);
    checks.differs(maps.withName("orphan-child").get().getMetadata().getOwnerReferences().size(), 1, 0);
  }
}
