// SPDX-License-Identifier: Apache-2.0
// The verbs delete and deletecollection.
#include "testkit/rest/rest.hpp"

#include <kube/api/meta/v1.hpp>
#include <kube/api/time.hpp>
#include <kube/codec/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "testkit/admission/policies.hpp"
#include "testkit/kinds/conversion.hpp"
#include "testkit/requests/failures.hpp"
#include "testkit/rest/metadata.hpp"
#include "testkit/values/value_text.hpp"

namespace kube::testkit::detail {

namespace {

constexpr const char* kOrphan = "orphan";
constexpr const char* kForeground = "foregroundDeletion";

bool has_finalizer(const Value& object, std::string_view name) {
  const Value& finalizers = object["metadata"]["finalizers"];
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    if (finalizers[i] == Value{name}) return true;
  }
  return false;
}

void set_finalizer(Value& object, std::string_view name, bool wanted) {
  if (has_finalizer(object, name) == wanted) return;
  Value kept = Value::array();
  const Value& finalizers = std::as_const(object)["metadata"]["finalizers"];
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    if (!(finalizers[i] == Value{name})) kept.push_back(finalizers[i]);
  }
  if (wanted) kept.push_back(name);
  if (kept.size() == 0) {
    object["metadata"].erase("finalizers");
  } else {
    object["metadata"]["finalizers"] = std::move(kept);
  }
}

/// Adds and removes the finalizers that represent a propagation policy (DL-5).
void apply_policy(const KindRules& rules, const DeleteRequest& options, Value& object) {
  bool orphan = has_finalizer(object, kOrphan);
  bool foreground = has_finalizer(object, kForeground);
  if (options.orphan_dependents) {
    orphan = *options.orphan_dependents;
    foreground = false;
  } else if (!options.propagation.empty()) {
    orphan = options.propagation == "Orphan";
    foreground = options.propagation == "Foreground";
  } else if (!orphan && !foreground) {
    orphan = rules.orphans_by_default;
  }
  set_finalizer(object, kOrphan, orphan);
  set_finalizer(object, kForeground, foreground);
}

[[noreturn]] void refuse(const FieldError& error) {
  throw invalid({"meta.k8s.io", "DeleteOptions"}, "", error);
}

void check_preconditions(const Resource& resource, const Value& object,
                         const DeleteRequest& options) {
  const auto check = [&](std::string_view label, const std::optional<std::string>& wanted,
                         const std::string& actual, std::string_view guess) {
    if (!wanted || *wanted == actual) return;
    const bool is_namespace = resource.id() == "namespaces";
    throw conflict({resource.group, is_namespace ? resource.plural : resource.kind},
                   metadata_text(object, "name"),
                   fmt::format("the {} in the precondition ({}) does not match the {} in record "
                               "({}). The object might have been {}",
                               label, *wanted, label, actual, guess));
  };
  check("UID", options.uid, metadata_text(object, "uid"), "deleted and then recreated");
  check("ResourceVersion", options.version, metadata_text(object, "resourceVersion"), "modified");
}

void raise_generation(Value& object) {
  const auto generation = object.get_integer("metadata.generation");
  if (generation.value_or(0) > 0) object["metadata"]["generation"] = *generation + 1;
}

/// Returns the grace period of the first deletion request for a pod (DL-7).
std::int64_t first_grace(const Value& pod, const DeleteRequest& options) {
  std::int64_t grace =
      options.grace.value_or(pod.get_integer("spec.terminationGracePeriodSeconds").value_or(30));
  if (grace < 0) grace = 1;
  const std::string_view phase = pod.get_string("status.phase").value_or("");
  if (pod.get_string("spec.nodeName").value_or("").empty() || phase == "Failed" ||
      phase == "Succeeded") {
    grace = 0;
  }
  return grace;
}

struct Shortened {
  std::int64_t grace;
  Time deletion;
};
/// Applies a later request to a deletion with a grace period of `pending` seconds that ends at
/// `deletion`. The period can only be shortened; otherwise returns nullopt (DL-7).
std::optional<Shortened> shorten(const DeleteRequest& options, std::int64_t pending,
                                 std::string_view deletion, Clock::WallTime now) {
  if (!options.grace) return std::nullopt;
  const std::int64_t wanted = *options.grace < 0 ? 1 : *options.grace;
  if (wanted >= pending) return std::nullopt;
  const Time due{Time::parse(deletion).time_point() - std::chrono::seconds{pending - wanted}};
  if (due.time_point() >= now) return Shortened{wanted, due};
  // The shortened period is already over. The deletion is still recorded, so that watches see it.
  return Shortened{std::min<std::int64_t>(wanted, 1), Time{now}};
}

}  // namespace

