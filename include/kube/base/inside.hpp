// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace kube::detail {

/// Gives the library access to the implementation behind a public class (pimpl) without exposing it
/// to users. Such a class has a member `core_`, declares Inside a friend, and keeps the
/// constructors that take a core private.
struct Inside {
  template <typename Face>
  [[nodiscard]] static const auto& core(const Face& face) noexcept {
    return face.core_;
  }
  /// The memory block that a Ref points into.
  template <typename Ref>
  [[nodiscard]] static auto* block(const Ref& ref) noexcept {
    return ref.block_;
  }
  /// Client::resource<T>() for a type that is only known at run time.
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
