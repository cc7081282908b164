// SPDX-License-Identifier: Apache-2.0
// The verb patch, with all patch types.
#include "testkit/rest/rest.hpp"

#include <kube/codec/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "testkit/kinds/conversion.hpp"
#include "testkit/requests/failures.hpp"
#include "testkit/rest/body.hpp"
#include "testkit/rest/metadata.hpp"
#include "testkit/values/apply.hpp"
#include "testkit/values/duplicate_fields.hpp"
#include "testkit/values/json_patch.hpp"
#include "testkit/values/merge_patch.hpp"
#include "testkit/values/strategic_merge.hpp"
#include "testkit/values/value_edit.hpp"
#include "testkit/values/value_text.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::string_view kJsonPatch = "application/json-patch+json";
constexpr std::string_view kMergePatch = "application/merge-patch+json";
constexpr std::string_view kStrategicPatch = "application/strategic-merge-patch+json";
constexpr std::string_view kApplyPatch = "application/apply-patch+yaml";

ApiError invalid_patch(std::string_view patch, std::string_view why) {
  return invalid(GroupKind{}, "", invalid_value("patch", patch, why));
}

std::string_view text_of(const Value& object, std::string_view member) {
  const Value& value = object[member];
  return value.is_string() ? value.as_string() : std::string_view{};
}

/// Checks that the patched object can be decoded. For custom resources, a different type is
/// reported by validation.
void check_patched_type(const Resource& resource, Value& patched, std::string_view patch) {
  const std::string_view kind = text_of(patched, "kind");
  const std::string_view version = text_of(patched, "apiVersion");
  if (resource.is_custom()) {
    const Value& given = std::as_const(patched)["apiVersion"];
    if (kind.empty() || std::ranges::count(version, '/') > 1 ||
        !(given.is_absent() || given.is_null() || given.is_string())) {
      throw invalid_patch(patch, fmt::format("no kind \"{}\" in version \"{}\"", kind, version));
    }
    return;
  }
  if ((!kind.empty() && kind != resource.kind) ||
      (!version.empty() && version != resource.api_version())) {
    throw invalid_patch(
        patch, fmt::format("no kind \"{}\" is registered for version \"{}\"", kind, version));
  }
  patched["kind"] = resource.kind;
  patched["apiVersion"] = resource.api_version();
}

/// Moves the changed members out of a patched object. The other members were validated when they
/// were stored, so most of the object is not decoded again.
Value take_changed(const Value& live, Value& patched) {
  Value changed = Value::object();
  Value same = Value::object();
  for (auto&& [key, value] : members(patched)) {
    (value == live[key.view()] ? same : changed)[key.view()] = std::move(value);
  }
  patched = std::move(same);
  return changed;
}

/// Adds `changed` to the unchanged members. Members that exist already are kept: `changed` may
/// contain empty ones that encoders always write.
void put_back(Value& object, Value changed) {
  for (auto&& [key, value] : members(changed)) {
    if (member(object, key.view()) == nullptr) object[key.view()] = std::move(value);
  }
}

Ref<Value> parse_patch(const std::function<Ref<Value>()>& parse) {
  try {
    return parse();
  } catch (const CodecError& error) {
    throw bad_request(fmt::format("error decoding patch: {}", error.what()));
  }
}

}  // namespace

ServerResponse Rest::patch(RestRequest& request) {
  const Resource& resource = *request.resource;
  const std::string type = parse_media_type(request.header("Content-Type")).type;
  const bool known = type == kJsonPatch || type == kMergePatch || type == kApplyPatch ||
                     (type == kStrategicPatch && !resource.is_custom());
  if (!known) {
    if (!resource.is_custom()) throw unsupported_patch_type();
    throw unsupported_media_type(fmt::format("{}, {}, {}", kJsonPatch, kMergePatch, kApplyPatch));
  }
  request.choose_output({.custom = resource.is_custom()});
  std::vector<FieldError> errors;
  const Query& query = request.url.query;
  if (type != kApplyPatch && query.has("force")) {
    errors.push_back(forbidden_value("force", "may not be specified for non-apply patch"));
  }
  if (type == kApplyPatch && query.text("fieldManager").empty()) {
    errors.push_back(required_value("fieldManager", "is required for apply patch"));
  }
  const WriteOptions options = WriteOptions::parse(query, "PatchOptions", std::move(errors));
  const Written written =
      type == kApplyPatch ? apply_object(request, options) : patch_object(request, options, type);
  return respond(request, written.created ? 201 : 200, written.object);
}

