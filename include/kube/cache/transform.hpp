// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/inside.hpp>
#include <kube/object/object_ref.hpp>
#include <kube/object/ref.hpp>

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

namespace kube {

/// Changes each object before it is cached, usually to drop fields that the program does not need.
/// Made from a function that changes a copy in place, `[](Pod& pod) {...}`, or from one that
/// returns the object to store, `[](const Ref<Pod>& pod) -> Ref<Pod> {...}`.
///
/// Called once per object, one at a time, by any thread of the Runtime, and not for objects that
/// are cached already. It must not wait, and must keep the name and namespace. If it clears the
/// version, the object is never considered unchanged, so every event for it is reported. If it
/// throws, the reflector lists again.
template <typename T>
class Transform {
 public:
  Transform() = default;
  Transform(std::nullptr_t) {}  // NOLINT: none
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, Transform>) Transform(F function)  // NOLINT
      : core_(adapt(std::move(function))) {}

  explicit operator bool() const noexcept { return static_cast<bool>(core_); }

 private:
  friend struct detail::Inside;
  using Call = std::function<Ref<T>(const Ref<T>&)>;

  template <typename F>
  static Call adapt(F function) {
    if constexpr (std::is_invocable_r_v<Ref<T>, F&, const Ref<T>&>) {
      return function;
    } else if constexpr (std::is_invocable_r_v<void, F&, T&>) {
      return [function = std::move(function)](const Ref<T>& object) mutable -> Ref<T> {
        T copy = *object;
        function(copy);
        return freeze(copy);
      };
    } else {
      static_assert(
          std::is_invocable_r_v<void, F&, T&>,
          "a transform is void(T& object), which changes the object in place, or "
          "kube::Ref<T>(const kube::Ref<T>& object), which returns what to store; T is the "
          "type of the informer's objects");
      return nullptr;
    }
  }

  Call core_;
};

namespace detail {

/// Returns the type-erased form of a Transform; empty if there is none.
template <typename T>
[[nodiscard]] std::function<ObjectRef(const ObjectRef&)> erase_transform(
    const Transform<T>& transform) {
  if (!transform) return nullptr;
  return [call = Inside::core(transform)](const ObjectRef& object) {
    return ObjectRef::from(call(object.template to<T>()));
  };
}

}  // namespace detail
}  // namespace kube
