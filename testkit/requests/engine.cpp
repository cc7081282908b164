// SPDX-License-Identifier: Apache-2.0
#include "testkit/requests/engine.hpp"

#include <kube/api/errors.hpp>
#include <kube/base/error.hpp>
#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <utility>

#include "testkit/cluster/objects.hpp"
#include "testkit/cluster/roles.hpp"
#include "testkit/rbac/aggregation.hpp"
#include "testkit/requests/dispatcher.hpp"
#include "testkit/requests/failures.hpp"
#include "testkit/rest/metadata.hpp"
#include "testkit/values/value_text.hpp"

namespace kube::testkit::detail {

namespace {

const User& administrator() {
  static const User kUser{
      .name = "system:admin", .uid = {}, .groups = {"system:masters", "system:authenticated"}};
  return kUser;
}

}  // namespace

class Engine::State {
 public:
  explicit State(EngineOptions options)
      : services(std::move(options)),
        rest(services),
        controllers(services, rest),
        dispatcher(services, rest) {
    begin();
    if (fills_namespaces()) {
      fill_namespaces = controllers.on_change({"", "namespaces"}, [this](const Change& change) {
        if (change.type == Change::Type::kAdded) fill_namespace(change.name);
      });
    }
    if (services.options.aggregate_roles) {
      aggregation = controllers.on_change({kRbacGroup, "clusterroles"},
                                          [this](const Change&) { aggregate_roles(); });
    }
  }
  ~State() {
    services.stopping.request_stop();
    fill_namespaces.reset();
    aggregation.reset();
    controllers.stop();
  }

  /// Stores the initial objects (BK-1, BK-8).
  void begin() {
    const bool complete = services.options.cluster_objects;
    for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
      seed(Value::object({{"apiVersion", "v1"},
                          {"kind", "Namespace"},
                          {"metadata", Value::object({{"name", name}})}}));
      if (fills_namespaces()) fill_namespace(name);
    }
    if (complete) {
      for (const Value& object : cluster_objects(*services.catalog())) seed(object);
    }
    seed_default_roles();
  }

  /// Stores the default roles and bindings that are missing, as a server with RBAC does whenever it
  /// starts.
  void seed_default_roles() {
    if (!services.rbac) return;
    for (const Value& object : default_cluster_roles()) {
      if (!find_object(object)) seed(object);
    }
  }

  /// Applies the rules of aggregated roles (RB-29). Each write causes another call.
  void aggregate_roles() {
    for (const rbac::v1::ClusterRole& role : outdated_aggregations(services.store)) {
      ServerRequest request;
      request.method = "PATCH";
      request.target = fmt::format(
          "/apis/{}/v1/clusterroles/{}?fieldManager=clusterrole-aggregation-controller&force=true",
          kRbacGroup, role.metadata.name.view());
      request.headers = {{"Content-Type", "application/apply-patch+yaml"}};
      request.body = encode_json(role);
      dispatcher.handle(request, administrator());
    }
  }

  /// A controller gives each namespace its service account and certificates.
  [[nodiscard]] bool fills_namespaces() const {
    return services.options.cluster_objects && services.options.namespace_controller;
  }

  void fill_namespace(std::string_view name) {
    for (const Value& object : namespace_objects(name, services.options.ca_pem)) {
      if (find_object(object)) continue;
      seed(object);
    }
  }

  /// Returns the stored object of the same kind and name.
  [[nodiscard]] StoredObject find_object(const Value& object) const {
    const ResourcePtr resource = services.catalog()->find_kind(
        object.get_string("apiVersion").value_or(""), object.get_string("kind").value_or(""));
    return services.store.get(*resource->collection, key_of(metadata_text(object, "namespace"),
                                                            metadata_text(object, "name")));
  }