DeleteRequest Rest::delete_options(RestRequest& request) {
  meta::v1::DeleteOptions given;
  const Query& query = request.url.query;
  if (!request.http.body.empty()) {
    const Format format = body_format(request.header("Content-Type"), false);
    const Type& type = type_of<meta::v1::DeleteOptions>();
    try {
      const StoredObject object =
          format == Format::kProtobuf
              ? services_.codec.from_any_protobuf(type, request.http.body)
              : services_.codec.from_value(type, [&] {
                  Value value = format == Format::kYaml
                                    ? *parse_yaml(request.http.body)
                                    : *services_.codec.value_from_json(request.http.body);
                  if (value.is_null()) value = Value::object();
                  if (!value.is_object()) throw bad_request("DeleteOptions must be an object");
                  for (const char* member : {"kind", "apiVersion"}) {
                    const Value& given_type = std::as_const(value)[member];
                    if (!given_type.is_absent() && !given_type.is_null() &&
                        !given_type.is_string()) {
                      throw bad_request(fmt::format("{} of DeleteOptions is not a text", member));
                    }
                  }
                  // Clients send them in the version of the group that they delete from.
                  value.erase("apiVersion");
                  return value;
                }());
      given = *reinterpret_cast<const meta::v1::DeleteOptions*>(object.data());
    } catch (const CodecError& error) {
      throw bad_request(fmt::format("couldn't decode DeleteOptions: {}", error.what()));
    }
  } else {
    given.grace_period_seconds = integer_parameter(query, "gracePeriodSeconds");
    if (query.has("propagationPolicy")) given.propagation_policy = query.text("propagationPolicy");
    if (query.has("orphanDependents")) given.orphan_dependents = query.flag("orphanDependents");
    for (const std::string_view value : query.all("dryRun")) given.dry_run.push_back(value);
  }
  DeleteRequest options;
  options.grace = given.grace_period_seconds;
  if (given.preconditions) {
    if (const auto& uid = given.preconditions->uid; uid.has_value()) options.uid = uid.value_or("");
    if (const auto& version = given.preconditions->resource_version; version.has_value()) {
      options.version = version.value_or("");
    }
  }
  options.orphan_dependents = given.orphan_dependents;
  options.propagation = given.propagation_policy.value_or("");
  if (given.propagation_policy.has_value()) {
    std::vector<FieldError> errors;
    if (options.orphan_dependents) {
      errors.push_back(
          invalid_value("propagationPolicy", options.propagation,
                        "orphanDependents and deletionPropagation cannot be both set"));
    }
    const std::array<std::string, 3> known{"Foreground", "Background", "Orphan"};
    if (std::ranges::find(known, options.propagation) == known.end()) {
      errors.push_back(not_supported("propagationPolicy", options.propagation, known));
    }
    if (!errors.empty()) throw invalid({"meta.k8s.io", "DeleteOptions"}, "", errors);
  }
  for (const String& value : given.dry_run) {
    if (value != "All") {
      const std::array<std::string, 1> known{"All"};
      refuse(not_supported("dryRun", value, known));
    }
    options.dry_run = true;
  }
  return options;
}

