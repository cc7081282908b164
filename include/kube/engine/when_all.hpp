// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/engine/join.hpp>
#include <kube/engine/task.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace kube {

/// Runs Tasks concurrently on one queue (interleaved at their waits) and ends when all have ended.
/// Returns all results in the order of the arguments, with std::monostate for void. If some Tasks
/// throw, rethrows the exception of the first of them in that order. Throws std::invalid_argument
/// for a Task that is empty or was started before.
template <typename... Ts>
Task<std::tuple<NonVoid<Ts>...>> when_all(Task<Ts>... tasks) {
  (detail::require_startable(detail::TaskAccess::is_startable(tasks)), ...);
  detail::JoinOf<Ts...> join{detail::JoinUntil::kAll, std::move(tasks)...};
  co_await detail::AwaitRef<void>{join, {}};
  co_return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple<NonVoid<Ts>...>{join.template result<I>()...};
  }
  (std::index_sequence_for<Ts...>{});
}

/// As above, for any number of Tasks of one type.
template <typename T>
requires(!std::is_void_v<T>) Task<std::vector<T>> when_all(std::vector<Task<T>> tasks) {
  for (const auto& task : tasks) detail::require_startable(detail::TaskAccess::is_startable(task));
  detail::JoinOfMany<T> join{std::move(tasks), detail::JoinUntil::kAll};
  co_await detail::AwaitRef<void>{join, {}};
  std::vector<T> results;
  results.reserve(join.size());
  for (std::size_t i = 0; i < join.size(); ++i) results.push_back(join.result(i));
  co_return results;
}
inline Task<void> when_all(std::vector<Task<void>> tasks) {
  for (const auto& task : tasks) detail::require_startable(detail::TaskAccess::is_startable(task));
  detail::JoinOfMany<void> join{std::move(tasks), detail::JoinUntil::kAll};
  co_await detail::AwaitRef<void>{join, {}};
  for (std::size_t i = 0; i < join.size(); ++i) (void)join.result(i);
}

}  // namespace kube
