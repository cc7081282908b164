// SPDX-License-Identifier: Apache-2.0
// create and update, and what both have in common with patch.
#include "rest.hpp"

#include <kube/api/meta/v1.hpp>
#include <kube/codec/base64.hpp>
#include <kube/codec/envelope.hpp>
#include <kube/codec/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "apply.hpp"
#include "conversion.hpp"
#include "duplicate_fields.hpp"
#include "failures.hpp"
#include "rest_metadata.hpp"
#include "value_text.hpp"

namespace kube::testkit::detail {

namespace {

constexpr int kNameAttempts = 8;
constexpr int kMostRaces = 1000;
constexpr const char* kDuplicateOwners =
    ".metadata.ownerReferences contains duplicate entries; each was kept once";

GroupResource namespaces() { return {"", "namespaces"}; }

/// Whether an object that was deleted has nothing left to wait for (UP-6).
bool may_go(const Value& object, bool is_namespace) {
  return !metadata_text(object, "deletionTimestamp").empty() &&
         object["metadata"]["finalizers"].size() == 0 &&
         object.get_integer("metadata.deletionGracePeriodSeconds").value_or(0) == 0 &&
         (!is_namespace || object["spec"]["finalizers"].size() == 0);
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

/// The kind of a custom resource is looked at with the rest of it, in refuse_invalid().
void check_type(const Resource& resource, std::string_view api_version, std::string_view kind) {
  if (resource.is_custom() && (api_version.empty() || kind.empty())) {
    throw bad_request(
        fmt::format("Object '{}' is missing in the body", kind.empty() ? "Kind" : "apiVersion"));
  }
  const std::string expected = resource.api_version();
  if (!api_version.empty() && api_version != expected) {
    throw bad_request(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    api_version, expected));
  }
  if (!kind.empty() && kind != resource.kind && !resource.is_custom()) {
    throw bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}", kind,
                                  resource.version, resource.kind));
  }
}

/// Where a resource keeps bytes by name; null if nowhere.
const char* bytes_member(const Resource& resource) {
  const std::string id = resource.id();
  return id == "secrets" ? "data" : id == "configmaps" ? "binaryData" : nullptr;
}

/// Bytes may be written as a list of numbers, too. Nothing if none are.
std::optional<Value> with_bytes(const Resource& resource, const Value& object) {
  const char* const member = bytes_member(resource);
  std::optional<Value> result;
  if (member == nullptr || !object[member].is_object()) return result;
  for (const auto& [key, value] : object[member].as_object()) {
    if (!value.is_array()) continue;
    std::string bytes;
    for (const Value& number : value.as_array()) {
      if (number.kind() != Value::Kind::kInteger) break;
      const std::int64_t byte = number.as_integer();
      if (byte < 0 || byte > 255) break;
      bytes.push_back(static_cast<char>(byte));
    }
    if (bytes.size() != value.size()) continue;
    if (!result) result = object;
    (*result)[member][key.view()] = base64_encode(bytes);
  }
  return result;
}

/// Bytes that are null are read as an empty text. Returns StoredObject::nulls.
std::uint32_t fill_nulls(const Resource& resource, Value& object) {
  const char* const member = bytes_member(resource);
  if (member == nullptr) return 0;
  const Value data = std::as_const(object)[member];
  if (!data.is_object()) return 0;
  std::string keys;
  for (const auto& [key, value] : data.as_object()) {
    if (!value.is_null()) continue;
    object[member][key.view()] = "";
    keys.append(key.view()).push_back('\0');
  }
  return keys.empty() ? 0 : static_cast<std::uint32_t>(std::hash<std::string>{}(keys) | 1);
}

ApiError undecodable(const Resource& resource, const std::exception& error) {
  return bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}",
                                 resource.kind, resource.version, resource.kind, error.what()));
}

/// Times with fractions have exactly six digits of them (BK-2).
void check_micro_times(const Value& object) {
  for (const char* path : {"spec.acquireTime", "spec.renewTime", "spec.pingTime", "eventTime",
                           "series.lastObservedTime"}) {
    const Value* time = object.find(path);
    if (time == nullptr || !time->is_string()) continue;
    const std::string_view text = time->as_string();
    const std::size_t point = text.find('.');
    if (point == std::string_view::npos ||
        text.find_first_not_of("0123456789", point + 1) != point + 7) {
      throw CodecError(path, "expected a time with six fractional digits", 0);
    }
  }
}

}  // namespace

