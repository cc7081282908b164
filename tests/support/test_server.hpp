// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/client/client.hpp>
#include <kube/testkit/api_server.hpp>

#include "support/faulty_proxy.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube::testing_support {

/// Whether tests run against a real control plane: KUBECXX_CLUSTER names the folder of one that
/// tests/cluster/cluster.sh has started.
[[nodiscard]] bool on_cluster();

/// Why a test is skipped that needs what only the server in this process can do.
inline constexpr const char* kNeedsFaults = "needs faults inside of the server";

/// The API server of a test: the one of the testkit or, on_cluster(), a real one.
///
/// A test works in a namespace of its own, space(), and sees nothing of what else there is in a cluster. What can be
/// done with both is a member, `server.create(map)`; what only the server in this process can do, such as faults
/// inside of it, is reached by an arrow, `server->faults()`, and a test that needs it begins with a GTEST_SKIP
/// that says kNeedsFaults.
/// The real server is behind a proxy, so that connections can be broken; changes do not take that way.
///
/// The destructor removes what the test has made: its namespaces, and of what has none whatever has space() in its
/// name. The rest stays, such as definitions that several tests use.
/// Thread safety: as for testkit::ApiServer.
class TestServer {
 public:
  /// The options are for the server in this process.
  explicit TestServer(testkit::ApiServerOptions options = {});
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  [[nodiscard]] bool is_real() const noexcept { return !in_process_.has_value(); }
  /// Throws std::logic_error if the server is a real one.
  testkit::ApiServer* operator->();

  [[nodiscard]] const std::string& space() const { return spaces_.front(); }
  /// Makes another namespace for this test.
  std::string add_space();

  /// Of the administrator, without a limit on the rate of requests.
  [[nodiscard]] Config config() const;
  /// Of somebody known by a token: "root", who may do anything, or "alice", who may do nothing in space() unless
  /// allow_alice() says so.
  [[nodiscard]] Config config_for(std::string_view user) const;
  /// Lets alice read config maps in space(), or not any more.
  void allow_alice(bool allowed);
  [[nodiscard]] std::uint16_t port() const;

  /// Stores an object, in the place of one of the same name if there is one. Status counts only in this process.
  template <typename T>
  requires requires { T::kube_resource; }
  Ref<T> create(const T& object) {
    const Ref<Value> document = decode_json<Value>(encode_json(object));
    return decode_json<T>(
        encode_json(*store(resource_of<T>(), T::kube_resource.namespaced, *document)));
  }
  /// All documents of a YAML text. After a definition of a custom resource, the resource is there.
  void load_yaml(std::string_view text);

  [[nodiscard]] Ref<Value> find(const GroupVersionResource& resource, std::string_view space,
                                std::string_view name) const;
  template <typename T>
  [[nodiscard]] Ref<T> find(std::string_view space, std::string_view name) const {
    const Ref<Value> found = find(resource_of<T>(), space, name);
    return found ? decode_json<T>(encode_json(*found)) : Ref<T>{};
  }
  [[nodiscard]] std::vector<Ref<Value>> list(const GroupVersionResource& resource,
                                             std::string_view space) const;
  template <typename T>
  [[nodiscard]] std::size_t count(std::string_view space) const {
    return list(resource_of<T>(), space).size();
  }
  /// False if there was none.
  bool remove(const GroupVersionResource& resource, std::string_view space, std::string_view name);
  template <typename T>
  bool remove(std::string_view space, std::string_view name) {
    return remove(resource_of<T>(), space, name);
  }

  /// Waits until `condition`, which is asked again and again, is true.
  bool wait_for(const std::function<bool()>& condition,
                std::chrono::milliseconds limit = std::chrono::seconds{10}) const;

  /// Ends all watches: as a timeout would or, with a real server, by breaking connections.
  void end_watches();
  void drop_connections();
  /// From here on nothing comes back, though connections seem to live.
  void go_silent();
  /// Nobody can reach the server, until start().
  void stop();
  void start();
  /// Watches cannot begin any more at a version that is not the newest.
  void forget_history();
  /// The server starts anew, and has forgotten its history.
  void restart();

 private:
  template <typename T>
  static GroupVersionResource resource_of() {
    const ResourceInfo& info = T::kube_resource;
    return {std::string{info.group}, std::string{info.version}, std::string{info.plural}};
  }
  Ref<Value> store(const GroupVersionResource& resource, bool namespaced, const Value& object);
  [[nodiscard]] Config from_kubeconfig(std::string_view context) const;
  void remove_space(const std::string& space) const;
  void run_cluster_script(const char* command) const;
  /// Tries again and again; throws what came last if it never works.
  void until_it_works(const std::function<void()>& attempt) const;

  std::optional<testkit::ApiServer> in_process_;
  std::filesystem::path cluster_;
  std::optional<FaultyProxy> proxy_;
  /// Past the proxy.
  std::optional<Client> admin_;
  std::vector<std::string> spaces_;
  /// To be removed in the end.
  std::vector<std::pair<GroupVersionResource, std::string>> elsewhere_;
  std::atomic<bool> alice_allowed_ = false;
};

}  // namespace kube::testing_support
