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

/// Who makes a request.
struct User {
  std::string name;
  std::string uid = {};
  std::vector<std::string> groups = {};
  /// Further attributes of the user, by key in lower case.
  std::map<std::string, std::vector<std::string>> extra = {};
};

/// What a user wants to do, as authorization sees it.
struct AccessRequest {
  User user;
  /// get, list, watch, create, update, patch, delete, deletecollection, impersonate...; for other paths the
  /// method in lower case.
  std::string verb;
  /// Empty fields of what is not about a resource: then only `path` counts.
  std::string group;
  std::string version;
  std::string resource;
  std::string subresource;
  std::string namespace_;
  std::string name;
  std::string path;

  [[nodiscard]] bool is_resource() const noexcept { return !resource.empty(); }
};

struct AccessDecision {
  bool allowed = true;
  /// Why not; may be empty.
  std::string reason = {};
};

/// One object as it is kept, for persistence and for hooks.
struct ObjectState {
  std::string group;
  std::string resource;  ///< plural
  std::string namespace_;
  std::string name;
  std::uint64_t revision = 0;
  /// The whole object with kind and apiVersion.
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
  /// The object as it is stored, for hooks and journals; valid only while the call lasts.
  const StoredObject* object = nullptr;
  /// The object as JSON, made when asked for: the new state, or the last one of a deleted object.
  std::function<std::string()> json;
};

/// How the engine works. Any field may be left out.
struct EngineOptions {
  /// Null means the machine's.
  Clock* clock = nullptr;
  Logger logger = {};
  /// Bearer tokens.
  std::map<std::string, User, std::less<>> tokens = {};
  /// Whether a certificate that the front has verified tells the user.
  bool client_certificates = true;
  /// Whether requests without credentials are let in as system:anonymous.
  bool allow_anonymous = true;
  /// Which names the server answers to and which web pages may speak to it; without it, any.
  std::optional<OriginPolicy> origins = std::nullopt;
  /// Decides what users may do; without it everything is allowed.
  std::function<AccessDecision(const AccessRequest&)> authorize = {};
  /// Seeds uids, generated names and the like; the same seed gives the same ones. 0 takes a random seed.
  std::uint64_t seed = 0;
  /// What /version says.
  std::string version = "v1.36.4";
  /// Most changes kept per resource for watches and old lists, and how long they are kept at least.
  std::size_t history_size = 102400;
  std::chrono::seconds history_age = std::chrono::minutes{5};
  /// A watch that has this many changes left unread is ended.
  std::size_t watch_backlog = 20000;
  /// Time after which events (of the API) disappear.
  std::chrono::seconds event_ttl = std::chrono::hours{1};
  /// Delete dependents of what is gone, orphan or wait for them as the deletion asks.
  bool garbage_collection = false;
  /// Empty namespaces that are being deleted and finish them.
  bool namespace_controller = true;
  /// Begin with the objects that every cluster has, give each namespace its own (BK-8), and each pod a token of its
  /// account (AD-6).
  bool cluster_objects = false;
  /// The certificate of the server's authority, for namespaces; empty without TLS.
  std::string ca_pem = {};
  /// Requests that may be worked on at once (FC-1).
  std::size_t max_reads_in_flight = 400;
  std::size_t max_writes_in_flight = 200;
  /// Refuse CEL expressions that cannot be evaluated (CE-5) in place of a warning.
  bool strict = false;
  /// Keep metadata.managedFields.
  bool managed_fields = true;
  /// A write-ahead log: called once per write in the order of revisions, before anybody can see it. It runs
  /// inside the store's critical section: it must be quick and must not call the engine. If it throws, the
  /// write fails.
  std::function<void(const Change&)> journal = {};
};

