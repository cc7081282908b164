// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/api/resource_info.hpp>
#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/codec/json.hpp>
#include <kube/config/config.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>
#include <kube/testkit/faults.hpp>
#include <kube/testkit/refusals.hpp>
#include <kube/testkit/request_log.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit {

/// A user that authenticates with a bearer token.
struct ServerUser {
  std::string name;
  std::vector<std::string> groups = {};
  /// If empty, a random token is generated.
  std::string token = {};
};

/// Configuration of an ApiServer. Every field has a default.
struct ApiServerOptions {
  /// The IP address to listen on.
  std::string listen = "127.0.0.1";
  /// 0 picks a free port.
  std::uint16_t port = 0;
  /// Serve HTTPS with a certificate generated at the start. Client certificates are accepted, too.
  bool tls = false;
  /// Offer HTTP/2 in addition to HTTP/1.1.
  bool http2 = true;
  /// Compress watches that begin with the current state, with each flush as a separate gzip member,
  /// as servers from 1.37 on do (WT-24). Go clients older than that receive such events late.
  bool compress_watches = false;
  /// The number of threads that serve connections.
  int threads = 2;
  /// Connections beyond this number get a 503 and are closed.
  std::size_t max_connections = 4096;
  /// The administrator's bearer token. If empty, a random token is generated.
  std::string token = {};
  /// Users other than the administrator.
  std::vector<ServerUser> users = {};
  /// Accept requests without credentials, as system:anonymous.
  bool allow_anonymous = true;
  /// Host names of the server besides localhost and its address. Web pages of these hosts may send
  /// requests to it. Requests for other names and from other web pages are refused (AU-7 to AU-9).
  std::vector<std::string> allow_hosts = {};
  /// Authorizer: returns the reason for a refusal (may be empty), or nullopt to allow the request.
  /// Not called for the administrator.
  std::function<std::optional<std::string>(const RequestInfo&)> deny = {};
  /// Enforce Roles, ClusterRoles and their bindings, as a real server does (RB-1). Requests are
  /// refused with 403 unless a binding allows them; the administrator may do everything. Creates
  /// the default cluster roles and bindings. `deny`, if it is set, is asked first.
  bool rbac = false;
  /// Fill in the rules of ClusterRoles with an aggregationRule, as the controller manager does; a
  /// bare API server does not (RB-29).
  bool aggregate_roles = false;
  /// Null means the system clock. Drives faults, watch timeouts, expiry and timestamps, but not
  /// socket timeouts.
  Clock* clock = nullptr;
  /// Receives the server's log lines.
  Logger logger = {};
  /// The same seed gives the same uids, generated names and faults. 0 picks a random seed.
  std::uint64_t seed = 0;
  /// The version that /version reports.
  std::string version = "v1.36.4";
  /// Watch history, for watches and lists at an old version: the maximum number of changes per
  /// resource.
  std::size_t history_size = 102400;
  /// The minimum time for which changes are kept in the history.
  std::chrono::seconds history_age = std::chrono::minutes{5};
  /// A watch with this many unread changes is ended.
  std::size_t watch_backlog = 20000;
  /// Delete dependents of deleted owners (DL-8). An API server without a controller manager does
  /// not.
  bool garbage_collection = true;
  /// Empty and finalize deleted namespaces (DL-10), and with cluster_objects fill new ones (BK-8). An
  /// API server without a controller manager does neither.
  bool namespace_controller = true;
  /// Create the objects of a new cluster, such as the Service default/kubernetes and the default
  /// roles. Give each namespace a service account and the CA certificate (BK-8), and each pod a
  /// token of its account (AD-6). Off by default, so that a test counts only objects it has
  /// created; `kubecxx serve` turns it on.
  bool cluster_objects = false;
  /// Refuse CEL expressions that this server cannot evaluate. Otherwise they are accepted with a
  /// warning (CE-5, CE-11).
  bool strict = false;
  /// Simulate the controllers of workloads, jobs, endpoints and volumes, the scheduler and the
  /// kubelets (SM-1 to SM-29).
  bool simulate = false;
  /// A SQLite file in which objects are persisted; empty keeps them in memory.
  std::filesystem::path data = {};
  /// The number of requests that the request log keeps.
  std::size_t request_log = 10000;
};

/// An in-process Kubernetes API server for tests: HTTP on a real socket, started in milliseconds,
/// with the semantics of docs/spec/apiserver.md. Faults, history and clock are under the test's
/// control.
///
///     kube::testkit::ApiServer server;
///     server.create(pod("default", "web-0"));
///     kube::Client client{server.config()};
///     server.faults().drop_watches_after(3).expire_history();
///
/// Thread safety: all methods, from any thread, except start(), stop() and restart(), which one
/// thread calls. The destructor closes all connections and joins all threads.
class ApiServer {
 public:
  /// Listens when the constructor returns. Throws kube::Error if the port or the data file cannot
  /// be used.
  explicit ApiServer(ApiServerOptions options = {});
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  /// Returns the base URL, such as "http://127.0.0.1:41234".
  [[nodiscard]] std::string url() const;
  /// Returns the port on which the server listens.
  [[nodiscard]] std::uint16_t port() const;
  /// Returns the certificate of the authority that signed the server's certificate; empty without
  /// TLS.
  [[nodiscard]] const std::string& ca_pem() const;
  /// Returns a client configuration for the administrator, without a client-side rate limit.
  [[nodiscard]] Config config() const;
  /// Returns a client configuration for `user`. A user of ApiServerOptions::users authenticates
  /// with its token, unless `groups` is given. Any other user gets a new client certificate or,
  /// without TLS, a new token.
  [[nodiscard]] Config config_for(std::string_view user,
                                  const std::vector<std::string>& groups = {}) const;
  /// Returns a client configuration with a token of a service account, which a pod of that account
  /// would use. Throws ApiError 404 if there is no such account.
  [[nodiscard]] Config config_for_account(std::string_view namespace_, std::string_view name) const;
  /// Returns the administrator's configuration as a kubeconfig file, for kubectl and other clients.
  [[nodiscard]] std::string kubeconfig() const;
  /// Does the same for a configuration from config_for() or config_for_account().
  [[nodiscard]] std::string kubeconfig(const Config& config) const;