  Ref<Value> seed(const Value& given) {
    const auto text = [&](std::string_view member) {
      const Value& value = given[member];
      return value.is_string() ? value.as_string() : std::string_view{};
    };
    const ResourcePtr resource = services.catalog()->find_kind(text("apiVersion"), text("kind"));
    if (resource == nullptr) {
      throw Error(fmt::format("no resource of kind {} in {}", text("kind"), text("apiVersion")));
    }
    Value object = given;
    if (!std::as_const(object)["metadata"].is_object()) object["metadata"] = Value::object();
    if (resource->namespaced && metadata_text(object, "namespace").empty()) {
      object["metadata"]["namespace"] = "default";
    }
    if (metadata_text(object, "name").empty()) throw Error("the object has no name");
    const std::string namespace_ = metadata_text(object, "namespace");
    Collection& namespaces = services.store.collection({"", "namespaces"});
    if (resource->namespaced && !services.store.get(namespaces, namespace_)) {
      seed(Value::object({{"apiVersion", "v1"},
                          {"kind", "Namespace"},
                          {"metadata", Value::object({{"name", namespace_}})}}));
    }
    if (metadata_text(object, "uid").empty()) object["metadata"]["uid"] = services.ids.uuid();
    if (metadata_text(object, "creationTimestamp").empty()) {
      object["metadata"]["creationTimestamp"] = services.now_text();
    }
    if (resource->id() == "namespaces") {
      object["metadata"]["labels"]["kubernetes.io/metadata.name"] = metadata_text(object, "name");
      if (std::as_const(object)["status"].is_absent()) set_initial_state(*resource, object);
    }
    if (rules_of(*resource).has_generation &&
        std::as_const(object)["metadata"]["generation"].is_absent()) {
      object["metadata"]["generation"] = 1;
    }
    object["metadata"]["resourceVersion"] = std::to_string(services.store.revision() + 1);
    object = to_storage_form(*resource, std::move(object));
    const std::string key = key_of(namespace_, metadata_text(object, "name"));
    while (true) {
      const StoredObject current = services.store.get(*resource->collection, key);
      StoredObject stored = services.codec.from_value(*resource->storage_type, object);
      if (auto written = services.commit(*resource->collection, key, current, std::move(stored))) {
        return as_served(services.codec, *resource, *written).value();
      }
    }
  }

  /// Replaces all stored objects, as Engine::import_objects() does.
  void replace_objects(const std::vector<ObjectState>& objects, std::uint64_t revision) {
    std::map<GroupResource, const Type*> types;
    for (const ResourcePtr& resource : services.catalog()->all()) {
      if (resource->collection != nullptr && !resource->is_custom()) {
        types[resource->collection->resource()] = resource->storage_type;
      }
    }
    std::vector<std::pair<Collection*, std::pair<std::string, StoredObject>>> decoded;
    for (const ObjectState& state : objects) {
      const GroupResource id{state.group, state.resource};
      const auto type = types.find(id);
      StoredObject object = services.codec.with_revision(
          services.codec.from_json(type == types.end() ? type_of<Value>() : *type->second,
                                   state.json),
          state.revision);
      decoded.emplace_back(&services.store.collection(id),
                           std::pair{key_of(state.namespace_, state.name), std::move(object)});
      revision = std::max(revision, state.revision);
    }
    services.store.replace_all(std::move(decoded), revision);
    services.event_expiry.clear();
    for (const auto& [key, object] : services.store.list(services.events(), {}).objects) {
      services.event_expiry.prepare(key);
      services.event_expiry.schedule(key, object.revision());
    }
    services.quotas.recount();
    controllers.start_over();
  }

  [[nodiscard]] ResourcePtr find_resource(const GroupResource& id) const {
    const ResourcePtr resource = services.catalog()->find(id);
    return resource != nullptr && resource->collection != nullptr ? resource : nullptr;
  }

  Services services;
  Rest rest;
  Controllers controllers;
  Dispatcher dispatcher;
  std::shared_ptr<void> fill_namespaces;
  std::shared_ptr<void> aggregation;
};

Engine::Engine(EngineOptions options) : state_(std::make_unique<State>(std::move(options))) {}

Engine::~Engine() = default;

ServerResponse Engine::handle(const ServerRequest& request) {
  return state_->dispatcher.handle(request, std::nullopt);
}

ServerResponse Engine::handle_as(const User& user, const ServerRequest& request) {
  return state_->dispatcher.handle(request, user);
}

std::optional<User> Engine::user_of_token(std::string_view token) const {
  return detail::user_of_token(state_->services, token);
}

void Engine::add_user(std::string token, User user) {
  state_->services.user_tokens.add(std::move(token), std::move(user));
}

Ref<Value> Engine::seed(const Value& object) { return state_->seed(object); }

Ref<Value> Engine::seed(std::string_view json) {
  return state_->seed(*state_->services.codec.value_from_json(json));
}

Ref<Value> Engine::find(const GroupResource& resource, std::string_view namespace_,
                        std::string_view name) const {
  const StoredObject object = find_stored(resource, namespace_, name);
  if (!object) return nullptr;
  return as_served(state_->services.codec, *state_->find_resource(resource), object).value();
}

std::vector<Ref<Value>> Engine::list(const GroupResource& resource,
                                     std::string_view namespace_) const {
  std::vector<Ref<Value>> objects;
  const ResourcePtr found = state_->find_resource(resource);
  for (const StoredObject& object : list_stored(resource, namespace_)) {
    objects.push_back(as_served(state_->services.codec, *found, object).value());
  }
  return objects;
}

