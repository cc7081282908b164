// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/labels.hpp>
#include <kube/api/meta/v1.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kube::detail {
class DecoderCore;
}

namespace kube::testkit::detail {

/// One immutable state of an object in the store: a block of a built-in type, or a Value for custom
/// resources. Null by default. Copies share the block.
class StoredObject {
 public:
  StoredObject() = default;
  StoredObject(const Type& type, kube::detail::Block* block)
      : type_(&type), data_(kube::detail::ref_to_root<std::byte>(block)) {}

  explicit operator bool() const noexcept { return data_.get() != nullptr; }
  [[nodiscard]] const Type& type() const noexcept { return *type_; }
  [[nodiscard]] const std::byte* data() const noexcept { return data_.get(); }
  [[nodiscard]] bool is_dynamic() const noexcept { return type_->kind == Kind::kValue; }
  [[nodiscard]] const Value& dynamic() const noexcept {
    return *reinterpret_cast<const Value*>(data());
  }

  /// Returns the object as its built-in type, sharing the block; null if it is of another type.
  template <typename T>
  [[nodiscard]] Ref<T> as() const noexcept {
    if (type_ != &type_of<T>()) return nullptr;
    return Ref<T>{data_, reinterpret_cast<const T*>(data_.get())};
  }

  /// Returns the version of the last write; 0 before the object is stored.
  [[nodiscard]] std::uint64_t revision() const noexcept { return revision_; }
  /// The schema that a custom resource was last validated with.
  std::uint32_t schema_id = 0;
  /// A hash of the members that were written as null and are read as an empty text; 0 if there are
  /// none (RV-2).
  std::uint32_t nulls = 0;

  /// Returns the metadata of a built-in type, or null.
  [[nodiscard]] const meta::v1::ObjectMeta* metadata() const noexcept;
  /// Returns a string field of the metadata: "name", "uid", "deletionTimestamp".
  [[nodiscard]] std::string metadata_text(std::string_view field) const;
  [[nodiscard]] bool matches(const labels::Selector& selector) const;
  /// Returns the field as text for a field selector; empty if unset.
  [[nodiscard]] std::string field_text(std::string_view path) const;
  /// Returns whether both have the same type and content.
  [[nodiscard]] bool same_content(const StoredObject& other) const noexcept;

  /// Returns JSON with kind and apiVersion.
  [[nodiscard]] std::string json() const;
  /// Appends the JSON of a list item: without kind and apiVersion for built-in kinds (CT-7).
  void append_item(std::string& out) const;
  /// Returns protobuf in its envelope. Built-in types only.
  [[nodiscard]] std::string protobuf() const;
  [[nodiscard]] Ref<Value> value() const;

 private:
  friend class ObjectCodec;

  const Type* type_ = nullptr;
  Ref<std::byte> data_;
  std::uint64_t revision_ = 0;
};

/// Creates stored objects. Pools decoders.
/// Thread safety: all methods, from any thread.
class ObjectCodec {
 public:
  ObjectCodec();
  ~ObjectCodec();

  /// Throws CodecError.
  [[nodiscard]] StoredObject from_json(const Type& type, std::string_view json);
  /// Decodes a protobuf object in its envelope. Throws CodecError.
  [[nodiscard]] StoredObject from_protobuf(const Type& type, std::string_view bytes);
  /// Does the same for any kind and version in the envelope.
  [[nodiscard]] StoredObject from_any_protobuf(const Type& type, std::string_view bytes);
  [[nodiscard]] StoredObject from_value(const Type& type, const Value& value);
  [[nodiscard]] Ref<Value> value_from_json(std::string_view json);

  /// Returns the object with that version in its metadata. May modify `object` in place if its
  /// block is not shared.
  [[nodiscard]] StoredObject with_revision(StoredObject object, std::uint64_t revision);

 private:
  template <typename Use>
  auto with_decoder(const Type& type, Use use);

  std::mutex mutex_;
  // Guarded by mutex_:
  std::unordered_map<const Type*, std::vector<std::unique_ptr<kube::detail::DecoderCore>>> idle_;
};

}  // namespace kube::testkit::detail
