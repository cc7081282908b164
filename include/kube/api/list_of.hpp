// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/meta/v1.hpp>
#include <kube/object/list.hpp>
#include <kube/object/type.hpp>

#include <array>
#include <cstddef>

namespace kube {

/// A list of objects as an API server returns it. `PodList` is `ListOf<Pod>`.
template <typename T>
struct ListOf {
  meta::v1::ListMeta metadata;
  List<T> items;

  /// The descriptor for codecs and comparisons; see Type.
  static const Type kube_type;
  friend bool operator==(const ListOf& a, const ListOf& b) noexcept { return deep_equal(a, b); }
};

namespace detail {
template <typename T>
inline constexpr std::array<Field, 2> kListOfFields{
    Field{"metadata", type_of<meta::v1::ListMeta>(), offsetof(ListOf<T>, metadata)},
    Field{"items", type_of<List<T>>(), offsetof(ListOf<T>, items)}};
inline constexpr std::array<ProtoField, 2> kListOfProto{ProtoField{1, 0}, ProtoField{2, 1}};
}  // namespace detail

template <typename T>
constinit const Type ListOf<T>::kube_type{
    .kind = Kind::kStruct,
    .flags = Type::kHasTypeMeta | Type::kIsList | Type::kVolatile,
    .size = sizeof(ListOf<T>),
    .name = T::kube_resource.list_kind,
    .fields = detail::kListOfFields<T>,
    .proto = detail::kListOfProto,
    .api_version = T::kube_type.api_version};

}  // namespace kube