  /// Stores an object, status included, without validation or admission. Fills in a missing uid,
  /// creationTimestamp and namespace. Replaces an object of the same name. Returns the stored
  /// object. Throws kube::Error.
  Ref<Value> create(const Value& object);
  /// Does the same with a typed object.
  template <typename T>
  requires requires { T::kube_resource; }
  Ref<T> create(const T& object) {
    return decode_json<T>(encode_json(*create_json(encode_json(object))));
  }
  /// Does the same with an object as JSON text.
  Ref<Value> create_json(std::string_view json);
  /// Stores all documents of a YAML text and the items of lists. `origin` names the text in error
  /// messages. Returns the number of objects.
  std::size_t load_yaml(std::string_view text, const std::string& origin = "YAML");
  /// Stores the objects of a YAML or JSON file, or of all such files below a folder, in the order
  /// of their names. CustomResourceDefinitions are stored first. Returns the number of objects.
  std::size_t load(const std::filesystem::path& path);

  /// Returns the current object, or null.
  [[nodiscard]] Ref<Value> find(const GroupResource& resource, std::string_view namespace_,
                                std::string_view name) const;
  /// Returns the current object as a T, or null.
  template <typename T>
  [[nodiscard]] Ref<T> find(std::string_view namespace_, std::string_view name) const {
    const Ref<Value> found = find(resource_of<T>(), namespace_, name);
    return found ? decode_json<T>(encode_json(*found)) : Ref<T>{};
  }
  /// Returns all objects of a resource, in one namespace or, if it is empty, in all.
  [[nodiscard]] std::vector<Ref<Value>> list(const GroupResource& resource,
                                             std::string_view namespace_ = {}) const;
  /// Returns the number of objects of type T, in one namespace or, if it is empty, in all.
  template <typename T>
  [[nodiscard]] std::size_t count(std::string_view namespace_ = {}) const {
    return list(resource_of<T>(), namespace_).size();
  }
  /// Deletes an object immediately, regardless of finalizers and grace period. Returns false if
  /// there was none.
  bool remove(const GroupResource& resource, std::string_view namespace_, std::string_view name);
  /// Does the same for an object of type T.
  template <typename T>
  bool remove(std::string_view namespace_, std::string_view name) {
    return remove(resource_of<T>(), namespace_, name);
  }
  /// Performs a request as the administrator, without a socket. Returns the response body. Throws
  /// ApiError.
  Ref<Value> request(std::string_view method, std::string_view target, const Value& body = {},
                     std::string_view content_type = "application/json");

  /// Waits until `condition` is true. It is evaluated after each write, and every few milliseconds.
  /// Returns false after `limit` of real time.
  bool wait_for(const std::function<bool()>& condition,
                std::chrono::milliseconds limit = std::chrono::seconds{10}) const;
  /// Waits until garbage collection and the other controllers are idle. Returns false after
  /// `limit`.
  bool settle(std::chrono::milliseconds limit = std::chrono::seconds{10});

  /// Returns the interface for fault injection.
  [[nodiscard]] Faults& faults();
  /// Returns the log of received requests.
  [[nodiscard]] RequestLog& requests();

  /// Returns the resource version of the last write.
  [[nodiscard]] std::uint64_t revision() const;
  /// Gives the next write at least this resource version.
  void set_next_revision(std::uint64_t revision);
  /// Discards the watch history up to and including `revision`; 0 discards all of it. Triggers
  /// RV-9, PG-6 and WT-11.
  void compact(std::uint64_t revision = 0);
  /// Trims the history to the last `count` changes of each resource, once.
  void shrink_history(std::size_t count);
  /// Returns the number of open watches.
  [[nodiscard]] std::size_t watch_count() const;
  /// Returns the number of open connections.
  [[nodiscard]] std::size_t connection_count() const;
  /// Returns how many connections and requests the server has refused to protect itself.
  [[nodiscard]] Refusals refusals() const;
  /// Sends a bookmark to all watches that allow bookmarks.
  void send_bookmarks();
  /// Ends all watches as their timeout would.
  void end_watches();
  /// Makes a check of /readyz, /livez and /healthz fail or pass.
  void set_health(std::string_view check, bool passes);

  /// Stops listening but keeps the objects. With a grace period, requests and watches are ended
  /// gracefully (FC-2).
  void stop(std::chrono::milliseconds grace = std::chrono::milliseconds{0});
  /// Listens again, on the same port.
  void start();
  /// Whether restart() keeps the objects.
  enum class State { kKeep, kForget };
  /// Calls stop() and start(). The watch history is lost, as with a real server; kForget drops the
  /// objects, too.
  void restart(State state = State::kKeep);

 private:
  template <typename T>
  static GroupResource resource_of() {
    return {std::string{T::kube_resource.group}, std::string{T::kube_resource.plural}};
  }

  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube::testkit
