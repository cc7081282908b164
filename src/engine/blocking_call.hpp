// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include "job.hpp"
#include "polling.hpp"

namespace kube::detail {

/// Runs a function that may block on a worker, on behalf of code that must not block, and wakes the
/// poller when it returns. Without a scheduler, the constructor calls the function itself. The
/// destructor requests a stop and does not wait, so the function must own what it uses.
template <typename Result>
class BlockingCall {
 public:
  using Function = std::function<Result(std::stop_token)>;

  /// `name` is a literal that tells whose code is called. Throws std::bad_alloc; without a scheduler,
  /// also what `function` throws.
  BlockingCall(const Poller& poller, const char* name, Function function,
               Placement placement = Placement::kBlocking) {
    if (poller.scheduler == nullptr) {
      result_.emplace(function(poller.stop));
      return;
    }
    run_ = std::make_shared<Run>(name, std::move(function), poller.waker, placement);
    run_->bind(poller.scheduler);
    run_->schedule();
  }
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;
  ~BlockingCall() {
    if (run_) run_->stop.request_stop();
  }

  /// Requests a stop of the call. It must still be polled until it ends.
  void cancel() noexcept {
    if (run_) run_->stop.request_stop();
  }
  /// Returns the result once, nullopt while the call is pending. Rethrows the exception of the
  /// function.
  [[nodiscard]] std::optional<Result> poll() {
    if (!run_) return std::exchange(result_, std::nullopt);
    if (!run_->is_done.load(std::memory_order_acquire)) return std::nullopt;
    if (run_->error) std::rethrow_exception(run_->error);
    return std::exchange(run_->result, std::nullopt);
  }

 private:
  struct Run final : Job {
    Run(const char* whose, Function what, std::weak_ptr<Waker> whom, Placement placement)
        : Job(placement), called(whose), function(std::move(what)), waker(std::move(whom)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return called; }

    void run() noexcept override {
      if (is_done.load(std::memory_order_relaxed)) return;
      try {
        result.emplace(function(stop.get_token()));
      } catch (...) {
        error = std::current_exception();
      }
      function = nullptr;
      is_done.store(true, std::memory_order_release);
      if (const std::shared_ptr<Waker> owner = waker.lock()) owner->wake();
    }

    const char* const called;
    Function function;
    const std::weak_ptr<Waker> waker;
    std::stop_source stop;
    std::optional<Result> result;
    std::exception_ptr error;
    std::atomic<bool> is_done = false;
  };

  std::shared_ptr<Run> run_;
  std::optional<Result> result_;
};

}  // namespace kube::detail
