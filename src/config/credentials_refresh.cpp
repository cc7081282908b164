// SPDX-License-Identifier: Apache-2.0
#include "credentials_refresh.hpp"

#include "engine/scheduler.hpp"

#include <atomic>
#include <exception>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace kube::detail {

namespace {

/// Placed like a health check: it returns soon, and requests must go on while all handlers block.
class Run final : public Job {
 public:
  explicit Run(std::shared_ptr<NonBlockingCredentials> credentials)
      : Job(Placement::kUrgent), credentials_(std::move(credentials)) {}

  /// Returns false if the renewal has ended.
  [[nodiscard]] bool add(const std::weak_ptr<Waker>& waker) {
    const std::lock_guard guard{mutex_};
    if (!is_done_) wakers_.push_back(waker);
    return !is_done_;
  }
  [[nodiscard]] bool poll() const {
    const std::lock_guard guard{mutex_};
    if (error_) std::rethrow_exception(error_);
    return is_done_;
  }
  [[nodiscard]] bool has_ended() const {
    const std::lock_guard guard{mutex_};
    return is_done_;
  }
  /// The clock of the credentials is not used afterwards. A worker ends the plugin.
  void stop() noexcept {
    if (has_ended()) return;
    stopped_ = true;
    // A hook of the credentials may drop the last request; its thread must not wait for itself.
    if (polled_by_ != std::this_thread::get_id()) {
      const std::lock_guard guard{polling_};
      if (renewal_) renewal_->forget_clock();
    }
    schedule();
  }
  [[nodiscard]] std::string_view name() const noexcept override { return "credentials"; }

 private:
  void run() noexcept override {
    std::exception_ptr error;
    {
      const std::lock_guard guard{polling_};
      if (stopped_) return renewal_.reset();
      if (has_ended()) return;
      polled_by_ = std::this_thread::get_id();
      bool is_ready = false;
      try {
        if (!renewal_) {
          renewal_ = credentials_->renew({.waker = weak_from_this(), .scheduler = scheduler()});
        }
        is_ready = renewal_->poll() == Poll::kReady;
      } catch (...) {
        error = std::current_exception();
      }
      polled_by_ = std::thread::id{};
      if (!is_ready && !error) return;
      renewal_.reset();
    }
    std::vector<std::weak_ptr<Waker>> wakers;
    {
      const std::lock_guard guard{mutex_};
      error_ = std::move(error);
      is_done_ = true;
      wakers.swap(wakers_);
    }
    for (const std::weak_ptr<Waker>& weak : wakers) {
      if (const auto waker = weak.lock()) waker->wake();
    }
  }

  const std::shared_ptr<NonBlockingCredentials> credentials_;
  std::atomic<bool> stopped_ = false;
  std::atomic<std::thread::id> polled_by_ = std::thread::id{};
  std::mutex polling_;
  std::unique_ptr<Renewal> renewal_;  // guarded by polling_; null before the first run
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::vector<std::weak_ptr<Waker>> wakers_;
  std::exception_ptr error_;
  bool is_done_ = false;
};

}  // namespace

class CredentialsRefresh::Call {
 public:
  explicit Call(std::shared_ptr<Run> running) noexcept : run(std::move(running)) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { run->stop(); }

  const std::shared_ptr<Run> run;
};

std::shared_ptr<CredentialsRefresh::Call> CredentialsRefresh::join(const Poller& poller) {
  std::shared_ptr<Call> call;  // declared before the guard: the last reference may be dropped here
  const std::lock_guard guard{mutex_};
  call = call_.lock();
  // A loop does not wait for the loop of another Runtime, which may be stuck.
  if (call && call->run->scheduler() == poller.scheduler && call->run->add(poller.waker)) {
    return call;
  }
  const auto run = std::make_shared<Run>(credentials_);
  (void)run->add(poller.waker);
  run->bind(poller.scheduler);
  auto started = std::make_shared<Call>(run);
  call_ = started;
  run->schedule();
  return started;
}

bool CredentialsRefresh::poll(const Call& call) { return call.run->poll(); }

void CredentialsRefresh::drive(const Call& call, const std::stop_token& stop) {
  const std::shared_ptr<Scheduler>& scheduler = call.run->scheduler();
  if (!scheduler->is_without_threads()) return;
  const std::stop_callback on_stop{stop, [&]() noexcept { call.run->schedule(); }};
  scheduler->loop().drive([&] { return stop.stop_requested() || call.run->has_ended(); });
}

}  // namespace kube::detail
