// SPDX-License-Identifier: Apache-2.0
#include "testkit/rest/object_encoding.hpp"

#include "codec/protobuf_writer.hpp"
#include <kube/codec/envelope.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>

#include <fmt/format.h>

#include "testkit/requests/failures.hpp"
#include "testkit/values/value_text.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::string_view kMetaV1 = R"("apiVersion":"meta.k8s.io/v1")";

/// Replaces the apiVersion of the response by the version that an old client requested.
std::string in_version(std::string json, const Output& output) {
  if (output.transform_version == "v1") return json;
  const std::string wanted = R"("apiVersion":"meta.k8s.io/v1beta1")";
  for (std::size_t at = json.find(kMetaV1); at != std::string::npos;
       at = json.find(kMetaV1, at + wanted.size())) {
    json.replace(at, kMetaV1.size(), wanted);
  }
  return json;
}

std::string list_metadata(const ListPage& page, bool custom) {
  std::string json = "{";
  if (custom) {
    json += "\"continue\":";
    append_json_string(json, page.continue_);
    if (page.remaining) json += fmt::format(",\"remainingItemCount\":{}", *page.remaining);
    json += fmt::format(",\"resourceVersion\":\"{}\"", page.revision);
  } else {
    json += fmt::format("\"resourceVersion\":\"{}\"", page.revision);
    if (!page.continue_.empty()) {
      json += ",\"continue\":";
      append_json_string(json, page.continue_);
    }
    if (page.remaining) json += fmt::format(",\"remainingItemCount\":{}", *page.remaining);
  }
  return json + "}";
}

std::string protobuf_list(std::string_view api_version, std::string_view kind, const ListPage& page,
                          std::span<const StoredObject> objects) {
  meta::v1::ListMeta metadata;
  metadata.resource_version = std::to_string(page.revision);
  metadata.continue_ = page.continue_;
  metadata.remaining_item_count = page.remaining;
  kube::detail::ProtobufWriter out;  // writes backwards
  out.text_field(4, "");
  out.text_field(3, "");
  const std::size_t before_list = out.size();
  for (std::size_t i = objects.size(); i-- > 0;) {
    const std::size_t before = out.size();
    out.message(objects[i].type(), objects[i].data());
    out.close(2, before);
  }
  const std::size_t before_metadata = out.size();
  out.message(type_of<meta::v1::ListMeta>(), reinterpret_cast<const std::byte*>(&metadata));
  out.close(1, before_metadata);
  out.close(2, before_list);
  const std::size_t before_type = out.size();
  out.text_field(2, kind);
  out.text_field(1, api_version);
  out.close(1, before_type);
  out.bytes(kEnvelopeMagic);
  return out.str();
}

}  // namespace

std::string finish_json(const Output& output, std::string json) {
  if (output.format == Format::kYaml) return yaml_text(*parse_json(json));
  if (output.pretty) return indent_json(json);
  json.push_back('\n');
  return json;
}

std::string encode_as(const Output& output, const Type& type, const std::byte* value) {
  if (output.format == Format::kProtobuf) {
    return kube::detail::encode_protobuf(type, value, kube::detail::Wrapping::kEnvelope);
  }
  return finish_json(output, kube::detail::encode_json(type, value));
}

StoredObject ObjectEncoder::partial(const StoredObject& object) const {
  const Type& type = type_of<meta::v1::PartialObjectMetadata>();
  if (const meta::v1::ObjectMeta* metadata = object.metadata()) {
    const meta::v1::PartialObjectMetadata whole{.metadata = *metadata};
    return {type, kube::detail::freeze_value(type, reinterpret_cast<const std::byte*>(&whole))};
  }
  return codec_.from_value(type, partial_metadata(*object.value()));
}

std::string ObjectEncoder::table(Value metadata, const std::vector<StoredObject>& objects,
                                 IncludeObject include, bool columns) const {
  // Kinds without a specific printer have null instead of an empty list of rows.
  const bool plain = resource_.printer->columns()[1]["name"] == Value{"Created At"};
  Value rows = objects.empty() && plain ? Value{nullptr} : Value::array();
  for (const StoredObject& object : objects) {
    rows.push_back(resource_.printer->row(*object.value(), include, now_));
  }
  const Value table =
      make_table(std::move(metadata), columns ? resource_.printer->columns() : Value{nullptr},
                 std::move(rows));
  const StoredObject typed = codec_.from_value(type_of<meta::v1::Table>(), table);
  return in_version(typed.json(), output_);
}

