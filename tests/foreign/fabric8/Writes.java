// SPDX-License-Identifier: Apache-2.0

import static java.util.stream.Collectors.toList;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.ConfigMapList;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.FieldValidateable;
import io.fabric8.kubernetes.client.dsl.MixedOperation;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Verbs on single objects and lists. */
final class Writes {
  private final KubernetesClient client;
  private final String namespace;
  private final NonNamespaceOperation<ConfigMap, ConfigMapList, Resource<ConfigMap>> maps;

  Writes(KubernetesClient client, String namespace) {
    this.client = client;
    this.namespace = namespace;
    maps = client.configMaps().inNamespace(namespace);
  }

  static ConfigMap configMap(String name, Map<String, String> data) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).endMetadata().withData(data).build();
  }

  static Deployment deployment(String name, int replicas) {
    Map<String, String> labels = Map.of("app", name);
    return new DeploymentBuilder()
        .withNewMetadata().withName(name).endMetadata()
        .withNewSpec().withReplicas(replicas)
        .withNewSelector().withMatchLabels(labels).endSelector()
        .withNewTemplate()
        .withNewMetadata().withLabels(labels).endMetadata()
        .withNewSpec().addNewContainer().withName("web").withImage("nginx:1.29").endContainer().endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }

  void add(Checks checks) {
    checks.add("create, read, update, delete", this::createReadUpdateDelete);
    checks.add("edit sends a JSON patch", this::edit);
    checks.add("patches of three kinds", this::patches);
    checks.add("server-side apply with a conflict", this::apply);
    checks.add("apply again changes nothing", this::applyAgain);
    checks.add("dry run and strict fields", this::dryRun);
    checks.add("lists in pages and by selector", this::lists);
    checks.add("a manifest with several objects", this::manifest);
    checks.add("scale", this::scale);
    checks.add("secrets", this::secrets);
    checks.add("discovery", this::discovery);
  }

  private void createReadUpdateDelete() throws Exception {
    ConfigMap made = maps.resource(configMap("plain", Map.of("a", "1"))).create();
    Checks.that(made.getMetadata().getUid() != null, "no uid");
    Checks.refused(409, "AlreadyExists", () -> maps.resource(configMap("plain", Map.of())).create());
    ConfigMap read = maps.withName("plain").get();
    Checks.equal(read, made);
    read.setData(Map.of("a", "2"));
    ConfigMap updated = maps.resource(read).update();
    Checks.equal(updated.getData(), Map.of("a", "2"));
    Checks.refused(409, "Conflict", () -> maps.resource(made).lockResourceVersion().update());
    Checks.equal(maps.withName("plain").delete().size(), 1);
    Checks.equal(maps.withName("plain").get(), null);
    Checks.refused(422, "Invalid", () -> maps.resource(configMap("Not_A_Name", Map.of())).create());
    ConfigMap generated = maps.resource(new ConfigMapBuilder()
        .withNewMetadata().withGenerateName("made-").endMetadata().build()).create();
    Checks.that(generated.getMetadata().getName().startsWith("made-"), generated.getMetadata().getName());
    Checks.equal(maps.resource(configMap("either", Map.of())).createOr(r -> r.update()).getData(), null);
    Checks.equal(maps.resource(configMap("either", Map.of("b", "1"))).createOr(r -> r.update()).getData(),
        Map.of("b", "1"));
  }

  private void edit() {
    maps.resource(configMap("edited", Map.of("a", "1", "b", "2"))).create();
    ConfigMap edited = maps.withName("edited").edit(map ->
        new ConfigMapBuilder(map).removeFromData("a").addToData("c", "3").build());
    Checks.equal(edited.getData(), Map.of("b", "2", "c", "3"));
  }

  private void patches() throws Exception {
    client.apps().deployments().inNamespace(namespace).resource(deployment("patched", 0)).create();
    Resource<Deployment> patched = client.apps().deployments().inNamespace(namespace).withName("patched");
    Deployment strategic = patched.patch(PatchContext.of(PatchType.STRATEGIC_MERGE),
        "{spec: {template: {spec: {containers: [{name: side, image: 'side:1'}]}}}}");
    Checks.equal(strategic.getSpec().getTemplate().getSpec().getContainers().size(), 2);
    Deployment merged = patched.patch(PatchContext.of(PatchType.JSON_MERGE),
        "{metadata: {annotations: {note: x}}}");
    Checks.equal(merged.getMetadata().getAnnotations().get("note"), "x");
    Deployment replaced = patched.patch(PatchContext.of(PatchType.JSON),
        "[{\"op\": \"add\", \"path\": \"/spec/paused\", \"value\": true}]");
    Checks.equal(replaced.getSpec().getPaused(), true);
    Checks.refused(422, "Invalid", () -> patched.patch(PatchContext.of(PatchType.JSON),
        "[{\"op\": \"test\", \"path\": \"/spec/paused\", \"value\": false}]"));
    patched.delete();
  }

  private void apply() throws Exception {
    ConfigMap first = maps.resource(configMap("applied", Map.of("a", "1"))).fieldManager("one").serverSideApply();
    List<String> managers = first.getMetadata().getManagedFields().stream()
        .map(entry -> entry.getManager() + " " + entry.getOperation()).collect(toList());
    Checks.equal(managers, List.of("one Apply"));
    Checks.refused(409, "Conflict",
        () -> maps.resource(configMap("applied", Map.of("a", "2"))).fieldManager("two").serverSideApply());
    ConfigMap forced = maps.resource(configMap("applied", Map.of("a", "2"))).fieldManager("two").forceConflicts()
        .serverSideApply();
    Checks.equal(forced.getData(), Map.of("a", "2"));
    ConfigMap left = maps.resource(configMap("applied", Map.of())).fieldManager("two").serverSideApply();
    Checks.equal(left.getData(), null);
  }

  private void applyAgain() {
    Resource<Deployment> wanted = client.apps().deployments().inNamespace(namespace).resource(deployment("again", 0));
    Deployment first = wanted.serverSideApply();
    Checks.equal(first.getSpec().getRevisionHistoryLimit(), 10);
    // A controller of the simulation may write the status in between.
    client.apps().deployments().inNamespace(namespace).resource(first).waitUntilCondition(
        found -> found != null, 10, java.util.concurrent.TimeUnit.SECONDS);
    Deployment second = wanted.serverSideApply();
    Checks.equal(second.getMetadata().getGeneration(), first.getMetadata().getGeneration());
    List<ManagedFieldsEntry> entries = second.getMetadata().getManagedFields().stream()
        .filter(entry -> entry.getOperation().equals("Apply")).collect(toList());
    Checks.equal(entries, first.getMetadata().getManagedFields());
    wanted.delete();
  }

  private void dryRun() throws Exception {
    ConfigMap tried = maps.resource(configMap("tried", Map.of("a", "1"))).dryRun().create();
    Checks.that(tried.getMetadata().getUid() != null, "no uid");
    Checks.equal(maps.withName("tried").get(), null);
    GenericKubernetesResource unknown = client.getKubernetesSerialization().unmarshal(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: strict}, dta: {a: b}}", GenericKubernetesResource.class);
    MixedOperation<GenericKubernetesResource, ?, Resource<GenericKubernetesResource>> any =
        client.genericKubernetesResources("v1", "ConfigMap");
    Checks.refused(400, "BadRequest", () -> any.inNamespace(namespace).resource(unknown)
        .fieldValidation(FieldValidateable.Validation.STRICT).create());
    Checks.that(any.inNamespace(namespace).resource(unknown).create().get("dta") == null, "the field is kept");
  }

  private void lists() {
    for (int i = 0; i < 7; i++) {
      maps.resource(new ConfigMapBuilder().withNewMetadata().withName("page-" + i)
          .addToLabels("series", "page").addToLabels("odd", "" + (i % 2 == 1)).endMetadata().build()).create();
    }
    List<String> names = new ArrayList<>();
    List<Long> remaining = new ArrayList<>();
    String next = null;
    do {
      ConfigMapList page = maps.list(new ListOptionsBuilder().withLimit(3L).withContinue(next)
          .withFieldSelector("metadata.name!=kube-root-ca.crt").withLabelSelector("series=page").build());
      page.getItems().forEach(item -> names.add(item.getMetadata().getName()));
      remaining.add((long) page.getItems().size());
      next = page.getMetadata().getContinue();
    } while (next != null && !next.isEmpty());
    Checks.equal(names, List.of("page-0", "page-1", "page-2", "page-3", "page-4", "page-5", "page-6"));
    Checks.equal(remaining, List.of(3L, 3L, 1L));
    Checks.equal(maps.withLabel("odd", "true").list().getItems().size(), 3);
    Checks.equal(maps.withLabelIn("odd", "true", "false").withoutLabel("odd", "true").list().getItems().size(), 4);
    Checks.equal(maps.withField("metadata.name", "page-4").list().getItems().size(), 1);
    maps.withLabel("odd", "true").delete();
    Checks.equal(maps.withLabel("series", "page").list().getItems().size(), 4);
  }

  private void manifest() {
    String yaml = String.join("\n---\n",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: from-file}, data: {a: b}}",
        "{apiVersion: v1, kind: Service, metadata: {name: from-file}, spec: {ports: [{port: 80}]}}");
    var loaded = client.load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8))).inNamespace(namespace);
    List<HasMetadata> made = loaded.create();
    Checks.equal(made.stream().map(HasMetadata::getKind).collect(toList()), List.of("ConfigMap", "Service"));
    Checks.that(client.services().inNamespace(namespace).withName("from-file").get().getSpec().getClusterIP() != null,
        "no address");
    loaded.delete();
    Checks.equal(client.services().inNamespace(namespace).withName("from-file").get(), null);
  }

  private void scale() {
    var deployments = client.apps().deployments().inNamespace(namespace);
    deployments.resource(deployment("scaled", 0)).create();
    deployments.withName("scaled").scale(2, false);
    Checks.equal(deployments.withName("scaled").get().getSpec().getReplicas(), 2);
    Checks.equal(deployments.withName("scaled").scale().getSpec().getReplicas(), 2);
    Checks.equal(deployments.withName("scaled").scale().getStatus().getSelector(), "app=scaled");
    deployments.withName("scaled").delete();
  }

  private void secrets() throws Exception {
    var secrets = client.secrets().inNamespace(namespace);
    Secret made = secrets.resource(new SecretBuilder().withNewMetadata().withName("s").endMetadata()
        .withStringData(Map.of("p", "x")).withImmutable(true).build()).create();
    Checks.equal(made.getData(), Map.of("p", "eA=="));
    Checks.equal(made.getType(), "Opaque");
    Checks.refused(422, "Invalid", () -> secrets.resource(new SecretBuilder(made).withData(Map.of("p", "eQ=="))
        .build()).update());
  }

  private void discovery() {
    Checks.equal(client.getKubernetesVersion().getMajor(), "1");
    Checks.equal(client.getKubernetesVersion().getMinor(), "36");
    Checks.that(client.supports(Deployment.class), "no deployments");
    Checks.that(!client.supports("none.example.com/v1", "None"), "a kind that does not exist");
    Checks.that(client.getApiGroups().getGroups().stream().anyMatch(group -> group.getName().equals("batch")),
        "no group batch");
    Checks.that(client.getApiResources("apps/v1").getResources().stream()
        .anyMatch(resource -> resource.getName().equals("deployments/scale")), "no deployments/scale");
  }
}
