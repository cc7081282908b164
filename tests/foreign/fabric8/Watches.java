// SPDX-License-Identifier: Apache-2.0

import static java.util.stream.Collectors.toList;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.ConfigMapList;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElector;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Watches, informers and leader election, over WebSocket or HTTP: `kind` is part of the names. */
final class Watches {
  private final KubernetesClient client;
  private final String namespace;
  private final String kind;
  private final NonNamespaceOperation<ConfigMap, ConfigMapList, Resource<ConfigMap>> maps;

  Watches(KubernetesClient client, String namespace, String kind) {
    this.client = client;
    this.namespace = namespace;
    this.kind = kind;
    maps = client.configMaps().inNamespace(namespace);
  }

  /** Records the events of a handler as "add web-0". */
  private static final class Recorder<T extends HasMetadata> implements ResourceEventHandler<T> {
    final BlockingQueue<String> events = new LinkedBlockingQueue<>();

    @Override public void onAdd(T object) {
      events.add("add " + object.getMetadata().getName());
    }

    @Override public void onUpdate(T before, T after) {
      events.add("update " + after.getMetadata().getName());
    }

    @Override public void onDelete(T object, boolean isUnknown) {
      events.add("delete " + object.getMetadata().getName());
    }

    List<String> next(int count) throws InterruptedException {
      List<String> taken = new ArrayList<>();
      while (taken.size() < count) taken.add(events.take());
      return taken;
    }
  }

  private ConfigMap labelled(String name) {
    return new ConfigMapBuilder().withNewMetadata().withName(kind + "-" + name).addToLabels("watch", kind)
        .endMetadata().addToData("v", "1").build();
  }

  void add(Checks checks) {
    checks.add("a watch sees each change (" + kind + ")", this::watch);
    checks.add("a watch of one object ends (" + kind + ")", this::watchOne);
    checks.add("an informer keeps up (" + kind + ")", this::informer);
    checks.add("an informer of custom resources (" + kind + ")", this::customInformer);
    checks.add("wait for a condition (" + kind + ")", this::waitForCondition);
    checks.add("leader election (" + kind + ")", this::leaderElection);
  }

  private void watch() throws Exception {
    BlockingQueue<String> events = new LinkedBlockingQueue<>();
    CompletableFuture<WatcherException> closed = new CompletableFuture<>();
    String since = maps.list().getMetadata().getResourceVersion();
    try (Watch ignored = maps.withLabel("watch", kind).withResourceVersion(since).watch(new Watcher<ConfigMap>() {
      @Override public void eventReceived(Action action, ConfigMap object) {
        if (action != Action.BOOKMARK) events.add(action + " " + object.getData());
      }

      @Override public void onClose(WatcherException cause) {
        closed.complete(cause);
      }
    })) {
      maps.resource(labelled("seen")).create();
      maps.withName(kind + "-seen").edit(map -> new ConfigMapBuilder(map).addToData("v", "2").build());
      // An object that leaves the selector is deleted for the watch.
      maps.withName(kind + "-seen").edit(map ->
          new ConfigMapBuilder(map).editMetadata().removeFromLabels("watch").endMetadata().build());
      List<String> seen = new ArrayList<>();
      while (seen.size() < 3) seen.add(events.take());
      Checks.equal(seen, List.of("ADDED {v=1}", "MODIFIED {v=2}", "DELETED {v=2}"));
    }
    Checks.that(!closed.isDone() || closed.get() == null, "the watch failed");
    maps.withName(kind + "-seen").delete();
  }

  private void watchOne() throws Exception {
    maps.resource(labelled("single")).create();
    BlockingQueue<String> events = new LinkedBlockingQueue<>();
    try (Watch ignored = maps.withName(kind + "-single").watch(new Watcher<ConfigMap>() {
      @Override public void eventReceived(Action action, ConfigMap object) {
        events.add(action + " " + object.getMetadata().getName());
      }

      @Override public void onClose(WatcherException cause) {}
    })) {
      Checks.equal(events.take(), "ADDED " + kind + "-single");
      maps.resource(labelled("other")).create();
      maps.withName(kind + "-single").delete();
      Checks.equal(events.take(), "DELETED " + kind + "-single");
    }
    maps.withName(kind + "-other").delete();
  }