WriteOptions WriteOptions::parse(const Query& query, std::string_view kind,
                                 std::vector<FieldError> errors) {
  WriteOptions options;
  options.field_manager = query.text("fieldManager");
  if (options.field_manager.size() > 128) errors.push_back(too_long("fieldManager", 128));
  if (!is_printable(options.field_manager)) {
    errors.push_back(invalid_value("fieldManager", options.field_manager,
                                   "should only contain printable characters"));
  }
  for (const std::string_view value : query.all("dryRun")) {
    if (value != "All") {
      const std::array<std::string, 1> known{"All"};
      errors.push_back(not_supported("dryRun", value, known));
    }
    options.dry_run = true;
  }
  const std::string_view validation = query.text("fieldValidation");
  if (validation == "Ignore") {
    options.field_validation = FieldValidation::kIgnore;
  } else if (validation == "Strict") {
    options.field_validation = FieldValidation::kStrict;
  } else if (!validation.empty() && validation != "Warn") {
    const std::array<std::string, 3> known{"Ignore", "Warn", "Strict"};
    errors.push_back(not_supported("fieldValidation", validation, known));
  }
  if (query.has("force")) options.force = query.flag("force");
  if (!errors.empty()) throw invalid({"meta.k8s.io", std::string{kind}}, "", errors);
  return options;
}

void report_fields(RestRequest& request, const WriteOptions& options,
                   const std::vector<std::string>& unknown,
                   const std::vector<std::string>& duplicate,
                   const std::function<ApiError(const std::string&)>& refuse) {
  if (options.field_validation == WriteOptions::FieldValidation::kIgnore) return;
  std::vector<std::string> problems;
  problems.reserve(unknown.size() + duplicate.size());
  for (const std::string& field : unknown) {
    problems.push_back(fmt::format("unknown field \"{}\"", field));
  }
  for (const std::string& field : duplicate) {
    problems.push_back(fmt::format("duplicate field \"{}\"", field));
  }
  if (problems.empty()) return;
  if (options.field_validation == WriteOptions::FieldValidation::kStrict) {
    throw refuse(fmt::format("strict decoding error: {}", fmt::join(problems, ", ")));
  }
  for (std::string& problem : problems) request.warn(std::move(problem));
}

void Rest::add_unknown_metadata(const Value& object, std::vector<std::string>& unknown) const {
  const ResourcePtr any = services_.catalog()->find("", "v1", "configmaps");
  const std::vector<std::string> found =
      unknown_fields(*any->schema, Value::object({{"metadata", object["metadata"]}}));
  unknown.insert(unknown.end(), found.begin(), found.end());
}

Value normalized(ObjectCodec& codec, const Resource& resource, const Value& object) {
  if (!resource.is_custom()) {
    if (resource.group == "coordination.k8s.io" || resource.kind == "Event") {
      check_micro_times(object);
    }
    const std::optional<Value> readable = with_bytes(resource, object);
    Value typed = *codec.from_value(*resource.type, readable ? *readable : object).value();
    canonicalize_quantities(*resource.type, typed);
    // An empty list is left out of typed objects, but here it has a meaning (SA-7).
    const Value& fields = object["metadata"]["managedFields"];
    if (fields.is_array() && fields.size() == 0)
      typed["metadata"]["managedFields"] = Value::array();
    return typed;
  }
  Value copy = object;
  const Value& metadata = object["metadata"];
  if (metadata.is_absent()) return copy;
  const StoredObject typed = codec.from_value(type_of<meta::v1::PartialObjectMetadata>(),
                                              Value::object({{"metadata", metadata}}));
  copy["metadata"] = (*typed.value())["metadata"];
  return copy;
}

void take_in_plain_data(const Resource& resource, Value& object) {
  if (resource.id() != "secrets") return;
  const Value plain = std::as_const(object)["stringData"];
  object.erase("stringData");
  if (!plain.is_object()) return;
  for (const auto& [key, value] : plain.as_object()) {
    if (value.is_string()) object["data"][key.view()] = base64_encode(value.as_string());
  }
}