/// The in-process API server without its sockets: the store, the REST semantics and the few controllers that
/// make them complete.
///
/// Thread safety: all methods, from any thread. handle() may block shortly (up to three seconds if a request
/// asks for a version that is still to come); it never throws. Streams of responses must be destroyed before
/// the engine.
class Engine final : public RequestHandler {
 public:
  explicit Engine(EngineOptions options = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine() override;

  ServerResponse handle(const ServerRequest& request) override;
  /// The same, as a user that is known already; authorization is not asked.
  ServerResponse handle_as(const User& user, const ServerRequest& request);

  /// The user that a token of a service account names (AU-10); nothing if the server would refuse it.
  [[nodiscard]] std::optional<User> account_of(std::string_view token) const;

  /// Stores an object, a Value or JSON text with kind and apiVersion, as it is: no admission, status included. uid,
  /// creationTimestamp and namespace are filled in where they are missing; an object of the same name is
  /// replaced, and a missing namespace is made. Returns what was stored. Throws kube::Error if it is of no
  /// known kind or malformed.
  Ref<Value> seed(const Value& object);
  Ref<Value> seed(std::string_view json);
  Ref<Value> seed(const std::string& json) { return seed(std::string_view{json}); }
  Ref<Value> seed(const char* json) { return seed(std::string_view{json}); }
  /// The object as it is now, or null.
  [[nodiscard]] Ref<Value> find(const GroupResource& resource, std::string_view namespace_,
                                std::string_view name) const;
  /// All objects of a resource, of all namespaces if `namespace_` is empty.
  [[nodiscard]] std::vector<Ref<Value>> list(const GroupResource& resource,
                                             std::string_view namespace_ = {}) const;
  /// The same objects in their stored form, which takes no conversion.
  [[nodiscard]] StoredObject find_stored(const GroupResource& resource, std::string_view namespace_,
                                         std::string_view name) const;
  [[nodiscard]] std::vector<StoredObject> list_stored(const GroupResource& resource,
                                                      std::string_view namespace_ = {}) const;
  /// Removes an object without asking anybody: finalizers and grace do not count. False if there was none.
  bool remove(const GroupResource& resource, std::string_view namespace_, std::string_view name);
  /// A request by the administrator, for controllers in the process. Throws ApiError on a failure.
  Ref<Value> request(std::string_view method, std::string_view target, const Value& body = {},
                     std::string_view content_type = "application/json");
  /// The same with JSON text in and out. `agent` is the user agent, which names the manager of the fields.
  std::string request_json(std::string_view method, std::string_view target, std::string body,
                           std::string_view content_type = "application/json",
                           std::string_view agent = "kubecxx");

  /// Calls `react` for every write of `resource` from now on, in order, on a thread of the engine and outside
  /// its locks; it may call the engine. Ends when the returned token is destroyed, which waits for a call
  /// that is running (unless it happens inside that call).
  [[nodiscard]] std::shared_ptr<void> on_change(const GroupResource& resource,
                                                std::function<void(const Change&)> react);
  /// Waits until all controllers have seen and finished with everything written so far. False if that takes
  /// longer than `limit` of real time.
  bool settle(std::chrono::milliseconds limit = std::chrono::seconds{10});

  /// The version of the last write.
  [[nodiscard]] std::uint64_t revision() const;
  /// Makes the next write get at least this version.
  void set_next_revision(std::uint64_t revision);
  /// Forgets all history up to and including `revision`; 0 means all of it.
  void compact(std::uint64_t revision = 0);
  /// Keeps only the last `count` changes of each resource, once.
  void shrink_history(std::size_t count);
  /// Watches that are running.
  [[nodiscard]] std::size_t watch_count() const;
  /// Sends a bookmark to all watches that allow them.
  void send_bookmarks();
  /// Ends all watches (of the resource, if given) as a timeout would.
  void end_watches();
  void end_watches(const GroupResource& resource);
  /// From now on requests are refused with 429 as during shutdown, and watches end.
  void shut_down();
  /// Makes `check` of /readyz, /livez and /healthz fail or pass again.
  void set_health(std::string_view check, bool passes);

  /// Everything that is stored, in the order of revisions.
  [[nodiscard]] std::vector<ObjectState> export_objects() const;
  /// Replaces all content by `objects` (as export_objects gave them) and continues after `revision`. Running
  /// watches end, and there is no history, as after a restart. Throws kube::Error on what cannot be decoded.
  void import_objects(const std::vector<ObjectState>& objects, std::uint64_t revision);
  /// Back to the state after construction, except for the revision, which goes on.
  void reset();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace kube::testkit::detail
