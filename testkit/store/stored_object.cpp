// SPDX-License-Identifier: Apache-2.0
#include "testkit/store/stored_object.hpp"

#include <kube/codec/decoder.hpp>
#include <kube/codec/envelope.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/operations.hpp>

#include <cstring>
#include <optional>
#include <utility>

namespace kube::testkit::detail {

namespace {

constexpr std::size_t kIdleDecoders = 2;

const Field* find_field(const Type& type, std::string_view name) {
  for (const Field& field : type.fields) {
    if (field.name() == name) return &field;
  }
  return nullptr;
}

/// Label look-up in a dynamic object, for selectors.
struct DynamicLabels {
  const Value& labels;
  [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const {
    const Value& value = labels[key];
    if (!value.is_string()) return std::nullopt;
    return value.as_string();
  }
};

std::string scalar_text(const Type& type, const std::byte* at) {
  switch (type.kind) {
    case Kind::kBool:
      return *reinterpret_cast<const bool*>(at) ? "true" : "false";
    case Kind::kOptionalBool: {
      const auto& flag = *reinterpret_cast<const std::optional<bool>*>(at);
      return flag.value_or(false) ? "true" : "false";
    }
    case Kind::kInt32:
      return std::to_string(*reinterpret_cast<const std::int32_t*>(at));
    case Kind::kInt64:
      return std::to_string(*reinterpret_cast<const std::int64_t*>(at));
    case Kind::kOptionalInt32: {
      const auto& number = *reinterpret_cast<const std::optional<std::int32_t>*>(at);
      return std::to_string(number.value_or(0));
    }
    case Kind::kString:
      return reinterpret_cast<const String*>(at)->str();
    case Kind::kOptionalString:
      return std::string{reinterpret_cast<const OptionalString*>(at)->value_or("")};
    default:
      return {};
  }
}

std::string scalar_text(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kString:
      return std::string{value.as_string()};
    case Value::Kind::kBool:
      return value.as_bool() ? "true" : "false";
    case Value::Kind::kInteger:
      return std::to_string(value.as_integer());
    default:
      return {};
  }
}

}  // namespace

const meta::v1::ObjectMeta* StoredObject::metadata() const noexcept {
  if (!*this || is_dynamic()) return nullptr;
  const Field* field = find_field(*type_, "metadata");
  if (field == nullptr || field->type != &type_of<meta::v1::ObjectMeta>()) return nullptr;
  return reinterpret_cast<const meta::v1::ObjectMeta*>(data() + field->offset);
}

std::string StoredObject::metadata_text(std::string_view field) const {
  if (is_dynamic()) return scalar_text(dynamic()["metadata"][field]);
  const meta::v1::ObjectMeta* meta = metadata();
  if (meta == nullptr) return {};
  if (field == "name") return meta->name.str();
  if (field == "namespace") return meta->namespace_.str();
  if (field == "uid") return meta->uid.str();
  if (field == "deletionTimestamp") return meta->deletion_timestamp.str();
  return field_text("metadata." + std::string{field});
}

bool StoredObject::matches(const labels::Selector& selector) const {
  if (selector.matches_everything()) return true;
  if (is_dynamic()) return selector.matches(DynamicLabels{dynamic()["metadata"]["labels"]});
  const meta::v1::ObjectMeta* meta = metadata();
  return meta != nullptr && selector.matches(meta->labels);
}

std::string StoredObject::field_text(std::string_view path) const {
  if (is_dynamic()) {
    const Value* at = &dynamic();
    while (!path.empty()) {
      const std::string_view name = path.substr(0, path.find('.'));
      path.remove_prefix(std::min(path.size(), name.size() + 1));
      at = &(*at)[name];
    }
    return scalar_text(*at);
  }
  const Type* type = type_;
  const std::byte* at = data();
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    if (type->kind == Kind::kBox) {
      at = kube::detail::boxed(*reinterpret_cast<const kube::detail::Word*>(at));
      type = type->element;
    }
    const Field* field = at == nullptr ? nullptr : find_field(*type, name);
    if (field == nullptr) return {};
    at += field->offset;
    type = field->type;
  }
  return scalar_text(*type, at);
}

bool StoredObject::same_content(const StoredObject& other) const noexcept {
  return type_ == other.type_ && nulls == other.nulls &&
         kube::detail::equal_values(*type_, data(), other.data());
}

std::string StoredObject::json() const { return kube::detail::encode_json(*type_, data()); }