  private void informer() throws Exception {
    maps.resource(labelled("before")).create();
    Recorder<ConfigMap> recorder = new Recorder<>();
    try (SharedIndexInformer<ConfigMap> informer = maps.withLabel("watch", kind).withLimit(1L).runnableInformer(0)) {
      informer.addIndexers(Map.of("value", map -> List.of(map.getData().get("v"))));
      informer.addEventHandler(recorder);
      informer.start().toCompletableFuture().get(30, TimeUnit.SECONDS);
      Checks.equal(recorder.next(1), List.of("add " + kind + "-before"));
      for (int i = 0; i < 20; i++) maps.resource(labelled("many-" + i)).create();
      Checks.equal(recorder.next(20).size(), 20);
      maps.withName(kind + "-before").edit(map -> new ConfigMapBuilder(map).addToData("v", "2").build());
      Checks.equal(recorder.next(1), List.of("update " + kind + "-before"));
      Checks.equal(informer.getIndexer().byIndex("value", "2").stream()
          .map(map -> map.getMetadata().getName()).collect(toList()), List.of(kind + "-before"));
      maps.withLabel("watch", kind).delete();
      Checks.equal(recorder.next(21).stream().filter(event -> event.startsWith("delete ")).count(), 21L);
      Checks.equal(informer.getStore().list(), List.of());
      Checks.that(informer.isWatching(), "the informer does not watch");
    }
  }

  private void customInformer() throws Exception {
    var lamps = client.resources(Lamp.class).inNamespace(namespace);
    lamps.resource(Lamp.of(kind + "-lamp", 10)).create();
    Recorder<Lamp> recorder = new Recorder<>();
    try (SharedIndexInformer<Lamp> informer = lamps.withField("metadata.name", kind + "-lamp").inform(recorder)) {
      Checks.equal(recorder.next(1), List.of("add " + kind + "-lamp"));
      lamps.withName(kind + "-lamp").edit(lamp -> {
        lamp.getSpec().watts = 11;
        return lamp;
      });
      lamps.withName(kind + "-lamp").delete();
      Checks.equal(recorder.next(2), List.of("update " + kind + "-lamp", "delete " + kind + "-lamp"));
      Checks.that(informer.hasSynced(), "not synced");
    }
  }

  private void waitForCondition() throws Exception {
    CompletableFuture<List<ConfigMap>> found =
        maps.withLabel("watch", kind).informOnCondition(list -> list.size() == 2);
    maps.resource(labelled("first")).create();
    maps.resource(labelled("second")).create();
    Checks.equal(found.get(30, TimeUnit.SECONDS).size(), 2);
    CompletableFuture<ConfigMap> ready = CompletableFuture.supplyAsync(() -> maps.withName(kind + "-first")
        .waitUntilCondition(map -> map != null && "go".equals(map.getData().get("v")), 30, TimeUnit.SECONDS));
    maps.withName(kind + "-first").edit(map -> new ConfigMapBuilder(map).addToData("v", "go").build());
    Checks.equal(ready.get(30, TimeUnit.SECONDS).getData().get("v"), "go");
    maps.withLabel("watch", kind).delete();
  }

  private LeaderElector candidate(String name, Runnable leads, Runnable stops) {
    return client.leaderElector().withConfig(new LeaderElectionConfigBuilder()
        .withName("test").withReleaseOnCancel(true)
        .withLock(new LeaseLock(namespace, "lease-" + kind, name))
        .withLeaseDuration(Duration.ofSeconds(15)).withRenewDeadline(Duration.ofSeconds(10))
        .withRetryPeriod(Duration.ofMillis(200))
        .withLeaderCallbacks(new LeaderCallbacks(leads, stops, leader -> {}))
        .build()).build();
  }

  private void leaderElection() throws Exception {
    CompletableFuture<Void> firstLeads = new CompletableFuture<>();
    CompletableFuture<Void> firstStops = new CompletableFuture<>();
    CompletableFuture<Void> secondLeads = new CompletableFuture<>();
    CompletableFuture<?> first =
        candidate("first", () -> firstLeads.complete(null), () -> firstStops.complete(null)).start();
    firstLeads.get(30, TimeUnit.SECONDS);
    CompletableFuture<?> second = candidate("second", () -> secondLeads.complete(null), () -> {}).start();
    var leases = client.leases().inNamespace(namespace).withName("lease-" + kind);
    Checks.equal(leases.get().getSpec().getHolderIdentity(), "first");
    Checks.that(!secondLeads.isDone(), "two leaders");
    first.cancel(true);
    firstStops.get(30, TimeUnit.SECONDS);
    secondLeads.get(30, TimeUnit.SECONDS);
    Checks.equal(leases.get().getSpec().getHolderIdentity(), "second");
    second.cancel(true);
  }
}
