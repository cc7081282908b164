// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/box.hpp>
#include <kube/object/list.hpp>
#include <kube/object/map.hpp>
#include <kube/object/type.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace kube {

namespace detail {

/// True if a member of type Small can replace one of type Full: the same type, or a struct for a
/// struct.
template <typename Small, typename Full>
inline constexpr bool kStandsFor = std::same_as<Small, Full> || (requires {
                                     Small::kube_type;
                                     Full::kube_type;
                                   });
template <typename Small, typename Full>
inline constexpr bool kStandsFor<Box<Small>, Box<Full>> = kStandsFor<Small, Full>;
template <typename Small, typename Full>
inline constexpr bool kStandsFor<List<Small>, List<Full>> = kStandsFor<Small, Full>;
template <typename Small, typename Full>
inline constexpr bool kStandsFor<Map<Small>, Map<Full>> = kStandsFor<Small, Full>;

template <typename Struct, typename Member>
[[nodiscard]] std::size_t offset_of(Member Struct::*member) {
  const Struct example{};
  return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&(example.*member)) -
                                  reinterpret_cast<const std::byte*>(&example));
}

/// A member of the full type that the slim type keeps.
struct KeptField {
  const Type* type;
  std::size_t offset;
  std::size_t full_offset;
};

/// Throws std::logic_error if a field is kept twice.
[[nodiscard]] Type slim_type(const Type& full, std::size_t size,
                             const std::vector<KeptField>& fields);

}  // namespace detail

/// One entry of slim(): `mine` is a member of the slim struct, `full` the corresponding member of
/// the full one.
template <typename Slim, typename SlimMember, typename Full, typename FullMember>
struct Keep {
  SlimMember Slim::*mine;
  FullMember Full::*full;
};
/// Pairs a member of the slim struct with the member of the full struct that it is read from.
template <typename Slim, typename SlimMember, typename Full, typename FullMember>
[[nodiscard]] constexpr Keep<Slim, SlimMember, Full, FullMember> keep(SlimMember Slim::*mine,
                                                                      FullMember Full::*full) {
  static_assert(
      detail::kStandsFor<SlimMember, FullMember>,
      "a member of a slim type has the type of the full one, or a slim struct instead of a struct");
  return {mine, full};
}

/// Describes a struct that has some fields of another one, for programs that need a few fields of
/// very many objects. JSON names, protobuf numbers and the field order are those of the full type;
/// all other fields are skipped.
///
///   struct PodPlace {
///     kube::String node_name;
///     static const kube::Type kube_type;
///   };
///   inline const kube::Type PodPlace::kube_type =
///       kube::slim(kube::keep(&PodPlace::node_name, &kube::core::v1::PodSpec::node_name));
///
/// A slim API object has a `metadata` with a `name`, and declares its resource:
///
/// `static constexpr const kube::ResourceInfo& kube_resource = kube::core::v1::Pod::kube_resource;`
///
/// The descriptor is initialised dynamically, before main(); do not decode earlier. Describe inner
/// structs first.
template <typename Slim, typename Full, typename... SlimMembers, typename... FullMembers>
[[nodiscard]] Type slim(const Keep<Slim, SlimMembers, Full, FullMembers>&... kept) {
  return detail::slim_type(
      type_of<Full>(), sizeof(Slim),
      {{&type_of<SlimMembers>(), detail::offset_of(kept.mine), detail::offset_of(kept.full)}...});
}

}  // namespace kube