StoredObject Engine::find_stored(const GroupResource& resource, std::string_view namespace_,
                                 std::string_view name) const {
  const ResourcePtr found = state_->find_resource(resource);
  if (found == nullptr) return {};
  return state_->services.store.get(*found->collection, key_of(namespace_, name));
}

std::vector<StoredObject> Engine::list_stored(const GroupResource& resource,
                                              std::string_view namespace_) const {
  std::vector<StoredObject> objects;
  const ResourcePtr found = state_->find_resource(resource);
  if (found == nullptr) return objects;
  Store::ListQuery query;
  if (!namespace_.empty()) query.scope.prefix = std::string{namespace_} + '/';
  for (auto& [key, object] : state_->services.store.list(*found->collection, query).objects) {
    objects.push_back(std::move(object));
  }
  return objects;
}

bool Engine::remove(const GroupResource& resource, std::string_view namespace_,
                    std::string_view name) {
  const ResourcePtr found = state_->find_resource(resource);
  if (found == nullptr) return false;
  const std::string key = key_of(namespace_, name);
  while (true) {
    const StoredObject current = state_->services.store.get(*found->collection, key);
    if (!current) return false;
    if (state_->services.commit(*found->collection, key, current, {})) return true;
  }
}

Ref<Value> Engine::request(std::string_view method, std::string_view target, const Value& body,
                           std::string_view content_type) {
  return state_->services.codec.value_from_json(request_json(
      method, target, body.is_absent() ? std::string{} : json_text(body), content_type));
}

std::string Engine::request_json(std::string_view method, std::string_view target, std::string body,
                                 std::string_view content_type, std::string_view agent) {
  ServerRequest request;
  request.method = method;
  request.target = target;
  request.headers = {{"Content-Type", std::string{content_type}},
                     {"User-Agent", std::string{agent}}};
  request.body = std::move(body);
  ServerResponse response = handle_as(administrator(), request);
  if (response.status < 300) return std::move(response.body);
  const std::string* type = find_header(response.headers, "Content-Type");
  if (type == nullptr || *type != "application/json")
    throw ApiError{response.status, response.body};
  const StoredObject status =
      state_->services.codec.from_json(type_of<meta::v1::Status>(), response.body);
  throw ApiError{*reinterpret_cast<const meta::v1::Status*>(status.data())};
}

std::shared_ptr<void> Engine::on_change(const GroupResource& resource,
                                        std::function<void(const Change&)> react) {
  return state_->controllers.on_change(resource, std::move(react));
}

bool Engine::settle(std::chrono::milliseconds limit) { return state_->controllers.settle(limit); }

std::uint64_t Engine::revision() const { return state_->services.store.revision(); }

void Engine::set_next_revision(std::uint64_t revision) {
  state_->services.store.set_next_revision(revision);
}

void Engine::compact(std::uint64_t revision) { state_->services.store.compact(revision); }

void Engine::shrink_history(std::size_t count) { state_->services.store.shrink_history(count); }

std::size_t Engine::watch_count() const { return state_->services.watch_timers.size(); }

void Engine::send_bookmarks() {
  Services& services = state_->services;
  for (const auto& cursor : services.watch_timers.with_bookmarks()) {
    services.store.ask_for_bookmark(*cursor);
  }
}

void Engine::end_watches() { state_->services.store.end_watches(nullptr); }

void Engine::end_watches(const GroupResource& resource) {
  if (const ResourcePtr found = state_->find_resource(resource)) {
    state_->services.store.end_watches(found->collection);
  }
}

void Engine::shut_down() {
  state_->dispatcher.shut_down();
  state_->services.stopping.request_stop();  // ends waits for a resource version
  end_watches();
}

void Engine::set_health(std::string_view check, bool passes) {
  state_->dispatcher.health().set(check, passes);
}

std::vector<ObjectState> Engine::export_objects() const {
  std::vector<ObjectState> objects;
  for (const auto& [collection, object] : state_->services.store.all_objects()) {
    objects.push_back({collection->resource().group, collection->resource().resource,
                       object.metadata_text("namespace"), object.metadata_text("name"),
                       object.revision(), object.json()});
  }
  return objects;
}

void Engine::import_objects(const std::vector<ObjectState>& objects, std::uint64_t revision) {
  state_->replace_objects(objects, revision);
  state_->seed_default_roles();
}

void Engine::reset() {
  // Watches cannot be resumed: the history has no deletion events for the dropped objects.
  state_->replace_objects({}, revision() + 1);
  state_->begin();
}

}  // namespace kube::testkit::detail
