// SPDX-License-Identifier: Apache-2.0
// Faults in the in-process API server; its clients are exempt.
#include "server_scenarios.hpp"

#include "cluster.hpp"

#include <kube/api/errors.hpp>
#include <kube/transport/error.hpp>

#include <fmt/format.h>

#include <filesystem>

namespace kube::torture {

namespace {

/// Writes of all kinds while an informer that is exempt from faults watches.
class ServerWrites : public Scenario {
 public:
  explicit ServerWrites(bool persistent) : persistent_(persistent) {
    std::string name = std::filesystem::temp_directory_path() / "kubecxx-torture-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw Violation{"cannot create a temporary folder"};
    folder_ = name;
  }
  ~ServerWrites() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::vector<FaultKind> kinds() const override {
    std::vector<FaultKind> all{FaultKind::kAllocation, FaultKind::kSend, FaultKind::kReceive,
                               FaultKind::kEpollWait,  FaultKind::kOpen, FaultKind::kThread};
    if (persistent_) all.push_back(FaultKind::kDisk);
    return all;
  }
  void prepare() override {
    for (const auto& file : std::filesystem::directory_iterator{folder_}) {
      std::filesystem::remove_all(file);
    }
  }
  void run() override {
    testkit::ApiServerOptions options{.request_log = 0};
    options.threads = 1;
    options.seed = 1;
    options.logger = log_;
    if (persistent_) options.data = folder_ / "data";
    std::optional<testkit::ApiServer> server;
    {
      const Subject subject;
      server.emplace(options);
    }
    const Client client{server->config(), {.clock = &clock_}};
    FactoryOptions factory_options;
    factory_options.namespace_ = "default";
    factory_options.clock = &clock_;
    SharedInformerFactory factory{client, std::move(factory_options)};
    auto informer = factory.core().v1().configmaps().informer();
    HandlerState state;
    (void)informer.add_event_handler(state.handler());
    factory.start();

    const auto maps = client.resource<ConfigMap>("default");
    std::uint64_t revision = server->revision();
    const auto attempt = [&](const std::function<void()>& write) {
      try {
        write();
      } catch (const ApiError& error) {
        if (!fault_struck() || std::string_view{error.what()}.empty())
          throw Violation{error.what()};
      } catch (const TransportError& error) {
        if (!fault_struck() || std::string_view{error.what()}.empty())
          throw Violation{error.what()};
      }
      if (server->revision() < revision) throw Violation{"the revision decreased"};
      revision = server->revision();
    };
    attempt([&] { (void)maps.create(config_map("a", "one")); });
    attempt([&] { (void)maps.create(config_map("b", "one")); });
    attempt([&] {
      if (const auto map = maps.find("a")) {
        ConfigMap changed = *map;
        changed.data["text"] = "two";
        (void)maps.update(changed);
      }
    });
    attempt([&] {
      if (maps.find("a")) (void)maps.patch("a", PatchType::kMerge, R"({"data":{"text":"three"}})");
    });
    attempt([&] { (void)maps.apply(config_map("c", "one"), {.field_manager = "torture"}); });
    attempt([&] {
      if (maps.find("b")) maps.delete_("b");
    });
    // Without faults, the server must work again after any failure.
    disarm();
    std::string complaint;
    eventually(
        "that the server takes writes again",
        [&] {
          try {
            (void)maps.create(config_map("last", "one"));
          } catch (const ApiError& error) {  // it may exist: the answer was lost
            complaint = error.what();
            return is_already_exists(error);
          } catch (const TransportError& error) {
            complaint = error.what();
            return false;
          }
          return true;
        },
        [&] { return complaint; });
    check(*server, informer, state);
  }

 private:
  static void check(const testkit::ApiServer& server,
                    const SharedIndexInformer<ConfigMap>& informer, const HandlerState& state) {
    std::map<std::string, std::string> objects;
    for (const Ref<Value>& object : server.list({"", "configmaps"}, "default")) {
      const auto& access = detail::kObjectAccess<Value>;
      objects[std::string{access.name(object.get())}] = access.resource_version(object.get());
    }
    std::string truth;
    for (const auto& [name, version] : objects) {
      truth += fmt::format("{}{}@{}", truth.empty() ? "" : " ", name, version);
    }
    eventually(
        "that a client knows what the server has", [&] { return state.text() == truth; },
        [&] {
          return fmt::format("\n  server {}\n  client {}\n  error {}", truth, state.text(),
                             informer.last_error());
        });
  }

  const bool persistent_;
  /// Has a name that is too long for the small-string buffer, so that copying it allocates.
  const Logger log_ =
      Logger{[](LogLevel, std::string_view, std::string_view) {}}.named("the server under torture");
  std::filesystem::path folder_;
  FastClock clock_;
};

}  // namespace

void add_server_scenarios(std::map<std::string, ScenarioEntry>& all) {
  all["server"] = {"the in-process server's own writes",
                   [] { return std::make_unique<ServerWrites>(false); }};
  all["server-data"] = {"the same, with objects that are kept in a file",
                        [] { return std::make_unique<ServerWrites>(true); }};
}

}  // namespace kube::torture