DeleteOutcome Rest::remove_object(const Resource& resource, const std::string& key,
                                  const DeleteRequest& options) {
  Collection& collection = *resource.collection;
  const KindRules rules = rules_of(resource);
  const std::string name = key.substr(key.find('/') + 1);
  const bool is_namespace = resource.id() == "namespaces";
  const bool is_event = collection.resource() == GroupResource{"", "events"};
  bool marked = false;  // by this request
  while (true) {
    const StoredObject current = services_.store.get(collection, key);
    if (!current) throw not_found(resource.group_resource(), name);
    Value object = *current.value();
    if (!marked) check_preconditions(resource, object, options);
    const std::string deletion = metadata_text(object, "deletionTimestamp");
    const Clock::WallTime now = services_.clock.wall_now();
    const std::int64_t pending =
        object.get_integer("metadata.deletionGracePeriodSeconds").value_or(0);
    std::int64_t grace = 0;
    std::optional<Shortened> shortened;
    if (rules.is_graceful && deletion.empty()) {
      grace = first_grace(object, options);
    } else if (rules.is_graceful && pending != 0) {
      shortened = shorten(options, pending, deletion, now);
      if (!shortened) return {.object = current, .unchanged = true};
      grace = shortened->grace;
    }
    const bool had_finalizers = std::as_const(object)["metadata"]["finalizers"].size() > 0;
    if (!is_event) apply_policy(rules, options, object);
    if (resource.id() == "customresourcedefinitions.apiextensions.k8s.io" && deletion.empty()) {
      set_finalizer(object, "customresourcecleanup.apiextensions.k8s.io", true);
    }
    const bool blocked = std::as_const(object)["metadata"]["finalizers"].size() > 0 ||
                         (is_namespace && std::as_const(object)["spec"]["finalizers"].size() > 0);
    if (!blocked && grace == 0) {
      // In a dry run, a real server does not read the object again and returns an empty one.
      const bool is_marked = !deletion.empty() && pending == 0;
      if (options.dry_run && had_finalizers && (is_marked || !rules.is_graceful)) {
        return {.object = services_.codec.from_value(
                    current.type(),
                    Value::object({{"kind", std::as_const(object)["kind"]},
                                   {"apiVersion", std::as_const(object)["apiVersion"]}})),
                .gone = true,
                .blank = true};
      }
      if (rules.is_graceful && !options.dry_run &&
          (deletion.empty() || object.get_integer("metadata.deletionGracePeriodSeconds") != 0)) {
        // The object is first marked as deleted, so watches get two events.
        object["metadata"]["deletionTimestamp"] = Time{now}.str();
        object["metadata"]["deletionGracePeriodSeconds"] = 0;
        if (deletion.empty()) raise_generation(object);
        marked = services_
                     .commit(collection, key, current,
                             services_.codec.from_value(current.type(), object))
                     .has_value();
        continue;
      }
      const std::optional<StoredObject> last =
          options.dry_run ? current : services_.commit(collection, key, current, {});
      if (last) {
        if (!rules.is_graceful) return {.object = *last, .gone = true};
        object["metadata"]["resourceVersion"] = last->metadata_text("resourceVersion");
        object["metadata"]["deletionTimestamp"] = deletion.empty() ? Time{now}.str() : deletion;
        object["metadata"]["deletionGracePeriodSeconds"] = 0;
        if (deletion.empty()) raise_generation(object);
        return {.object = services_.codec.from_value(current.type(), object), .gone = true};
      }
      continue;
    }
    Value& metadata = object["metadata"];
    if (deletion.empty()) {
      metadata["deletionTimestamp"] = Time{now + std::chrono::seconds{grace}}.str();
      if (!is_namespace) {
        metadata["deletionGracePeriodSeconds"] = grace;
        raise_generation(object);
      }
    } else if (shortened) {
      metadata["deletionTimestamp"] = shortened->deletion.str();
      metadata["deletionGracePeriodSeconds"] = grace;
    }
    if (is_namespace) object["status"]["phase"] = "Terminating";
    StoredObject next = services_.codec.from_value(current.type(), object);
    next.schema_id = current.schema_id;
    if (next.same_content(current)) return {.object = current, .unchanged = true};
    if (options.dry_run) return {.object = next};
    if (auto written = services_.commit(collection, key, current, std::move(next))) {
      return {.object = *written};
    }
  }
}

void Rest::check_deletion_policies(RestRequest& request, const StoredObject& object,
                                   const DeleteRequest& options) {
  if (!object) return;
  const std::string name = std::exchange(request.name, object.metadata_text("name"));
  const Ref<Value> old = as_served(services_.codec, *request.resource, object).value();
  check_policies(services_, request,
                 {.operation = "DELETE", .old_object = &*old, .dry_run = options.dry_run});
  request.name = name;
}

ServerResponse Rest::remove(RestRequest& request) {
  const Resource& resource = *request.resource;
  request.choose_output({.custom = resource.is_custom()});
  const DeleteRequest options = delete_options(request);
  if (resource.id() == "namespaces") {
    for (const char* kept : {"default", "kube-system", "kube-public"}) {
      if (request.name == kept) {
        throw forbidden(resource.group_resource(), request.name,
                        "this namespace may not be deleted");
      }
    }
  }
  check_deletion_policies(request, services_.store.get(*resource.collection, request.key()),
                          options);
  const DeleteOutcome outcome = remove_object(resource, request.key(), options);
  if (!outcome.gone || outcome.blank || rules_of(resource).deletion_returns_object) {
    const bool accepted = !outcome.gone && options.orphan_dependents == false;
    return respond(request, accepted ? 202 : 200, outcome.object);
  }
  meta::v1::Status status;
  status.status = "Success";
  meta::v1::StatusDetails& details = status.details.emplace();
  details.name = request.name;
  details.group = resource.group;
  details.kind = resource.plural;
  details.uid = outcome.object.metadata_text("uid");
  Output plain = request.output;
  plain.transform = Transform::kNone;
  return make_response(200, plain.content_type(), encode_as(plain, status));
}

ServerResponse Rest::remove_collection(RestRequest& request) {
  request.choose_output({.custom = request.resource->is_custom()});
  const ListOptions list_options = ListOptions::parse(request.url.query, false);
  // An invalid selector is reported before invalid options.
  (void)selection_of(*request.resource, list_options);
  const DeleteRequest options = delete_options(request);
  const ListPage page = read_page(request, list_options);
  for (const StoredObject& object : page.objects) {
    try {
      check_deletion_policies(request, object, options);
      remove_object(*request.resource,
                    key_of(object.metadata_text("namespace"), object.metadata_text("name")),
                    options);
    } catch (const ApiError& error) {
      if (!is_not_found(error)) throw;
    }
  }
  return make_response(200, request.output.content_type(), encoder(request).list(page));
}

}  // namespace kube::testkit::detail