void StoredObject::append_item(std::string& out) const {
  kube::detail::JsonWriter writer{out};
  if (is_dynamic()) {
    writer.value(*type_, data());
  } else {
    writer.item(*type_, data());
  }
}

std::string StoredObject::protobuf() const {
  return kube::detail::encode_protobuf(*type_, data(), kube::detail::Wrapping::kEnvelope);
}

Ref<Value> StoredObject::value() const {
  if (is_dynamic()) return Ref<Value>{data_, &dynamic()};
  return decode_json<Value>(json());
}

ObjectCodec::ObjectCodec() = default;
ObjectCodec::~ObjectCodec() = default;

template <typename Use>
auto ObjectCodec::with_decoder(const Type& type, Use use) {
  std::unique_ptr<kube::detail::DecoderCore> decoder;
  {
    const std::lock_guard lock{mutex_};
    auto& idle = idle_[&type];
    idle.reserve(kIdleDecoders);  // returning a decoder must not allocate
    if (!idle.empty()) {
      decoder = std::move(idle.back());
      idle.pop_back();
    }
  }
  if (decoder == nullptr) {
    decoder = std::make_unique<kube::detail::DecoderCore>(type, DecoderOptions{.sibling_bytes = 0});
  }
  kube::detail::Block* const result = use(*decoder);
  const std::lock_guard lock{mutex_};
  const auto idle = idle_.find(&type);
  if (idle != idle_.end() && idle->second.size() < idle->second.capacity()) {
    idle->second.push_back(std::move(decoder));
  }
  return result;
}

StoredObject ObjectCodec::from_json(const Type& type, std::string_view json) {
  return {type, with_decoder(type, [&](auto& decoder) { return decoder.json(json, 0); })};
}

StoredObject ObjectCodec::from_protobuf(const Type& type, std::string_view bytes) {
  return {type, with_decoder(type, [&](auto& decoder) { return decoder.enveloped(bytes, 0); })};
}

StoredObject ObjectCodec::from_any_protobuf(const Type& type, std::string_view bytes) {
  const std::string_view message = open_envelope(bytes).raw;
  return {type, with_decoder(type, [&](auto& decoder) { return decoder.protobuf(message, 0); })};
}

StoredObject ObjectCodec::from_value(const Type& type, const Value& value) {
  if (type.kind == Kind::kValue) {
    return {type, kube::detail::freeze_value(type, reinterpret_cast<const std::byte*>(&value))};
  }
  return from_json(type, encode_json(value));
}

Ref<Value> ObjectCodec::value_from_json(std::string_view json) {
  return from_json(type_of<Value>(), json).value();
}

StoredObject ObjectCodec::with_revision(StoredObject object, std::uint64_t revision) {
  const std::string digits = std::to_string(revision);
  const auto place = [&]() -> std::string_view {
    if (object.is_dynamic()) {
      const Value& text = object.dynamic()["metadata"]["resourceVersion"];
      return text.is_string() ? text.as_string() : std::string_view{};
    }
    const meta::v1::ObjectMeta* meta = object.metadata();
    return meta == nullptr ? std::string_view{} : meta->resource_version.view();
  }();
  object.revision_ = revision;
  // A version of the same length is written in place: the block is not shared yet.
  if (place.size() == digits.size() && object.data_.use_count() == 1) {
    std::memcpy(const_cast<char*>(place.data()), digits.data(), digits.size());
    return object;
  }
  const Type& type = object.type();
  const std::unique_ptr<std::byte[]> memory{new std::byte[type.size]()};
  const struct Guard {
    const Type& type;
    std::byte* value;
    ~Guard() { kube::detail::destroy_value(type, value); }
  } guard{type, memory.get()};
  kube::detail::copy_value(type, memory.get(), object.data());
  if (object.is_dynamic()) {
    (*reinterpret_cast<Value*>(memory.get()))["metadata"]["resourceVersion"] = digits;
  } else if (object.metadata() != nullptr) {
    const auto offset = static_cast<std::size_t>(
        reinterpret_cast<const std::byte*>(object.metadata()) - object.data());
    reinterpret_cast<meta::v1::ObjectMeta*>(memory.get() + offset)->resource_version = digits;
  }
  StoredObject copy{type, kube::detail::freeze_value(type, memory.get())};
  copy.revision_ = revision;
  copy.schema_id = object.schema_id;
  copy.nulls = object.nulls;
  return copy;
}

}  // namespace kube::testkit::detail
