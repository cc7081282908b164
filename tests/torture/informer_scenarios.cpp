// SPDX-License-Identifier: Apache-2.0
// Informers: the initial list, watches, relists, added and removed handlers, and callbacks.
#include "informer_scenarios.hpp"

#include "cluster.hpp"

#include <fmt/format.h>

namespace kube::torture {

namespace {

/// An informer with a handler, set up as programs do.
struct Running {
  Running(Client client, FactoryOptions options)
      : factory(std::move(client), std::move(options)), maps(factory.core().v1().configmaps()) {}

  HandlerState state;
  SharedInformerFactory factory;
  ResourceInformer<ConfigMap> maps;
};

/// Starts the informer inside a Subject scope; `then` is called once it runs.
class InformerScenario : public ClusterScenario {
 public:
  using ClusterScenario::ClusterScenario;

  void run() override {
    const Subject subject;
    Running running{make_client(), factory_options()};
    SharedIndexInformer<ConfigMap> informer = running.maps.informer();
    (void)informer.add_event_handler(running.state.handler());
    running.factory.start();
    check(informer, {&running.state});
    then(informer);
    check(informer, {&running.state});
  }

 protected:
  virtual void then(const SharedIndexInformer<ConfigMap>& informer) = 0;
};

class Sync final : public InformerScenario {
 public:
  using InformerScenario::InformerScenario;

 private:
  void then(const SharedIndexInformer<ConfigMap>&) override {}
};

class Watch final : public InformerScenario {
 public:
  using InformerScenario::InformerScenario;

 private:
  void then(const SharedIndexInformer<ConfigMap>& informer) override {
    put("map-0", "second");
    remove("map-1");
    put("map-9", "first");
    check(informer, {});
    put("map-1", "again");
    remove("map-9");
    put("map-0", "third");
  }
};

class Relist final : public InformerScenario {
 public:
  using InformerScenario::InformerScenario;

 private:
  void then(const SharedIndexInformer<ConfigMap>&) override {
    {
      const Immune immune;
      // Changes made without a watch are dropped from the history before the next watch, which
      // causes 410 and a relist.
      server.stop();
      put("map-0", "second");
      remove("map-1");
      put("map-9", "first");
      server.compact();
      server.start();
    }
    put("map-8", "first");
  }
};

class Handlers final : public ClusterScenario {
 public:
  using ClusterScenario::ClusterScenario;

  void run() override {
    const Subject subject;
    HandlerState late;
    Running running{make_client(), factory_options()};
    SharedIndexInformer<ConfigMap> informer = running.maps.informer();
    (void)informer.add_event_handler(running.state.handler());
    running.factory.start();
    check(informer, {&running.state});
    const HandlerRegistration registration = informer.add_event_handler(late.handler());
    put("map-0", "second");
    check(informer, {&running.state, &late});
    informer.remove_event_handler(registration, Removal::kDrainAndWait);
    remove("map-1");
    check(informer, {&running.state});
  }
};

/// Exercises every part of an informer that calls user code.
class Callbacks final : public ClusterScenario {
 public:
  using ClusterScenario::ClusterScenario;

  [[nodiscard]] std::vector<FaultKind> kinds() const override {
    return {FaultKind::kCallback, FaultKind::kAllocation};
  }

  void run() override {
    const Subject subject;
    FactoryOptions options = factory_options();
    options.on_state = [inner = options.on_state](std::string_view name,
                                                  const ReflectorEvent& event) {
      inner(name, event);
      callback_point();
    };
    options.on_error = [](const CacheError&) { callback_point(); };
    options.tweak_list_options = [](ListOptions&) { callback_point(); };
    TypeOptions<ConfigMap> own;
    own.transform = [](ConfigMap& map) {
      callback_point();
      map.data["seen"] = "yes";
    };
    own.indexers["text"] = [](const ConfigMap& map) -> std::vector<std::string> {
      callback_point();
      const auto found = map.data.find("text");
      return found == nullptr ? std::vector<std::string>{} : std::vector{found->str()};
    };
    Running running{make_client(), std::move(options)};
    running.factory.configure<ConfigMap>(std::move(own));
    SharedIndexInformer<ConfigMap> informer = running.maps.informer();
    (void)informer.add_event_handler(running.state.handler());
    (void)informer.add_event_handler(
        {.on_add = [](const ConfigMap&) { callback_point(); },
         .on_update = [](const ConfigMap&, const ConfigMap&) { callback_point(); },
         .on_delete = [](const Deleted<ConfigMap>&) { callback_point(); }},
        {.high_water = 1,
         .on_high_water = [](std::size_t) { callback_point(); },
         .on_error = [](const CacheError&) { callback_point(); }});
    running.factory.start();
    check(informer, {&running.state});
    put("map-0", "second");
    remove("map-1");
    put("map-9", "first");
    check(informer, {&running.state});
  }
};

}  // namespace

void add_informer_scenarios(std::map<std::string, ScenarioEntry>& all) {
  const testkit::ApiServerOptions tls{.tls = true};
  all["sync"] = {"an informer's first list, over HTTP/1.1",
                 [] { return std::make_unique<Sync>(); }};
  all["sync-tls"] = {"an informer's first list, over TLS and HTTP/2",
                     [tls] { return std::make_unique<Sync>(tls); }};
  all["watch"] = {"objects come, change and go while an informer watches",
                  [] { return std::make_unique<Watch>(); }};
  all["watch-tls"] = {"the same over TLS and HTTP/2",
                      [tls] { return std::make_unique<Watch>(tls); }};
  all["relist"] = {"the server forgets its history while the informer is away",
                   [] { return std::make_unique<Relist>(); }};
  all["handlers"] = {"handlers are added to a running informer, and removed",
                     [] { return std::make_unique<Handlers>(); }};
  all["callbacks"] = {"transforms, index functions, handlers and hooks throw",
                      [] { return std::make_unique<Callbacks>(); }};
}

}  // namespace kube::torture
