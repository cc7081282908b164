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

/// Somebody the server knows by a bearer token.
struct ServerUser {
  std::string name;
  std::vector<std::string> groups = {};
  /// Empty makes one up.
  std::string token = {};
};

/// How a server is set up. Any field may be left out.
struct ApiServerOptions {
  std::string listen = "127.0.0.1";
  /// 0 takes any that is free.
  std::uint16_t port = 0;
  /// HTTPS with a certificate made at the start; clients may then show certificates, too.
  bool tls = false;
  /// HTTP/2 beside HTTP/1.1.
  bool http2 = true;
  /// Compress watches that begin with the present state, each flush a gzip member of its own, as servers from
  /// 1.37 on do (WT-24). Clients written in Go before that get such events late.
  bool compress_watches = false;
  /// Threads that serve connections.
  int threads = 2;
  /// Connections beyond this number get a 503 and are closed.
  std::size_t max_connections = 4096;
  /// The administrator's; empty makes one up.
  std::string token = {};
  std::vector<ServerUser> users = {};
  /// Whether requests without credentials are let in, as system:anonymous.
  bool allow_anonymous = true;
  /// Names by which clients ask for the server, beside localhost and its address; pages of these hosts may speak to it.
  /// Other names and other web pages are refused (AU-7 to AU-9).
  std::vector<std::string> allow_hosts = {};
  /// Refuses requests: returns the reason (which may be empty) or nothing to let them pass. Not asked about the
  /// administrator.
  std::function<std::optional<std::string>(const RequestInfo&)> deny = {};
  /// Null means the machine's. Faults, timeouts of watches, expiry and timestamps go by it; sockets do not.
  Clock* clock = nullptr;
  Logger logger = {};
  /// The same seed gives the same uids, generated names and faults. 0 takes a random one.
  std::uint64_t seed = 0;
  /// What /version says.
  std::string version = "v1.36.4";
  /// Most changes kept per resource, and how long at least, for watches and lists at an old version.
  std::size_t history_size = 102400;
  std::chrono::seconds history_age = std::chrono::minutes{5};
  /// A watch that has this many changes left unread is ended.
  std::size_t watch_backlog = 20000;
  /// Delete dependents of what is gone (DL-8), and empty and finish namespaces that are deleted (DL-10). A bare API
  /// server, without a controller manager beside it, does neither.
  bool garbage_collection = true;
  bool namespace_controller = true;
  /// Begin with what a cluster has before anybody creates something, such as the Service default/kubernetes and the
  /// default roles, and give each namespace its service account and certificate (BK-8), and each pod a token of its
  /// account (AD-6). Off, so that what a test counts is what it has created; `kubecxx serve` turns it on.
  bool cluster_objects = false;
  /// Refuse CEL expressions that this server cannot evaluate, which it otherwise accepts with a warning (CE-5, CE-11).
  bool strict = false;
  /// Play the controllers of workloads, jobs, endpoints and volumes, the scheduler and the kubelets (SM-1 to SM-29).
  bool simulate = false;
  /// A SQLite file in which the objects outlive the process; empty keeps them in memory.
  std::filesystem::path data = {};
  /// How many requests the log keeps.
  std::size_t request_log = 10000;
};

/// A Kubernetes API server in this process, for tests: real HTTP on a real socket, started in milliseconds, with
/// the semantics of docs/spec/apiserver.md, and everything under control.
///
///     kube::testkit::ApiServer server;
///     server.create(pod("default", "web-0"));
///     kube::Client client{server.config()};
///     server.faults().drop_watches_after(3).expire_history();
///
/// Thread safety: all methods, from any thread, except start(), stop() and restart(), which one thread calls.
/// The destructor breaks all connections; no thread and no socket is left.
class ApiServer {
 public:
  /// Serves when it returns. Throws kube::Error if the port or the data file cannot be used.
  explicit ApiServer(ApiServerOptions options = {});
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  /// "http://127.0.0.1:41234"
  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::uint16_t port() const;
  /// Of the authority that signed the server's certificate; empty without TLS.
  [[nodiscard]] const std::string& ca_pem() const;
  /// For the administrator, without a limit on the rate of requests.
  [[nodiscard]] Config config() const;
  /// For a user of the options, by token; with TLS for anybody, by a certificate made for the purpose. Throws
  /// std::invalid_argument if the user is not known and there is no TLS.
  [[nodiscard]] Config config_for(std::string_view user,
                                  const std::vector<std::string>& groups = {}) const;
  /// The administrator's configuration as a file for kubectl and others.
  [[nodiscard]] std::string kubeconfig() const;

