// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/engine/task.hpp>

#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace kube::test {

/// How a Task ended.
template <typename T>
struct Outcome {
  std::optional<T> value = std::nullopt;
  /// The message of the exception that it threw.
  std::string error = {};
  std::exception_ptr thrown = nullptr;

  [[nodiscard]] bool has_ended() const { return value || thrown; }
  /// Returns a copy of the exception if it is an E.
  template <typename E>
  [[nodiscard]] std::optional<E> thrown_as() const {
    if (!thrown) return std::nullopt;
    try {
      std::rethrow_exception(thrown);
    } catch (const E& found) {
      return found;
    } catch (...) {
      return std::nullopt;
    }
  }
};

/// Awaits the task and records how it ended in `outcome`, which must outlive it.
template <typename T>
Task<void> keep(Task<T> task, Outcome<T>& outcome) {
  try {
    outcome.value.emplace(co_await std::move(task));
  } catch (const std::exception& error) {
    outcome.error = error.what();
    outcome.thrown = std::current_exception();
  }
}

}  // namespace kube::test
