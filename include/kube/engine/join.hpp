// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/engine/suspension.hpp>
#include <kube/engine/task.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace kube {

/// The result type of a Task<T> where a value is needed: std::monostate replaces void.
template <typename T>
using NonVoid = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

}  // namespace kube

namespace kube::detail {

/// Selects when tasks that run concurrently are stopped.
enum class JoinUntil : std::uint8_t {
  kAll,    ///< never: all tasks run to their end
  kFirst,  ///< the first task that ends requests a stop of the others
};

/// Runs Tasks concurrently, on the queue of the coroutine that awaits it. Done when all have ended.
class Join : public Awaited<void> {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// Index of the Task that ended first.
  [[nodiscard]] std::size_t first() const noexcept { return first_; }
  void take() override {}

 protected:
  class Completion final : public TaskCompletion {
   public:
    void bind(Join& join, std::size_t index) noexcept {
      join_ = &join;
      index_ = index;
    }
    void completed() noexcept override { join_->ended(index_); }

   private:
    Join* join_ = nullptr;
    std::size_t index_ = 0;
  };

  Join(std::size_t count, JoinUntil until);

 private:
  struct PassOn {
    std::stop_source stop;
    void operator()() const noexcept { stop.request_stop(); }
  };

  virtual void start(std::size_t index, const TaskContext& context) noexcept = 0;
  void ended(std::size_t index) noexcept;
  void begun(const TaskContext& context) override;
  [[nodiscard]] bool ends_on_stop() const noexcept override { return false; }
  [[nodiscard]] bool poll() override;
  void stopped() override {}

  const JoinUntil until_;
  std::size_t count_;
  std::size_t started_ = 0;
  std::size_t ended_ = 0;
  std::size_t first_ = kNone;
  TaskContext context_;
  std::stop_source stop_{std::nostopstate};
  std::optional<std::stop_callback<PassOn>> pass_on_;
};

/// A Join of any number of Tasks of one type.
template <typename T>
class JoinOfMany final : public Join {
 public:
  JoinOfMany(std::vector<Task<T>> tasks, JoinUntil until)
      : Join(tasks.size(), until), tasks_(std::move(tasks)), completions_(tasks_.size()) {
    for (std::size_t i = 0; i < completions_.size(); ++i) completions_[i].bind(*this, i);
  }

  /// The result of a Task that has ended. Rethrows the exception of the Task.
  [[nodiscard]] NonVoid<T> result(std::size_t index) const {
    if constexpr (std::is_void_v<T>) {
      TaskAccess::promise(tasks_[index]).take();
      return {};
    } else {
      return TaskAccess::promise(tasks_[index]).take();
    }
  }
  [[nodiscard]] std::size_t size() const noexcept { return tasks_.size(); }

 private:
  void start(std::size_t index, const TaskContext& context) noexcept override {
    TaskAccess::start(tasks_[index], completions_[index], context);
  }

  std::vector<Task<T>> tasks_;
  std::vector<Completion> completions_;
};

/// A Join of Tasks of different types.
template <typename... Ts>
class JoinOf final : public Join {
 public:
  explicit JoinOf(JoinUntil until, Task<Ts>... tasks)
      : Join(sizeof...(Ts), until), tasks_(std::move(tasks)...) {
    for (std::size_t i = 0; i < sizeof...(Ts); ++i) completions_[i].bind(*this, i);
  }

  template <std::size_t I>
  [[nodiscard]] auto result() const {
    using Result = std::tuple_element_t<I, std::tuple<NonVoid<Ts>...>>;
    auto& promise = TaskAccess::promise(std::get<I>(tasks_));
    if constexpr (std::is_void_v<decltype(promise.take())>) {
      promise.take();
      return Result{};
    } else {
      return promise.take();
    }
  }

 private:
  void start(std::size_t index, const TaskContext& context) noexcept override {
    start_at(index, context, std::index_sequence_for<Ts...>{});
  }
  template <std::size_t... I>
  void start_at(std::size_t index, const TaskContext& context,
                std::index_sequence<I...> /*all*/) noexcept {
    ((I == index ? TaskAccess::start(std::get<I>(tasks_), completions_[I], context) : void()), ...);
  }

  std::tuple<Task<Ts>...> tasks_;
  std::array<Completion, sizeof...(Ts)> completions_;
};

/// Throws std::invalid_argument if `is_startable` is false: the Task is empty or was started
/// before.
void require_startable(bool is_startable);

}  // namespace kube::detail