Value Rest::decode_body(RestRequest& request, const Resource& as, const WriteOptions& options) {
  const std::string& body = request.http.body;
  const Format format = body_format(request.header("Content-Type"), as.is_custom());
  std::string json;
  try {
    if (format == Format::kProtobuf) {
      const Envelope envelope = open_envelope(body);
      check_type(as, envelope.api_version, envelope.kind);
      Value object = *services_.codec.from_protobuf(*as.type, body).value();
      canonicalize_quantities(*as.type, object);
      take_in_plain_data(as, object);
      return object;
    }
    json = format == Format::kYaml ? json_text(*parse_yaml(body)) : body;
    Value object = *services_.codec.value_from_json(json);
    if (object.is_null() && !as.is_custom()) object = Value::object();
    if (!object.is_object()) throw bad_request("the body of the request is not an object");
    const auto text = [&](std::string_view member) {
      const Value& value = std::as_const(object)[member];
      if (value.is_absent() || value.is_null()) return std::string_view{};
      if (!value.is_string()) throw CodecError(std::string{member}, "expected a text", 0);
      return value.as_string();
    };
    check_type(as, text("apiVersion"), text("kind"));
    object["apiVersion"] = as.api_version();
    if (!as.is_custom()) object["kind"] = as.kind;
    std::vector<std::string> unknown;
    if (as.is_custom()) {
      if (as.custom->schema) unknown = as.custom->schema->prune(object);
      add_unknown_metadata(object, unknown);
    } else if (as.schema != nullptr &&
               options.field_validation != WriteOptions::FieldValidation::kIgnore) {
      unknown = unknown_fields(*as.schema, object);
    }
    object = normalized(services_.codec, as, object);
    take_in_plain_data(as, object);
    report_fields(request, options, unknown, duplicate_fields(json), bad_request);
    if (as.is_custom() && as.custom->schema) as.custom->schema->apply_defaults(object);
    return object;
  } catch (const CodecError& error) {
    throw undecodable(as, error);
  }
}

StoredObject Rest::to_stored(const Resource& resource, Value object) {
  object = to_storage_form(resource, std::move(object));
  // A place for the version that the store writes; see ObjectCodec::with_revision.
  if (std::as_const(object)["metadata"]["resourceVersion"].size() == 0 &&
      !std::as_const(object)["metadata"]["resourceVersion"].is_string()) {
    object["metadata"]["resourceVersion"] = std::to_string(services_.store.revision() + 1);
  }
  StoredObject stored = services_.codec.from_value(*resource.storage_type, object);
  if (resource.is_custom()) stored.schema_id = resource.custom->schema_id;
  return stored;
}

void Rest::check_new_namespace(const RestRequest& request) {
  const Resource& resource = *request.resource;
  if (!resource.namespaced) return;
  const StoredObject found =
      services_.store.get(services_.store.collection(namespaces()), request.namespace_);
  if (!found) throw not_found(namespaces(), request.namespace_);
  if (found.metadata_text("deletionTimestamp").empty()) return;
  meta::v1::Status status =
      forbidden(resource.group_resource(), request.name,
                fmt::format("unable to create new content in namespace {} because it is being "
                            "terminated",
                            request.namespace_))
          .status();
  meta::v1::StatusCause cause;
  cause.reason = "NamespaceTerminating";
  cause.message = fmt::format("namespace {} is being terminated", request.namespace_);
  cause.field = "metadata.namespace";
  status.details->causes.push_back(std::move(cause));
  throw ApiError{std::move(status)};
}

void Rest::finish_new(RestRequest& request, Value& object, const WriteOptions& options,
                      bool track) {
  const Resource& resource = *request.resource;
  const KindRules rules = rules_of(resource);
  object["metadata"]["uid"] = services_.ids.uuid();
  object["metadata"]["creationTimestamp"] = services_.now_text();
  if (rules.has_generation) object["metadata"]["generation"] = 1;
  if (rules.has_status && resource.id() != "nodes") object.erase("status");
  if (!resource.is_custom()) {
    apply_builtin_defaults(resource, object);
  } else if (resource.custom->schema) {
    resource.custom->schema->apply_defaults(object);
  }
  if (deduplicate_owners(object)) request.warn(kDuplicateOwners);
  if (!services_.options.managed_fields) {
    object["metadata"].erase("managedFields");
  } else if (track) {
    object = track_update(schema_of(resource), Value{}, std::move(object),
                          field_manager(services_, request, options));
  }
  // What the server itself begins with belongs to nobody.
  if (!resource.is_custom()) {
    set_initial_state(resource, object);
    admit_new(resource, object);
  }
  refuse_invalid(resource, object, nullptr);
}