Rest::Written Rest::patch_object(RestRequest& request, const WriteOptions& options,
                                 std::string_view type) {
  const Resource& resource = *request.resource;
  Ref<Value> patch;
  return update_object(
      request, options,
      [&](const Value& live) {
        // Parsed after the look-up: a missing object is reported before a malformed patch.
        if (!patch) {
          patch = parse_patch([&] { return services_.codec.value_from_json(request.http.body); });
        }
        if (type == kMergePatch && patch->is_array()) {
          if (options.field_validation != WriteOptions::FieldValidation::kIgnore) {
            throw bad_request("error decoding patch: an array is no object");
          }
          throw invalid_patch(request.http.body, "it does not leave an object");
        }
        Value patched = type == kJsonPatch    ? json_patch(live, *patch)
                        : type == kMergePatch ? merge_patch(live, *patch)
                                              : strategic_merge(live, *patch, schema_of(resource));
        if (!patched.is_object()) {
          throw invalid_patch(request.http.body, "it does not leave an object");
        }
        check_patched_type(resource, patched, request.http.body);
        std::vector<std::string> unknown;
        try {
          if (resource.is_custom()) {
            if (resource.custom->schema) unknown = resource.custom->schema->prune(patched);
            add_unknown_metadata(patched, unknown);
            patched = normalized(services_.codec, resource, patched);
          } else {
            Value changed = take_changed(live, patched);
            if (resource.schema != nullptr) unknown = unknown_fields(*resource.schema, changed);
            put_back(patched, normalized(services_.codec, resource, changed));
            merge_string_data(resource, patched);
          }
        } catch (const CodecError& error) {
          throw invalid_patch(request.http.body, error.what());
        }
        if (text_of(patched, "apiVersion").empty()) {
          throw internal_error("Object 'apiVersion' is missing");
        }
        DroppedFields dropped{.unknown = std::move(unknown)};
        if (type != kJsonPatch) dropped.duplicate = duplicate_fields(request.http.body);
        report_fields(request, options, dropped, [&](const std::string& problem) {
          return invalid_patch(request.http.body, problem);
        });
        if (metadata_text(patched, "name") != request.name) {
          throw bad_request("a patch may not change the name of the object");
        }
        return patched;
      },
      false, false);
}

Rest::Written Rest::apply_object(RestRequest& request, const WriteOptions& options) {
  const Resource& resource = *request.resource;
  std::vector<std::string> duplicates;
  const Ref<Value> patch = parse_patch([&] { return parse_yaml(request.http.body, duplicates); });
  const Value& config = *patch;
  if (!config.is_object()) throw bad_request("an applied configuration must be an object");
  if (text_of(config, "apiVersion") != resource.api_version()) {
    throw bad_request(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    text_of(config, "apiVersion"), resource.api_version()));
  }
  if (text_of(config, "kind") != resource.kind) {
    throw bad_request(fmt::format("the kind in the data ({}) does not match the expected kind ({})",
                                  text_of(config, "kind"), resource.kind));
  }
  if (!duplicates.empty() && options.field_validation == WriteOptions::FieldValidation::kStrict) {
    throw bad_request(fmt::format("error strict decoding YAML: error converting YAML to JSON: {}",
                                  yaml_error(duplicates)));
  }
  report_fields(request, options, {.yaml_duplicate = std::move(duplicates)}, bad_request);
  if (!config["metadata"].is_absent() && !config["metadata"].is_null() &&
      !config["metadata"].is_object()) {
    throw plain_failure("failed to create typed patch object: .metadata: expected map");
  }
  Value applied = config;
  set_namespace(request, applied);
  if (request.subresource == "status") applied = restrict_to_status(std::move(applied));
  const FieldManager manager = field_manager(services_, request, options);
  return update_object(
      request, options,
      [&](const Value& live) {
        Value next =
            apply_patch(schema_of(resource), live, applied, manager, options.force.value_or(false));
        try {
          next = normalized(services_.codec, resource, next);
          merge_string_data(resource, next);
        } catch (const CodecError& error) {
          throw plain_failure(error.what());
        }
        if (live.is_absent() && !metadata_text(applied, "uid").empty()) {
          throw conflict(resource.group_resource(), request.name,
                         fmt::format("uid mismatch: the provided object specified uid {}, and no "
                                     "existing object was found",
                                     metadata_text(applied, "uid")));
        }
        if (metadata_text(next, "name") != request.name) {
          throw bad_request(
              fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                          metadata_text(next, "name"), request.name));
        }
        if (live.is_absent()) {
          const std::string version = metadata_text(next, "resourceVersion");
          if (!version.empty() && !parse_version(version)) throw malformed_version(version);
        }
        return next;
      },
      request.subresource.empty(), true);
}

}  // namespace kube::testkit::detail
