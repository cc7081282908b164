// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/http/message.hpp"
#include "testkit/http/origin.hpp"
#include "testkit/store/stored_object.hpp"

namespace kube::testkit::detail {

/// An authenticated user.
struct User {
  std::string name;
  std::string uid = {};
  std::vector<std::string> groups = {};
  /// Additional attributes of the user; keys are in lower case.
  std::map<std::string, std::vector<std::string>> extra = {};
};

/// The attributes of a request, as seen by authorization.
struct AccessRequest {
  User user;
  /// get, list, watch, create, update, patch, delete, deletecollection, impersonate...; the method
  /// in lower case for non-resource paths.
  std::string verb;
  /// The following fields are empty for a non-resource request, which is identified by `path`.
  std::string group;
  std::string version;
  std::string resource;
  std::string subresource;
  std::string namespace_;
  std::string name;
  std::string path;

  [[nodiscard]] bool is_resource() const noexcept { return path.empty() || !resource.empty(); }
};

struct AccessDecision {
  bool allowed = true;
  /// The reason for a refusal or a permission; may be empty.
  std::string reason = {};
};

/// A stored object, for persistence and hooks.
struct ObjectState {
  std::string group;
  std::string resource;  ///< plural
  std::string namespace_;
  std::string name;
  std::uint64_t revision = 0;
  /// The whole object, with kind and apiVersion.
  std::string json;
};

/// A committed write.
struct Change {
  enum class Type { kAdded, kModified, kDeleted } type = Type::kAdded;
  std::string_view group;
  std::string_view resource;
  std::string_view namespace_;
  std::string_view name;
  std::uint64_t revision = 0;
  /// The stored object, for hooks and journals. Valid only during the call.
  const StoredObject* object = nullptr;
  /// Returns the object as JSON, encoded on demand: the new state, or the last state of a deleted
  /// object.
  std::function<std::string()> json;
};

/// Configuration of an Engine. Every field has a default.
struct EngineOptions {
  /// Null means the system clock.
  Clock* clock = nullptr;
  Logger logger = {};
  /// Users by bearer token.
  std::map<std::string, User, std::less<>> tokens = {};
  /// Accept verified client certificates as credentials.
  bool client_certificates = true;
  /// Accept requests without credentials, as system:anonymous.
  bool allow_anonymous = true;
  /// Allowed host names and origins; nullopt allows all.
  std::optional<OriginPolicy> origins = std::nullopt;
  /// Authorizer; if empty, everything is allowed.
  std::function<AccessDecision(const AccessRequest&)> authorize = {};
  /// Enforce roles and bindings (RB-1), in addition to `authorize`. Creates the default roles.
  bool rbac = false;
  /// Fill in the rules of ClusterRoles with an aggregationRule (RB-29).
  bool aggregate_roles = false;
  /// Seed of uids and generated names; the same seed gives the same sequence. 0 picks a random
  /// seed.
  std::uint64_t seed = 0;
  /// The version that /version reports.
  std::string version = "v1.36.4";
  /// Watch history, for watches and old lists: the maximum number of changes per resource, and the
  /// minimum time for which they are kept.
  std::size_t history_size = 102400;
  std::chrono::seconds history_age = std::chrono::minutes{5};
  /// A watch with this many unread changes is ended.
  std::size_t watch_backlog = 20000;
  /// The time after which Event objects are deleted.
  std::chrono::seconds event_ttl = std::chrono::hours{1};
  /// Delete, orphan or wait for dependents, as the propagation policy of the deletion demands.
  bool garbage_collection = false;
  /// Empty and finalize namespaces that are being deleted.
  bool namespace_controller = true;
  /// Create the objects of a new cluster and of each namespace (BK-8), and give each pod a token of
  /// its account (AD-6).
  bool cluster_objects = false;
  /// The CA certificate that namespaces get; empty without TLS.
  std::string ca_pem = {};
  /// The limits of concurrent requests (FC-1).
  std::size_t max_reads_in_flight = 400;
  std::size_t max_writes_in_flight = 200;
  /// Refuse CEL expressions that cannot be evaluated (CE-5), instead of a warning.
  bool strict = false;
  /// Maintain metadata.managedFields.
  bool managed_fields = true;
  /// Write-ahead log: called once per write, in the order of revisions, before the write is
  /// visible. Runs inside the store's critical section: it must be fast and must not call the
  /// engine. If it throws, the write fails.
  std::function<void(const Change&)> journal = {};
};

/// The in-process API server without sockets: the store, the REST semantics and the controllers
/// that belong to them.
///
/// Thread safety: all methods, from any thread. handle() may block briefly (up to three seconds if
/// a request names a future resource version) and never throws. Response streams must be destroyed
/// before the engine.
class Engine final : public RequestHandler {
 public:
  explicit Engine(EngineOptions options = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine() override;

  ServerResponse handle(const ServerRequest& request) override;
  /// Like handle(), for a user that is already authenticated. Skips authorization.
  ServerResponse handle_as(const User& user, const ServerRequest& request);

  /// Returns the user of a bearer token, which may be that of a service account (AU-10), or nullopt
  /// if the server would refuse the token.
  [[nodiscard]] std::optional<User> user_of_token(std::string_view token) const;
  /// Adds a user to those of EngineOptions::tokens.
  void add_user(std::string token, User user);

  /// Stores an object (a Value or JSON text with kind and apiVersion), status included, without
  /// validation or admission. Fills in a missing uid, creationTimestamp and namespace, and creates
  /// a missing Namespace object. Replaces an object of the same name. Returns the stored object.
  /// Throws kube::Error if the kind is unknown or the object malformed.
  Ref<Value> seed(const Value& object);
  Ref<Value> seed(std::string_view json);
  Ref<Value> seed(const std::string& json) { return seed(std::string_view{json}); }
  Ref<Value> seed(const char* json) { return seed(std::string_view{json}); }
  /// Returns the current object, or null.
  [[nodiscard]] Ref<Value> find(const GroupResource& resource, std::string_view namespace_,
                                std::string_view name) const;
  /// Returns all objects of a resource, in one namespace or, if `namespace_` is empty, in all.
  [[nodiscard]] std::vector<Ref<Value>> list(const GroupResource& resource,
                                             std::string_view namespace_ = {}) const;
  /// Return the same objects in stored form, without conversion.
  [[nodiscard]] StoredObject find_stored(const GroupResource& resource, std::string_view namespace_,
                                         std::string_view name) const;
  [[nodiscard]] std::vector<StoredObject> list_stored(const GroupResource& resource,
                                                      std::string_view namespace_ = {}) const;
  /// Deletes an object immediately, regardless of finalizers and grace period. Returns false if
  /// there was none.
  bool remove(const GroupResource& resource, std::string_view namespace_, std::string_view name);
  /// Performs a request as the administrator, for controllers in the process. Throws ApiError on
  /// failure.
  Ref<Value> request(std::string_view method, std::string_view target, const Value& body = {},
                     std::string_view content_type = "application/json");
  /// Does the same with JSON text. `agent` is the user agent, which is also the field manager.
  std::string request_json(std::string_view method, std::string_view target, std::string body,
                           std::string_view content_type = "application/json",
                           std::string_view agent = "kubecxx");

  /// Calls `react` for every future write of `resource`, in order, on a thread of the engine and
  /// without its locks held; it may call the engine. Destroying the returned token ends the
  /// subscription and waits for a running call, unless it is destroyed inside that call.
  [[nodiscard]] std::shared_ptr<void> on_change(const GroupResource& resource,
                                                std::function<void(const Change&)> react);
  /// Waits until all controllers have processed everything written so far. Returns false after
  /// `limit` of real time.
  bool settle(std::chrono::milliseconds limit = std::chrono::seconds{10});

  /// Returns the resource version of the last write.
  [[nodiscard]] std::uint64_t revision() const;
  /// Gives the next write at least this resource version.
  void set_next_revision(std::uint64_t revision);
  /// Discards the history up to and including `revision`; 0 discards all of it.
  void compact(std::uint64_t revision = 0);
  /// Trims the history to the last `count` changes of each resource, once.
  void shrink_history(std::size_t count);
  /// Returns the number of running watches.
  [[nodiscard]] std::size_t watch_count() const;
  /// Sends a bookmark to all watches that allow bookmarks.
  void send_bookmarks();
  /// End all watches (of the resource, if given) as their timeout would.
  void end_watches();
  void end_watches(const GroupResource& resource);
  /// Starts the shutdown: ends all watches, and refuses requests with 429.
  void shut_down();
  /// Makes `check` of /readyz, /livez and /healthz fail or pass.
  void set_health(std::string_view check, bool passes);

  /// Returns all stored objects, in the order of revisions.
  [[nodiscard]] std::vector<ObjectState> export_objects() const;
  /// Replaces the content by `objects` (from export_objects()) and continues after `revision`. Ends
  /// running watches and drops the history, as a restart does. Throws kube::Error if an object
  /// cannot be decoded.
  void import_objects(const std::vector<ObjectState>& objects, std::uint64_t revision);
  /// Restores the state after construction, except for the revision, which continues.
  void reset();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace kube::testkit::detail