std::string ObjectEncoder::object(const StoredObject& object) const {
  switch (output_.transform) {
    case Transform::kTable:
      return finish_json(
          output_,
          table(Value::object({{"resourceVersion", object.field_text("metadata.resourceVersion")}}),
                {object}, include_, true));
    case Transform::kPartial: {
      const StoredObject metadata = partial(object);
      if (output_.format == Format::kProtobuf) return metadata.protobuf();
      return finish_json(output_, in_version(metadata.json(), output_));
    }
    case Transform::kPartialList:
      if (resource_.is_custom()) throw plain_failure("content is not a list");
      throw not_acceptable(
          "application/json, application/yaml, application/vnd.kubernetes.protobuf");
    default:
      return encode_as(output_, object.type(), object.data());
  }
}

std::string ObjectEncoder::list(const ListPage& page) const {
  if (output_.transform == Transform::kPartial) {
    throw not_acceptable("application/json, application/yaml, application/vnd.kubernetes.protobuf");
  }
  if (output_.transform == Transform::kTable) {
    const Ref<Value> metadata = parse_json(list_metadata(page, false));
    return finish_json(output_, table(*metadata, page.objects, include_, true));
  }
  if (output_.transform == Transform::kPartialList) {
    std::vector<StoredObject> objects;
    for (const StoredObject& object : page.objects) objects.push_back(partial(object));
    if (output_.format == Format::kProtobuf) {
      return protobuf_list("meta.k8s.io/v1", "PartialObjectMetadataList", page, objects);
    }
    std::string json =
        R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":)" +
        list_metadata(page, false) + ",\"items\":";
    if (objects.empty()) return finish_json(output_, in_version(json + "null}", output_));
    json.push_back('[');
    for (const StoredObject& object : objects) {
      if (json.back() != '[') json.push_back(',');
      json += object.json();
    }
    return finish_json(output_, in_version(json + "]}", output_));
  }
  if (output_.format == Format::kProtobuf) {
    return protobuf_list(resource_.api_version(), resource_.list_kind, page, page.objects);
  }
  const bool custom = resource_.is_custom();
  std::string json =
      custom
          ? fmt::format(R"({{"apiVersion":"{}","items":[)", resource_.api_version())
          : fmt::format(R"({{"kind":"{}","apiVersion":"{}","metadata":{},"items":[)",
                        resource_.list_kind, resource_.api_version(), list_metadata(page, false));
  for (const StoredObject& object : page.objects) {
    if (json.back() != '[') json.push_back(',');
    object.append_item(json);
  }
  json += custom ? fmt::format(R"(],"kind":"{}","metadata":{}}})", resource_.list_kind,
                               list_metadata(page, true))
                 : "]}";
  return finish_json(output_, std::move(json));
}

std::string ObjectEncoder::event_object(const StoredObject& object, bool columns) const {
  switch (output_.transform) {
    case Transform::kTable:
      return table(
          Value::object({{"resourceVersion", object.field_text("metadata.resourceVersion")}}),
          {object}, include_, columns);
    case Transform::kPartial: {
      const StoredObject metadata = partial(object);
      return output_.format == Format::kProtobuf ? metadata.protobuf()
                                                 : in_version(metadata.json(), output_);
    }
    default:
      return output_.format == Format::kProtobuf ? object.protobuf() : object.json();
  }
}

std::string ObjectEncoder::bookmark(std::uint64_t revision, bool initial_events_end,
                                    bool columns) const {
  Value metadata = Value::object({{"resourceVersion", std::to_string(revision)}});
  if (initial_events_end) {
    metadata["annotations"] = Value::object({{"k8s.io/initial-events-end", "true"}});
  }
  Value object = Value::object({{"kind", resource_.kind}, {"apiVersion", resource_.api_version()}});
  const std::string id = resource_.id();
  if (id == "deployments.apps" || id == "replicasets.apps" || id == "statefulsets.apps") {
    object["spec"]["replicas"] = 0;
  } else if (id == "daemonsets.apps") {
    metadata["annotations"]["deprecated.daemonset.template.generation"] = "0";
  }
  object["metadata"] = std::move(metadata);
  const StoredObject empty = codec_.from_value(*resource_.type, object);
  if (output_.transform == Transform::kTable) {
    return table(Value::object({{"resourceVersion", std::to_string(revision)}}), {empty},
                 initial_events_end && include_ == IncludeObject::kNone ? IncludeObject::kMetadata
                                                                        : include_,
                 columns);
  }
  return event_object(empty, columns);
}

std::string watch_frame(Format format, std::string_view type, std::string_view object) {
  if (format != Format::kProtobuf) {
    std::string frame;
    frame.reserve(object.size() + 40);
    frame.append("{\"type\":\"").append(type).append("\",\"object\":");
    frame.append(object).append("}\n");
    return frame;
  }
  kube::detail::ProtobufWriter out;
  out.text_field(1, object);
  out.close(2, 0);
  out.text_field(1, type);
  std::string frame(4, '\0');
  for (int i = 0; i < 4; ++i) {
    frame[static_cast<std::size_t>(i)] = static_cast<char>(out.size() >> (8 * (3 - i)));
  }
  return frame.append(out.view());
}

}  // namespace kube::testkit::detail