  /// Stores an object as it is, status included: uid, creationTimestamp and namespace are filled in where they
  /// are missing, and an object of the same name is replaced. Returns what was stored. Throws kube::Error.
  Ref<Value> create(const Value& object);
  template <typename T>
  requires requires { T::kube_resource; }
  Ref<T> create(const T& object) {
    return decode_json<T>(encode_json(*create_json(encode_json(object))));
  }
  Ref<Value> create_json(std::string_view json);
  /// Stores all documents of a YAML text, lists taken apart. `origin` is for messages. Returns how many.
  std::size_t load_yaml(std::string_view text, const std::string& origin = "YAML");
  /// A YAML or JSON file, or all in a folder and below, by name; definitions of custom resources come first.
  std::size_t load(const std::filesystem::path& path);

  /// The object as it is now, or null.
  [[nodiscard]] Ref<Value> find(const GroupResource& resource, std::string_view namespace_,
                                std::string_view name) const;
  template <typename T>
  [[nodiscard]] Ref<T> find(std::string_view namespace_, std::string_view name) const {
    const Ref<Value> found = find(resource_of<T>(), namespace_, name);
    return found ? decode_json<T>(encode_json(*found)) : Ref<T>{};
  }
  /// All objects of a resource, of all namespaces if none is given.
  [[nodiscard]] std::vector<Ref<Value>> list(const GroupResource& resource,
                                             std::string_view namespace_ = {}) const;
  template <typename T>
  [[nodiscard]] std::size_t count(std::string_view namespace_ = {}) const {
    return list(resource_of<T>(), namespace_).size();
  }
  /// Removes an object without asking anybody: finalizers and grace do not count. False if there was none.
  bool remove(const GroupResource& resource, std::string_view namespace_, std::string_view name);
  template <typename T>
  bool remove(std::string_view namespace_, std::string_view name) {
    return remove(resource_of<T>(), namespace_, name);
  }
  /// A request of the administrator that takes no socket. Throws ApiError.
  Ref<Value> request(std::string_view method, std::string_view target, const Value& body = {},
                     std::string_view content_type = "application/json");

  /// Waits until `condition`, which is asked again and again, is true. False if `limit` of real time passes
  /// before.
  bool wait_for(const std::function<bool()>& condition,
                std::chrono::milliseconds limit = std::chrono::seconds{10}) const;
  /// Waits until garbage collection and the other controllers have nothing left to do.
  bool settle(std::chrono::milliseconds limit = std::chrono::seconds{10});

  [[nodiscard]] Faults& faults();
  [[nodiscard]] RequestLog& requests();

  /// The version of the last write.
  [[nodiscard]] std::uint64_t revision() const;
  /// Makes the next write get at least this version.
  void set_next_revision(std::uint64_t revision);
  /// Forgets history up to and including `revision`, 0 being all of it: RV-9, PG-6 and WT-11 happen.
  void compact(std::uint64_t revision = 0);
  /// Keeps only the last `count` changes of each resource, once.
  void shrink_history(std::size_t count);
  [[nodiscard]] std::size_t watch_count() const;
  [[nodiscard]] std::size_t connection_count() const;
  /// What the server has refused to protect itself.
  [[nodiscard]] Refusals refusals() const;
  /// Sends a bookmark to all watches that allow them.
  void send_bookmarks();
  /// Ends all watches as a timeout would.
  void end_watches();
  /// Makes a check of /readyz, /livez and /healthz fail or pass again.
  void set_health(std::string_view check, bool passes);

  /// Ends the service but keeps the objects. With a grace, requests and watches are ended properly (FC-2).
  void stop(std::chrono::milliseconds grace = std::chrono::milliseconds{0});
  /// Serves again, on the same port.
  void start();
  enum class State { kKeep, kForget };
  /// stop() and start(). History is lost, as with a real server; kForget loses the objects, too.
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
