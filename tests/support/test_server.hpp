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

/// Returns whether tests run against a real control plane: KUBECXX_CLUSTER names the folder of one
/// that tests/cluster/cluster.sh has started.
[[nodiscard]] bool on_cluster();

/// Skip reason of tests that need features of the in-process server.
inline constexpr const char* kNeedsFaults = "needs faults inside of the server";

/// The API server of a test: the one of the testkit or, if on_cluster(), a real one.
///
/// A test works in its own namespace, space(), isolated from everything else in the cluster.
/// Operations that both servers support are members: `server.create(map)`. Operations that only the
/// in-process server supports, such as fault injection, use an arrow: `server->faults()`. A test
/// that needs them begins with a GTEST_SKIP with kNeedsFaults.
///
/// Clients connect to the real server through a proxy, so that connections can be broken; the
/// test's own changes bypass it.
///
/// The destructor deletes the objects of the test: its namespaces, and cluster-scoped objects with
/// space() in their names. Other objects are kept, such as definitions that several tests use.
/// Thread safety: as for testkit::ApiServer.
class TestServer {
 public:
  /// `options` apply to the in-process server only.
  explicit TestServer(testkit::ApiServerOptions options = {});
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  [[nodiscard]] bool is_real() const noexcept { return !in_process_.has_value(); }
  /// Throws std::logic_error if the server is a real one.
  testkit::ApiServer* operator->();

  [[nodiscard]] const std::string& space() const { return spaces_.front(); }
  /// Creates another namespace for this test.
  std::string add_space();

  /// The configuration of the administrator, without client-side rate limiting.
  [[nodiscard]] Config config() const;
  /// The configuration of a user with a token: "root" may do anything; "alice" may do nothing in
  /// space() unless allowed by allow_alice().
  [[nodiscard]] Config config_for(std::string_view user) const;
  /// Grants or revokes alice's permission to read config maps in space().
  void allow_alice(bool allowed);
  [[nodiscard]] std::uint16_t port() const;

  /// Stores an object, replacing one of the same name. Status is stored only by the in-process
  /// server.
  template <typename T>
  requires requires { T::kube_resource; }
  Ref<T> create(const T& object) {
    const Ref<Value> document = decode_json<Value>(encode_json(object));
    return decode_json<T>(
        encode_json(*store(resource_of<T>(), T::kube_resource.namespaced, *document)));
  }
  /// Creates all documents of a YAML text. After a custom resource definition, waits until the
  /// resource is served.
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
  /// Returns false if there was no such object.
  bool remove(const GroupVersionResource& resource, std::string_view space, std::string_view name);
  template <typename T>
  bool remove(std::string_view space, std::string_view name) {
    return remove(resource_of<T>(), space, name);
  }

  /// Polls `condition` until it is true.
  bool wait_for(const std::function<bool()>& condition,
                std::chrono::milliseconds limit = std::chrono::seconds{10}) const;

  /// Ends all watches: like a timeout or, with a real server, by breaking connections.
  void end_watches();
  void drop_connections();
  /// Stops all responses; connections appear alive.
  void go_silent();
  /// Makes the server unreachable until start().
  void stop();
  void start();
  /// Drops the history: watches can start only at the newest version.
  void forget_history();
  /// Restarts the server, which drops its history.
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
  /// Retries until `attempt` succeeds; rethrows the last error if it never does.
  void until_it_works(const std::function<void()>& attempt) const;

  std::optional<testkit::ApiServer> in_process_;
  std::filesystem::path cluster_;
  std::optional<FaultyProxy> proxy_;
  /// Bypasses the proxy.
  std::optional<Client> admin_;
  std::vector<std::string> spaces_;
  /// Cluster-scoped objects to delete in the destructor.
  std::vector<std::pair<GroupVersionResource, std::string>> elsewhere_;
  std::atomic<bool> alice_allowed_ = false;
};

}  // namespace kube::testing_support
