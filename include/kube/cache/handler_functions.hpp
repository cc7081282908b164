// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/object_key.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

namespace kube {

/// A deleted object.
template <typename T>
struct Deleted {
  ObjectKey key;
  /// The final state. Without `final_state_known` the last state seen, or null if none was seen.
  Ref<T> object;
  /// False if the deletion itself was missed, for instance during a lost connection (client-go:
  /// DeletedFinalStateUnknown).
  bool final_state_known = true;
};

namespace detail {

/// Returns an object with only the name and namespace of `key`.
template <typename T>
[[nodiscard]] T named_only(const ObjectKey& key) {
  T object{};
  if constexpr (std::same_as<T, Value>) {
    if (!key.namespace_.empty()) object.at_path("metadata.namespace") = key.namespace_;
    object.at_path("metadata.name") = key.name;
  } else {
    if constexpr (requires { object.metadata.namespace_; }) {
      object.metadata.namespace_ = key.namespace_;
    }
    object.metadata.name = key.name;
  }
  return object;
}

}  // namespace detail

/// The type of EventHandler::on_add. Made from nullptr or from a callable that takes (const T&) or
/// (const Ref<T>&), optionally followed by a bool. The callable's return value is ignored, as in
/// the two types below.
template <typename T>
class AddFunction {
 public:
  AddFunction() = default;
  AddFunction(std::nullptr_t) {}  // NOLINT: a handler without it
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, AddFunction>) AddFunction(F function)  // NOLINT
      : call_(erase(std::move(function))) {}
  explicit operator bool() const noexcept { return static_cast<bool>(call_); }
  void operator()(const Ref<T>& now, bool in_initial_list) const { call_(now, in_initial_list); }

 private:
  using Call = std::function<void(const Ref<T>&, bool)>;

  template <typename F>
  static Call erase(F function) {
    if constexpr (std::invocable<F&, const Ref<T>&, bool>) {
      return function;
    } else if constexpr (std::invocable<F&, const T&, bool>) {
      return [function = std::move(function)](const Ref<T>& now, bool initial) mutable {
        function(*now, initial);
      };
    } else if constexpr (std::invocable<F&, const Ref<T>&>) {
      return [function = std::move(function)](const Ref<T>& now, bool) mutable { function(now); };
    } else if constexpr (std::invocable<F&, const T&>) {
      return [function = std::move(function)](const Ref<T>& now, bool) mutable { function(*now); };
    } else {
      static_assert(std::invocable<F&, const T&>,
                    "on_add takes (const T& object) or (const kube::Ref<T>& object), and may take "
                    "(bool in_initial_list) behind it; T is the type of the informer's objects");
      return nullptr;
    }
  }

  Call call_;
};

/// The type of EventHandler::on_update. Made from nullptr or from a callable that takes two `const
/// T&` or two `const Ref<T>&`.
template <typename T>
class UpdateFunction {
 public:
  UpdateFunction() = default;
  UpdateFunction(std::nullptr_t) {}  // NOLINT
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, UpdateFunction>)
      UpdateFunction(F function)  // NOLINT
      : call_(erase(std::move(function))) {}
  explicit operator bool() const noexcept { return static_cast<bool>(call_); }
  void operator()(const Ref<T>& before, const Ref<T>& now) const { call_(before, now); }

 private:
  using Call = std::function<void(const Ref<T>&, const Ref<T>&)>;

  template <typename F>
  static Call erase(F function) {
    if constexpr (std::invocable<F&, const Ref<T>&, const Ref<T>&>) {
      return function;
    } else if constexpr (std::invocable<F&, const T&, const T&>) {
      return [function = std::move(function)](const Ref<T>& before, const Ref<T>& now) mutable {
        function(*before, *now);
      };
    } else {
      static_assert(
          std::invocable<F&, const T&, const T&>,
          "on_update takes (const T& before, const T& now) or (const kube::Ref<T>& before, "
          "const kube::Ref<T>& now); T is the type of the informer's objects");
      return nullptr;
    }
  }

  Call call_;
};

/// The type of EventHandler::on_delete. Made from nullptr or from a callable that takes (const
/// Deleted<T>&), (const T&) or (const Ref<T>&).
template <typename T>
class DeleteFunction {
 public:
  DeleteFunction() = default;
  DeleteFunction(std::nullptr_t) {}  // NOLINT
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, DeleteFunction>)
      DeleteFunction(F function)  // NOLINT
      : call_(erase(std::move(function))) {}
  explicit operator bool() const noexcept { return static_cast<bool>(call_); }
  void operator()(const Deleted<T>& gone) const { call_(gone); }

 private:
  using Call = std::function<void(const Deleted<T>&)>;

  template <typename F>
  static Call erase(F function) {
    if constexpr (std::invocable<F&, const Deleted<T>&>) {
      return function;
    } else if constexpr (std::invocable<F&, const Ref<T>&>) {
      return [function = std::move(function)](const Deleted<T>& gone) mutable {
        function(gone.object ? gone.object : freeze(detail::named_only<T>(gone.key)));
      };
    } else if constexpr (std::invocable<F&, const T&>) {
      return [function = std::move(function)](const Deleted<T>& gone) mutable {
        if (gone.object) {
          function(*gone.object);
        } else {
          const T object = detail::named_only<T>(gone.key);
          function(object);
        }
      };
    } else {
      static_assert(std::invocable<F&, const T&>,
                    "on_delete takes (const kube::Deleted<T>& gone), (const T& object) or (const "
                    "kube::Ref<T>& object); T is the type of the informer's objects");
      return nullptr;
    }
  }

  Call call_;
};

}  // namespace kube
