// SPDX-License-Identifier: Apache-2.0
// Decoding of request bodies.
#include "testkit/rest/body.hpp"

#include <kube/codec/base64.hpp>
#include <kube/codec/envelope.hpp>
#include <kube/codec/error.hpp>

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "testkit/requests/failures.hpp"
#include "testkit/values/duplicate_fields.hpp"
#include "testkit/values/value_text.hpp"

namespace kube::testkit::detail {

namespace {

/// The kind of a custom resource is checked by refuse_invalid(), with the rest of the object.
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

/// Returns the member in which a resource keeps bytes by name; null if it has none.
const char* bytes_member(const Resource& resource) {
  const std::string id = resource.id();
  return id == "secrets" ? "data" : id == "configmaps" ? "binaryData" : nullptr;
}

/// Bytes may also be written as a list of numbers. Returns nullopt if there are none.
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

ApiError undecodable(const Resource& resource, std::string_view why) {
  return bad_request(fmt::format("{0} in version \"{1}\" cannot be handled as a {0}: {2}",
                                 resource.kind, resource.version, why));
}

/// Requires MicroTime values with a fraction to have exactly six digits (BK-2).
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

std::string yaml_error(const std::vector<std::string>& duplicates) {
  return fmt::format("yaml: unmarshal errors:\n  {}", fmt::join(duplicates, "\n  "));
}

void report_fields(RestRequest& request, const WriteOptions& options, const DroppedFields& dropped,
                   const std::function<ApiError(const std::string&)>& refuse,
                   std::string_view json) {
  if (options.field_validation == WriteOptions::FieldValidation::kIgnore) return;
  const bool is_strict = options.field_validation == WriteOptions::FieldValidation::kStrict;
  std::vector<std::pair<std::string, std::string>> found;
  for (const std::string& field : dropped.duplicate) {
    found.emplace_back(field, fmt::format("duplicate field \"{}\"", field));
  }
  for (const std::string& field : dropped.unknown) {
    found.emplace_back(field, fmt::format("unknown field \"{}\"", field));
  }
  if (found.empty() && dropped.yaml_duplicate.empty()) return;
  if (found.size() > 1 && !json.empty()) sort_by_place(json, found);
  std::vector<std::string> problems;
  if (!is_strict) {
    problems = dropped.yaml_duplicate;
  } else if (!dropped.yaml_duplicate.empty()) {
    problems.push_back(yaml_error(dropped.yaml_duplicate));
  }
  for (auto& [field, text] : found) problems.push_back(std::move(text));
  if (is_strict) {
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
    // An empty list is dropped from typed objects, but here it is significant (SA-7).
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

void merge_string_data(const Resource& resource, Value& object) {
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
      Value object = *services_.codec.from_any_protobuf(*as.type, body).value();
      canonicalize_quantities(*as.type, object);
      merge_string_data(as, object);
      return object;
    }
    DroppedFields dropped;
    const bool is_yaml = format == Format::kYaml;
    json = is_yaml ? json_text(*parse_yaml(body, dropped.yaml_duplicate)) : body;
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
    // The apiVersion of the type, which may serve several versions of the same form.
    const bool known = !as.is_custom() && !as.type->api_version.empty();
    object["apiVersion"] = known ? std::string{as.type->api_version} : as.api_version();
    if (!as.is_custom()) object["kind"] = as.kind;
    if (as.is_custom()) {
      if (as.custom->schema) dropped.unknown = as.custom->schema->prune(object);
      add_unknown_metadata(object, dropped.unknown);
    } else if (as.schema != nullptr &&
               options.field_validation != WriteOptions::FieldValidation::kIgnore) {
      dropped.unknown = unknown_fields(*as.schema, object);
    }
    object = normalized(services_.codec, as, object);
    merge_string_data(as, object);
    if (!is_yaml) dropped.duplicate = duplicate_fields(json);
    report_fields(
        request, options, dropped,
        [&](const std::string& problem) { return undecodable(as, problem); }, json);
    if (as.is_custom() && as.custom->schema) as.custom->schema->apply_defaults(object);
    return object;
  } catch (const CodecError& error) {
    throw undecodable(as, error.what());
  }
}

}  // namespace kube::testkit::detail
