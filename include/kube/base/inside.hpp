// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace kube::detail {

/// Gives the library access to the implementation behind a public class, so that no user needs to see it. Such a
/// class has a member `core_`, declares Inside a friend, and keeps the constructors that take a core private.
struct Inside {
  template <typename Face>
  [[nodiscard]] static const auto& core(const Face& face) noexcept {
    return face.core_;
  }
  /// The block of memory behind a Ref.
  template <typename Ref>
  [[nodiscard]] static auto* block(const Ref& ref) noexcept {
    return ref.block_;
  }
  /// Client::resource<T>() for a type that is known at run time only.
  template <typename Client, typename... Args>
  [[nodiscard]] static auto resource_core(const Client& client, Args&&... args) {
    return client.resource_core(std::forward<Args>(args)...);
  }
  template <typename Face, typename... Args>
  [[nodiscard]] static Face make(Args&&... args) {
    return Face(std::forward<Args>(args)...);
  }
};

}  // namespace kube::detail
