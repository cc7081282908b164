// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/map.hpp>
#include <kube/object/operations.hpp>
#include <kube/object/value.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace kube::detail {

/// Functions that read the metadata of a type-erased object. Returned views point into the object.
struct ObjectAccess {
  using SeeLabel = std::function<void(std::string_view key, std::string_view value)>;

  const Type* type;
  std::string_view (*name)(const void* object);
  std::string_view (*namespace_)(const void* object);
  std::string_view (*resource_version)(const void* object);
  std::string_view (*uid)(const void* object);
  std::optional<std::string_view> (*label)(const void* object, std::string_view key);
  void (*each_label)(const void* object, const SeeLabel& see);
  /// True only if both objects share the memory of their labels, so the labels are certainly equal.
  bool (*share_labels)(const void* a, const void* b);
  std::optional<std::string_view> (*annotation)(const void* object, std::string_view key);
  /// For objects that carry their kind (Value); empty for types whose kind is known statically.
  std::string_view (*kind)(const void* object);
  std::string_view (*api_version)(const void* object);

  /// Returns "namespace/name", or "name" without a namespace.
  [[nodiscard]] std::string key(const void* object) const {
    const std::string_view space = namespace_(object);
    std::string text{space};
    if (!space.empty()) text += '/';
    return text += name(object);
  }
  [[nodiscard]] bool equal(const void* a, const void* b) const noexcept {
    return equal_values(*type, static_cast<const std::byte*>(a), static_cast<const std::byte*>(b));
  }
  /// True if both are the same state of the same object. An object without a version (a transform
  /// may have cleared it) never equals another.
  [[nodiscard]] bool same_version(const void* a, const void* b) const {
    const std::string_view version = resource_version(a);
    return !version.empty() && version == resource_version(b) && uid(a) == uid(b);
  }
};

/// Returns whether a type has `metadata.<name>`, in JSON's spelling. Small, hand-written types may
/// not.
[[nodiscard]] bool has_metadata(const Type& type, std::string_view name) noexcept;

/// The labels of an object, in the form that labels::Selector::matches() reads.
struct LabelsOf {
  const ObjectAccess& access;
  const void* object;
  [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const {
    return access.label(object, key);
  }
};

/// Reads the members of T::metadata. Members that a small, hand-written T does not have are empty.
template <typename T>
struct Accessor {
  static const T& of(const void* object) { return *static_cast<const T*>(object); }

  static std::string_view name(const void* object) { return of(object).metadata.name.view(); }
  static std::string_view namespace_(const void* object) {
    if constexpr (requires { of(object).metadata.namespace_; }) {
      return of(object).metadata.namespace_.view();
    }
    return {};
  }
  static std::string_view resource_version(const void* object) {
    if constexpr (requires { of(object).metadata.resource_version; }) {
      return of(object).metadata.resource_version.view();
    }
    return {};
  }
  static std::string_view uid(const void* object) {
    if constexpr (requires { of(object).metadata.uid; }) return of(object).metadata.uid.view();
    return {};
  }
  static std::optional<std::string_view> label(const void* object, std::string_view key) {
    if constexpr (requires { of(object).metadata.labels; }) {
      if (const String* value = of(object).metadata.labels.find(key)) return value->view();
    }
    return std::nullopt;
  }
  static void each_label(const void* object, const ObjectAccess::SeeLabel& see) {
    if constexpr (requires { of(object).metadata.labels; }) {
      for (const auto& [key, value] : of(object).metadata.labels) see(key.view(), value.view());
    }
  }
  static bool share_labels(const void* a, const void* b) {
    if constexpr (requires { of(a).metadata.labels; }) {
      return of(a).metadata.labels.begin() == of(b).metadata.labels.begin();
    }
    return true;
  }
  static std::optional<std::string_view> annotation(const void* object, std::string_view key) {
    if constexpr (requires { of(object).metadata.annotations; }) {
      if (const String* value = of(object).metadata.annotations.find(key)) return value->view();
    }
    return std::nullopt;
  }
  static std::string_view kind(const void* /*object*/) { return {}; }
  static std::string_view api_version(const void* /*object*/) { return {}; }
};

/// Reads any JSON document. A member that is missing or not a string is empty.
template <>
struct Accessor<Value> {
  static std::string_view text(const Value& value) {
    return value.is_string() ? value.as_string() : std::string_view{};
  }
  static const Value& root(const void* object) { return *static_cast<const Value*>(object); }
  static const Value& metadata(const void* object) { return root(object)["metadata"]; }
  static std::optional<std::string_view> entry(const Value& map, std::string_view key) {
    const Value& value = map[key];
    return value.is_string() ? std::optional{value.as_string()} : std::nullopt;
  }

  static std::string_view name(const void* object) { return text(metadata(object)["name"]); }
  static std::string_view namespace_(const void* object) {
    return text(metadata(object)["namespace"]);
  }
  static std::string_view resource_version(const void* object) {
    return text(metadata(object)["resourceVersion"]);
  }
  static std::string_view uid(const void* object) { return text(metadata(object)["uid"]); }
  static std::optional<std::string_view> label(const void* object, std::string_view key) {
    return entry(metadata(object)["labels"], key);
  }
  static void each_label(const void* object, const ObjectAccess::SeeLabel& see) {
    const Value& labels = metadata(object)["labels"];
    if (!labels.is_object()) return;
    for (const auto& [key, value] : labels.as_object()) {
      if (value.is_string()) see(key.view(), value.as_string());
    }
  }
  static bool share_labels(const void* a, const void* b) { return a == b; }
  static std::optional<std::string_view> annotation(const void* object, std::string_view key) {
    return entry(metadata(object)["annotations"], key);
  }
  static std::string_view kind(const void* object) { return text(root(object)["kind"]); }
  static std::string_view api_version(const void* object) {
    return text(root(object)["apiVersion"]);
  }
};

template <typename T>
inline const ObjectAccess kObjectAccess{
    &type_of<T>(),
    &Accessor<T>::name,
    &Accessor<T>::namespace_,
    &Accessor<T>::resource_version,
    &Accessor<T>::uid,
    &Accessor<T>::label,
    &Accessor<T>::each_label,
    &Accessor<T>::share_labels,
    &Accessor<T>::annotation,
    &Accessor<T>::kind,
    &Accessor<T>::api_version,
};

}  // namespace kube::detail
