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

/// One attempt to delete an object in its current state.
class Deletion {
 public:
  Deletion(Services& services, const Resource& resource, const std::string& key,
           const DeleteRequest& options, StoredObject current)
      : services_(services),
        resource_(resource),
        key_(key),
        options_(options),
        current_(std::move(current)),
        object_(*current_.value()),
        deletion_(metadata_text(object_, "deletionTimestamp")),
        pending_(object_.get_integer("metadata.deletionGracePeriodSeconds").value_or(0)) {}

  /// Returns nullopt if the object has to be read again: another write came first, or this attempt
  /// only marked it as deleted. `marked` tells that an earlier attempt did, and is set by one.
  [[nodiscard]] std::optional<DeleteOutcome> run(bool& marked) {
    if (!marked) check_preconditions(resource_, object_, options_);
    if (rules_.is_graceful && deletion_.empty()) {
      grace_ = first_grace(object_, options_);
    } else if (rules_.is_graceful && pending_ != 0) {
      shortened_ = shorten(options_, pending_, deletion_, now_);
      if (!shortened_) return DeleteOutcome{.object = current_, .unchanged = true};
      grace_ = shortened_->grace;
    }
    const bool had_finalizers = finalizers("metadata") > 0;
    if (resource_.collection->resource() != GroupResource{"", "events"}) {
      apply_policy(rules_, options_, object_);
    }
    if (resource_.id() == "customresourcedefinitions.apiextensions.k8s.io" && deletion_.empty()) {
      set_finalizer(object_, "customresourcecleanup.apiextensions.k8s.io", true);
    }
    const bool blocked = finalizers("metadata") > 0 || (is_namespace_ && finalizers("spec") > 0);
    return blocked || grace_ != 0 ? mark_terminating() : remove(had_finalizers, marked);
  }

 private:
  [[nodiscard]] std::size_t finalizers(std::string_view part) const {
    return object_[part]["finalizers"].size();
  }

  [[nodiscard]] StoredObject encoded(const Value& object) const {
    return services_.codec.from_value(current_.type(), object);
  }

  /// Sets the metadata of a graceful deletion that is over.
  void set_deleted(const std::string& deletion) {
    object_["metadata"]["deletionTimestamp"] = deletion;
    object_["metadata"]["deletionGracePeriodSeconds"] = 0;
    if (deletion_.empty()) raise_generation(object_);
  }

  std::optional<DeleteOutcome> remove(bool had_finalizers, bool& marked) {
    // In a dry run, a real server does not read the object again and returns an empty one.
    const bool is_marked = !deletion_.empty() && pending_ == 0;
    if (options_.dry_run && had_finalizers && (is_marked || !rules_.is_graceful)) {
      const Value& object = object_;
      return DeleteOutcome{
          .object = encoded(Value::object(
              {{"kind", object["kind"]}, {"apiVersion", object["apiVersion"]}})),
          .gone = true,
          .blank = true};
    }
    if (rules_.is_graceful && !options_.dry_run &&
        (deletion_.empty() || object_.get_integer("metadata.deletionGracePeriodSeconds") != 0)) {
      // The object is first marked as deleted, so watches get two events.
      set_deleted(Time{now_}.str());
      marked =
          services_.commit(*resource_.collection, key_, current_, encoded(object_)).has_value();
      return std::nullopt;
    }
    const std::optional<StoredObject> last =
        options_.dry_run ? current_ : services_.commit(*resource_.collection, key_, current_, {});
    if (!last) return std::nullopt;
    if (!rules_.is_graceful) return DeleteOutcome{.object = *last, .gone = true};
    object_["metadata"]["resourceVersion"] = last->metadata_text("resourceVersion");
    set_deleted(deletion_.empty() ? Time{now_}.str() : deletion_);
    return DeleteOutcome{.object = encoded(object_), .gone = true};
  }

  /// Records the deletion of an object that stays for its finalizers or grace period.
  std::optional<DeleteOutcome> mark_terminating() {
    Value& metadata = object_["metadata"];
    if (deletion_.empty()) {
      metadata["deletionTimestamp"] = Time{now_ + std::chrono::seconds{grace_}}.str();
      if (!is_namespace_) {
        metadata["deletionGracePeriodSeconds"] = grace_;
        raise_generation(object_);
      }
    } else if (shortened_) {
      metadata["deletionTimestamp"] = shortened_->deletion.str();
      metadata["deletionGracePeriodSeconds"] = grace_;
    }
    if (is_namespace_) object_["status"]["phase"] = "Terminating";
    StoredObject next = encoded(object_);
    next.schema_id = current_.schema_id;
    if (next.same_content(current_)) return DeleteOutcome{.object = current_, .unchanged = true};
    if (options_.dry_run) return DeleteOutcome{.object = next};
    auto written = services_.commit(*resource_.collection, key_, current_, std::move(next));
    if (!written) return std::nullopt;
    return DeleteOutcome{.object = *written};
  }

  Services& services_;
  const Resource& resource_;
  const std::string& key_;
  const DeleteRequest& options_;
  const KindRules rules_ = rules_of(resource_);
  const bool is_namespace_ = resource_.id() == "namespaces";
  const Clock::WallTime now_ = services_.clock.wall_now();
  const StoredObject current_;
  Value object_;
  const std::string deletion_;  // metadata.deletionTimestamp; empty before the first request
  const std::int64_t pending_;  // the grace period of earlier requests
  std::int64_t grace_ = 0;
  std::optional<Shortened> shortened_;
};

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
  bool marked = false;
  while (true) {
    StoredObject current = services_.store.get(*resource.collection, key);
    if (!current) throw not_found(resource.group_resource(), key.substr(key.find('/') + 1));
    Deletion deletion{services_, resource, key, options, std::move(current)};
    if (auto outcome = deletion.run(marked)) return *std::move(outcome);
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