Rest::Written Rest::create_object(RestRequest& request, Value object, const WriteOptions& options,
                                  bool track) {
  const Resource& resource = *request.resource;
  if (!std::as_const(object)["metadata"].is_object()) object["metadata"] = Value::object();
  Value& metadata = object["metadata"];
  const std::string version = metadata_text(object, "resourceVersion");
  for (const char* field : {"uid", "creationTimestamp", "deletionTimestamp",
                            "deletionGracePeriodSeconds", "selfLink", "resourceVersion"}) {
    metadata.erase(field);
  }
  set_namespace(request, object);
  if (!request.name.empty()) {
    metadata["name"] = request.name;
  } else {
    request.name = metadata_text(object, "name");
  }
  const std::string prefix = metadata_text(object, "generateName").substr(0, 58);
  const bool generate = request.name.empty() && !prefix.empty();
  if (resource.is_custom() && resource.custom->terminating) {
    throw method_not_allowed_while_terminating(resource, request.name);
  }
  check_new_namespace(request);
  for (int attempt = 1;; ++attempt) {
    Value fresh = object;
    if (generate) {
      request.name = prefix + services_.ids.suffix();
      fresh["metadata"]["name"] = request.name;
    }
    finish_new(request, fresh, options, track);
    const std::string key = request.key();
    const std::uint32_t nulls = fill_nulls(resource, fresh);
    StoredObject stored = to_stored(resource, fresh);
    stored.nulls = nulls;
    const StoredObject existing = services_.store.get(*resource.collection, key);
    if (!existing && options.dry_run) {
      fresh["metadata"].erase("resourceVersion");
      if (!version.empty()) fresh["metadata"]["resourceVersion"] = version;
      StoredObject shown =
          services_.codec.from_value(*resource.storage_type, to_storage_form(resource, fresh));
      shown.schema_id = stored.schema_id;
      return {std::move(shown), true};
    }
    if (!options.dry_run && parse_version(version).value_or(0) != 0) {
      throw plain_failure("resourceVersion should not be set on objects to be created");
    }
    if (!existing) {
      if (auto written = services_.commit(*resource.collection, key, {}, std::move(stored))) {
        return {*written, true};
      }
    }
    if (!generate) {
      throw already_exists(resource.group_resource(), request.name,
                           existing && !existing.metadata_text("deletionTimestamp").empty());
    }
    if (attempt == kNameAttempts) {
      meta::v1::Status status =
          already_exists(resource.group_resource(), request.name, false).status();
      status.message = fmt::format(
          "{}, the server was not able to generate a unique name for the "
          "object",
          status.message.view());
      status.details->retry_after_seconds = 1;
      throw ApiError{std::move(status)};
    }
  }
}

ServerResponse Rest::create(RestRequest& request) {
  request.choose_output({.custom = request.resource->is_custom()});
  static_cast<void>(body_format(request.header("Content-Type"), request.resource->is_custom()));
  const WriteOptions options = WriteOptions::parse(request.url.query, "CreateOptions");
  Value body = decode_body(request, *request.resource, options);
  request.name.clear();  // custom resources may be posted to a name, which then means nothing
  return respond(request, 201, create_object(request, std::move(body), options).object);
}

Value Rest::finish_update(RestRequest& request, const Value& live, Value next,
                          const WriteOptions& options, bool track) {
  const Resource& resource = *request.resource;
  const KindRules rules = rules_of(resource);
  std::vector<FieldError> errors = keep_server_fields(request, live, next);
  // What stands in the stored object next to the part that is written does not become the writer's.
  const bool is_part = !resource.is_custom() && request.subresource == "status";
  if (is_part) apply_builtin_defaults(resource, next);
  next = merge_parts(resource, request.subresource, live, std::move(next));
  if (resource.is_custom()) {
    if (resource.custom->schema) {
      resource.custom->schema->prune(next);
      resource.custom->schema->apply_defaults(next);
    }
  } else if (!is_part) {
    apply_builtin_defaults(resource, next);
  }
  if (deduplicate_owners(next)) request.warn(kDuplicateOwners);
  if (!services_.options.managed_fields) {
    next["metadata"].erase("managedFields");
  } else if (track) {
    const FieldManager manager = field_manager(services_, request, options);
    next = request.subresource == "scale"
               ? track_scale(schema_of(resource), live, std::move(next), manager,
                             replicas_path(resource))
               : track_update(schema_of(resource), live, std::move(next), manager);
  }
  // From here on come the server's own changes, which belong to nobody.
  if (!resource.is_custom()) {
    if (is_part) apply_builtin_defaults(resource, next);
    if (request.subresource.empty()) keep_allocated(resource, live, next);
    admit_change(resource, live, next);
    count_template(resource, live, next);
  }
  if (rules.has_generation && request.subresource != "status" &&
      spec_differs(resource, live, next)) {
    next["metadata"]["generation"] = live.get_integer("metadata.generation").value_or(0) + 1;
  }
  std::optional<Value> resized;
  if (request.subresource == "resize") resized = with_resources_of(live, next);
  refuse_invalid(resource, next, resized ? &*resized : &live, std::move(errors));
  return next;
}

