// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/list.hpp>
#include <kube/object/string.hpp>
#include <kube/object/type.hpp>

#include <string>
#include <string_view>

namespace kube {

struct LeafOperations;

/// An encoded object of any type: its JSON, unchanged, or unset. (In protobuf it may contain
/// another format, and then has no JSON form.)
class RawExtension {
 public:
  RawExtension() noexcept = default;
  explicit RawExtension(std::string_view json) : raw_(json) {}

  [[nodiscard]] std::string_view raw() const noexcept { return raw_.view(); }
  [[nodiscard]] bool is_set() const noexcept { return !raw_.empty(); }
  explicit operator bool() const noexcept { return is_set(); }
  friend bool operator==(const RawExtension& a, const RawExtension& b) noexcept = default;

 private:
  String raw_;
};

/// Any JSON value, unchanged; unset is null.
class Json {
 public:
  Json() noexcept = default;
  explicit Json(std::string_view json) : raw_(json) {}

  [[nodiscard]] std::string_view raw() const noexcept { return raw_.view(); }
  [[nodiscard]] bool is_set() const noexcept { return !raw_.empty(); }
  explicit operator bool() const noexcept { return is_set(); }
  friend bool operator==(const Json& a, const Json& b) noexcept = default;

 private:
  String raw_;
};

/// The set of fields that a field manager owns, as JSON. It is stored in pieces: the part that
/// differs between pods (the IP address that the kubelet reports) is a piece of its own, so that
/// the long remainder can be shared.
class FieldsV1 {
 public:
  FieldsV1() noexcept = default;
  explicit FieldsV1(std::string_view json);

  [[nodiscard]] std::string str() const;
  [[nodiscard]] bool is_set() const noexcept { return !pieces_.empty(); }
  explicit operator bool() const noexcept { return is_set(); }
  friend bool operator==(const FieldsV1& a, const FieldsV1& b) noexcept = default;

 private:
  List<String> pieces_;
};

namespace detail {
extern const LeafOperations kRawExtensionOperations;
extern const LeafOperations kJsonOperations;
extern const LeafOperations kFieldsV1Operations;
template <>
inline constexpr bool kStoredInline<RawExtension> = true;
template <>
inline constexpr bool kStoredInline<Json> = true;
template <>
inline constexpr bool kStoredInline<FieldsV1> = true;

inline constexpr Type kRawExtensionType{.kind = Kind::kLeaf,
                                        .size = 8,
                                        .name = "object",
                                        .element = &kStringType,
                                        .leaf = &kRawExtensionOperations};
inline constexpr Type kJsonType{.kind = Kind::kLeaf,
                                .size = 8,
                                .name = "value",
                                .element = &kStringType,
                                .leaf = &kJsonOperations};
inline constexpr Type kFieldsV1Type{.kind = Kind::kLeaf,
                                    .size = 8,
                                    .name = "set of fields",
                                    .element = &kListType<String>,
                                    .leaf = &kFieldsV1Operations};
}  // namespace detail

template <>
struct TypeOf<RawExtension> {
  static constexpr const Type& value = detail::kRawExtensionType;
};
template <>
struct TypeOf<Json> {
  static constexpr const Type& value = detail::kJsonType;
};
template <>
struct TypeOf<FieldsV1> {
  static constexpr const Type& value = detail::kFieldsV1Type;
};

}  // namespace kube
