// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/engine/join.hpp>
#include <kube/engine/task.hpp>

#include <cstddef>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

namespace kube {

/// The index of the Task that ended first, and its result; std::monostate replaces void.
template <typename T>
struct FirstResult {
  std::size_t index = 0;
  NonVoid<T> value;
};

namespace detail {

template <typename Variant, typename Joined, std::size_t... I>
Variant result_of_first(const Joined& join, std::index_sequence<I...> /*all*/) {
  std::optional<Variant> result;
  ((join.first() == I ? void(result.emplace(std::in_place_index<I>, join.template result<I>()))
                      : void()),
   ...);
  return std::move(*result);
}

}  // namespace detail

/// Runs Tasks concurrently until the first one ends, then requests a stop of the others and waits
/// for their end. Returns the result of the first (variant::index() is its index), or rethrows its
/// exception. Throws std::invalid_argument for a Task that is empty or was started before.
template <typename... Ts>
requires(sizeof...(Ts) > 0) Task<std::variant<NonVoid<Ts>...>> when_any(Task<Ts>... tasks) {
  (detail::require_startable(detail::TaskAccess::is_startable(tasks)), ...);
  detail::JoinOf<Ts...> join{detail::JoinUntil::kFirst, std::move(tasks)...};
  co_await detail::AwaitRef<void>{join, {}};
  co_return detail::result_of_first<std::variant<NonVoid<Ts>...>>(join,
                                                                  std::index_sequence_for<Ts...>{});
}

/// As above, for any number of Tasks of one type. Throws std::invalid_argument if `tasks` is empty.
template <typename T>
Task<FirstResult<T>> when_any(std::vector<Task<T>> tasks) {
  if (tasks.empty()) throw std::invalid_argument("when_any: there is no Task to wait for");
  for (const auto& task : tasks) detail::require_startable(detail::TaskAccess::is_startable(task));
  detail::JoinOfMany<T> join{std::move(tasks), detail::JoinUntil::kFirst};
  co_await detail::AwaitRef<void>{join, {}};
  co_return FirstResult<T>{join.first(), join.result(join.first())};
}

}  // namespace kube
