// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/handler_functions.hpp>
#include <kube/cache/handler_registration.hpp>
#include <kube/cache/indexer_core.hpp>
#include <kube/object/ref.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace kube {

/// Functions that an informer calls when objects change (client-go: ResourceEventHandler). Any of
/// them may be left out.
///
/// Calls of one registration never overlap; they may come from any thread of the Runtime. When a
/// call is made, the cache is at least as new as the state passed. A function that throws is called
/// again for the next change, after a pause.
template <typename T>
struct EventHandler {
  /// Takes (object) or (object, in_initial_list), which is true for objects that existed when the
  /// informer or the handler started. All functions take objects as `const T&`, or as `const
  /// Ref<T>&` to keep them.
  AddFunction<T> on_add = {};
  /// Takes (before, now). After a lost connection several changes may arrive as one. `before` and
  /// `now` may even be different objects (UIDs) of the same name.
  UpdateFunction<T> on_update = {};
  /// Takes (gone), a `const Deleted<T>&` with all details, or (object), the last state seen. If no
  /// state was ever seen, `object` has only a name and namespace, so that no deletion is lost.
  DeleteFunction<T> on_delete = {};
};

/// Passes on only objects for which `accept` returns true (client-go:
/// FilteringResourceEventHandler). A change that makes an object acceptable is reported as an
/// addition, the reverse as a deletion.
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
            // Without any state of the object `accept` cannot be asked: report the deletion.
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
