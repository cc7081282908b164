// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/object_key.hpp>
#include <kube/cache/handler_registration.hpp>
#include <kube/cache/indexer_core.hpp>
#include <kube/object/ref.hpp>

#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kube {

/// An object that is gone.
template <typename T>
struct Deleted {
  ObjectKey key;
  /// Its last state; without `final_state_known` the last one that was seen, or null if none was.
  Ref<T> object;
  /// False if the deletion itself was missed, as when it happened while there was no connection.
  bool final_state_known = true;
};

namespace detail {

/// A function that gets objects, in the form that suits it: each one as `const T&`, or as `const Ref<T>&` to
/// keep it. Converts from any callable of one of these forms, and from nothing.
template <typename T>
class AddFunction {
 public:
  AddFunction() = default;
  AddFunction(std::nullptr_t) {}  // NOLINT: a handler without it
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, AddFunction>) AddFunction(F function)  // NOLINT
      : call_([function = std::move(function)](const Ref<T>& now, bool initial) mutable {
          if constexpr (std::invocable<F&, const Ref<T>&, bool>) {
            function(now, initial);
          } else if constexpr (std::invocable<F&, const T&, bool>) {
            function(*now, initial);
          } else if constexpr (std::invocable<F&, const Ref<T>&>) {
            function(now);
          } else {
            function(*now);
          }
        }) {}
  explicit operator bool() const noexcept { return static_cast<bool>(call_); }
  void operator()(const Ref<T>& now, bool in_initial_list) const { call_(now, in_initial_list); }

 private:
  std::function<void(const Ref<T>&, bool)> call_;
};

template <typename T>
class UpdateFunction {
 public:
  UpdateFunction() = default;
  UpdateFunction(std::nullptr_t) {}  // NOLINT
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, UpdateFunction>)
      UpdateFunction(F function)  // NOLINT
      : call_([function = std::move(function)](const Ref<T>& before, const Ref<T>& now) mutable {
          if constexpr (std::invocable<F&, const Ref<T>&, const Ref<T>&>) {
            function(before, now);
          } else {
            function(*before, *now);
          }
        }) {}
  explicit operator bool() const noexcept { return static_cast<bool>(call_); }
  void operator()(const Ref<T>& before, const Ref<T>& now) const { call_(before, now); }

 private:
  std::function<void(const Ref<T>&, const Ref<T>&)> call_;
};

}  // namespace detail

/// What an informer calls when objects change. Any function may be left out.
///
/// All calls of one registration come from one thread, one after the other. By then the cache is at least as
/// new as what the call tells. A function that throws is called again for the next change, after a pause.
template <typename T>
struct EventHandler {
  /// (object), or (object, in_initial_list): true for what existed when the informer or the handler started.
  detail::AddFunction<T> on_add = {};
  /// (before, now). After a time without connection many changes may have become one; both may even be
  /// different objects of the same name.
  detail::UpdateFunction<T> on_update = {};
  std::function<void(const Deleted<T>& gone)> on_delete = {};
};

/// Lets only those objects through that `accept` says yes to. A change that makes an object acceptable is told
/// as an addition, one that makes it unacceptable as a deletion.
template <typename T>
[[nodiscard]] EventHandler<T> filtered(std::function<bool(const T& object)> accept,
                                       EventHandler<T> handler) {
  struct State {
    std::function<bool(const T&)> accept;
    EventHandler<T> handler;
  };
  auto state = std::make_shared<State>(State{std::move(accept), std::move(handler)});
  return {
      .on_add =
          [state](const Ref<T>& now, bool in_initial_list) {
            if (state->accept(*now) && state->handler.on_add) {
              state->handler.on_add(now, in_initial_list);
            }
          },
      .on_update =
          [state](const Ref<T>& before, const Ref<T>& now) {
            const bool was = state->accept(*before);
            const bool is = state->accept(*now);
            if (was && is) {
              if (state->handler.on_update) state->handler.on_update(before, now);
            } else if (is) {
              if (state->handler.on_add) state->handler.on_add(now, false);
            } else if (was && state->handler.on_delete) {
              const auto& access = detail::kObjectAccess<T>;
              state->handler.on_delete({{std::string{access.namespace_(before.get())},
                                         std::string{access.name(before.get())}},
                                        before,
                                        true});
            }
          },
      .on_delete =
          [state](const Deleted<T>& gone) {
            // Of what nobody has seen, nobody can say whether it was acceptable: rather tell.
            if ((gone.object == nullptr || state->accept(*gone.object)) &&
                state->handler.on_delete) {
              state->handler.on_delete(gone);
            }
          },
  };
}

namespace detail {

template <typename T>
[[nodiscard]] AnyHandler erase_handler(EventHandler<T> handler) {
  AnyHandler any;
  if (handler.on_add) {
    any.on_add = [call = std::move(handler.on_add)](const ObjectRef& object, bool initial) {
      call(object.template to<T>(), initial);
    };
  }
  if (handler.on_update) {
    any.on_update = [call = std::move(handler.on_update)](const ObjectRef& before,
                                                          const ObjectRef& now) {
      call(before.template to<T>(), now.template to<T>());
    };
  }
  if (handler.on_delete) {
    any.on_delete = [call = std::move(handler.on_delete)](const ObjectRef& last,
                                                          std::string_view key, bool known) {
      const KeyParts parts = KeyParts::of(key);
      call(
          {{std::string{parts.namespace_}, std::string{parts.name}}, last.template to<T>(), known});
    };
  }
  return any;
}

}  // namespace detail
}  // namespace kube
