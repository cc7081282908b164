// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/meta/v1.hpp>
#include <kube/object/value.hpp>

#include <concepts>
#include <string_view>

// Types of some subresources. Code that calls those functions includes the header of the type.
namespace kube::authentication::v1 {
struct TokenRequest;
}
namespace kube::autoscaling::v1 {
struct Scale;
}
namespace kube::core::v1 {
struct Binding;
}
namespace kube::policy::v1 {
struct Eviction;
}

namespace kube::detail {

template <typename T>
[[nodiscard]] std::string_view name_of(const T& object) {
  return object.metadata.name.view();
}
[[nodiscard]] inline std::string_view name_of(const Value& object) {
  const Value& name = object["metadata"]["name"];
  return name.is_string() ? name.as_string() : std::string_view{};
}
template <typename T>
[[nodiscard]] std::string_view version_of(const void* object) {
  const T& typed = *static_cast<const T*>(object);
  if constexpr (std::same_as<T, Value>) {
    const Value& version = typed["metadata"]["resourceVersion"];
    return version.is_string() ? version.as_string() : std::string_view{};
  } else {
    return typed.metadata.resource_version.view();
  }
}
/// Types that may be written as a whole.
template <typename T>
concept Writable = !std::same_as<T, meta::v1::PartialObjectMetadata>;

}  // namespace kube::detail