Rest::Written Rest::update_object(RestRequest& request, const WriteOptions& options,
                                  const Change& change, bool may_create, bool is_apply) {
  const Resource& resource = *request.resource;
  Collection& collection = *resource.collection;
  const std::string key = request.key();
  for (int race = 0; race < kMostRaces; ++race) {
    const StoredObject current = services_.store.get(collection, key);
    if (!current) {
      if (!may_create) throw not_found(resource.group_resource(), request.name);
      Value fresh = change(Value{});
      if (!is_apply) {
        if (const std::string uid = metadata_text(fresh, "uid"); !uid.empty()) {
          throw conflict(resource.group_resource(), request.name,
                         fmt::format("the UID in the precondition ({}) is that of no object", uid));
        }
        const std::string version = metadata_text(fresh, "resourceVersion");
        if (!version.empty() && !parse_version(version)) throw malformed_version(version);
      }
      if (!options.dry_run) fresh["metadata"].erase("resourceVersion");
      return create_object(request, std::move(fresh), options, !is_apply);
    }
    const Ref<Value> served = as_served(services_.codec, resource, current).value();
    const Value& live = *served;
    Value next = finish_update(request, live, change(live), options, !is_apply);
    const std::uint32_t nulls = fill_nulls(resource, next);
    if (services_.options.managed_fields) next = keep_old_timestamps(live, std::move(next));
    const bool goes = may_go(next, resource.id() == "namespaces");
    StoredObject stored = to_stored(resource, std::move(next));
    stored.nulls = nulls;
    if (stored.same_content(current)) return {current, false};
    if (options.dry_run) return {stored, false};
    if (goes) {
      if (services_.commit(collection, key, current, {})) return {stored, false};
    } else if (auto written = services_.commit(collection, key, current, std::move(stored))) {
      return {*written, false};
    }
  }
  throw modified_meanwhile(resource.group_resource(), request.name);
}

ServerResponse Rest::update(RestRequest& request) {
  const Resource& resource = *request.resource;
  request.choose_output({.custom = resource.is_custom()});
  const WriteOptions options = WriteOptions::parse(request.url.query, "UpdateOptions");
  const Value body = decode_body(request, resource, options);
  const std::string name = metadata_text(body, "name");
  if (name != request.name) {
    throw bad_request(
        name.empty()
            ? "the name of the object is not set in the body"
            : fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                          name, request.name));
  }
  Value checked = body;
  set_namespace(request, checked);
  const bool may_create = request.subresource.empty() && rules_of(resource).created_by_update;
  const Written written = update_object(
      request, options,
      [&](const Value& live) {
        // Another uid is told about first.
        const std::string uid = metadata_text(checked, "uid");
        const bool other = !uid.empty() && uid != metadata_text(live, "uid");
        if (!live.is_absent() && !other) check_update_version(resource, checked);
        return checked;
      },
      may_create, false);
  return respond(request, written.created ? 201 : 200, written.object);
}

StoredObject Rest::edit(Collection& collection, const std::string& key,
                        const std::function<bool(Value&)>& change) {
  for (int race = 0; race < kMostRaces; ++race) {
    StoredObject current = services_.store.get(collection, key);
    if (!current) return {};
    Value object = *current.value();
    if (!change(object)) return current;
    const bool goes = may_go(object, collection.resource() == namespaces());
    StoredObject next;
    if (!goes) {
      next = services_.codec.from_value(current.type(), object);
      next.schema_id = current.schema_id;
      if (next.same_content(current)) return current;
    }
    if (auto written = services_.commit(collection, key, current, std::move(next))) return *written;
  }
  return {};
}

}  // namespace kube::testkit::detail
