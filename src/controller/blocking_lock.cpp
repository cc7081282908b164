// SPDX-License-Identifier: Apache-2.0
#include "blocking_lock.hpp"

#include "engine/runtime_access.hpp"
#include "engine/thread.hpp"
#include <kube/base/condition.hpp>

#include <atomic>
#include <exception>
#include <functional>
#include <list>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>

namespace kube::detail {

/// State shared with the thread.
struct BlockingLock::State {
  std::mutex mutex;
  Condition changed;
  // Guarded by mutex:
  std::list<std::function<void()>> wanted;
  bool closed = false;

  void want(std::function<void()> call) {
    {
      const std::lock_guard guard{mutex};
      wanted.push_back(std::move(call));
    }
    changed.notify_one();
  }
  void run() noexcept {
    for (;;) {
      std::function<void()> call;
      {
        std::unique_lock lock{mutex};
        changed.wait(lock, [this] { return !wanted.empty() || closed; });
        if (wanted.empty()) return;
        call = std::move(wanted.front());
        wanted.pop_front();
      }
      call();
    }
  }
};

/// A call of a user function, shared by the thread that makes it and the one that polls.
class BlockingLock::Call {
 public:
  using Record = std::optional<LeaderElectionRecord>;

  Call(LockRequest request, std::weak_ptr<Waker> waker)
      : request_(std::move(request)), waker_(std::move(waker)) {}

  void run(ResourceLock& lock) noexcept {
    try {
      call(lock, {.timeout = request_.timeout, .stop = stop_.get_token()});
    } catch (...) {
      error_ = std::current_exception();
    }
    done_.store(true, std::memory_order_release);
    if (const auto waker = waker_.lock()) waker->wake();
  }
  void cancel() noexcept { stop_.request_stop(); }
  [[nodiscard]] Poll poll() const {
    if (!done_.load(std::memory_order_acquire)) return Poll::kPending;
    if (error_) std::rethrow_exception(error_);
    return Poll::kReady;
  }
  [[nodiscard]] Record take_record() noexcept { return std::move(record_); }

 private:
  void call(ResourceLock& lock, const LockCall& how) {
    switch (request_.verb) {
      case LockRequest::Verb::kGet:
        record_ = lock.get(how);
        break;
      case LockRequest::Verb::kCreate:
        lock.create(request_.record, how);
        break;
      case LockRequest::Verb::kUpdate:
        lock.update(request_.record, how);
        break;
    }
  }

  const LockRequest request_;
  const std::weak_ptr<Waker> waker_;
  std::stop_source stop_;
  std::atomic<bool> done_ = false;
  // Written before done_:
  Record record_;
  std::exception_ptr error_;
};

/// Polls a call that the thread makes.
class BlockingLock::Operation final : public LockOperation {
 public:
  explicit Operation(std::shared_ptr<Call> call) : call_(std::move(call)) {}
  ~Operation() override { call_->cancel(); }
  [[nodiscard]] Poll poll() override { return call_->poll(); }
  void cancel() noexcept override { call_->cancel(); }
  [[nodiscard]] std::optional<LeaderElectionRecord> take_record() override {
    return call_->take_record();
  }

 private:
  const std::shared_ptr<Call> call_;
};

BlockingLock::BlockingLock(std::shared_ptr<ResourceLock> lock)
    : AsyncLock(lease_runtime()),
      lock_(std::move(lock)),
      state_(std::make_shared<State>()),
      thread_(make_thread("kube-lock", [state = state_] { state->run(); })) {}

std::unique_ptr<LockOperation> BlockingLock::start(LockRequest request, Poller poller) {
  auto call = std::make_shared<Call>(std::move(request), std::move(poller.waker));
  auto operation = std::make_unique<Operation>(call);
  state_->want([call, lock = lock_] { call->run(*lock); });
  return operation;
}

void BlockingLock::record_event(std::string message) noexcept {
  try {
    state_->want([lock = lock_, message = std::move(message)] { lock->record_event(message); });
  } catch (...) {  // NOLINT(bugprone-empty-catch): no event is worth an election
  }
}

void BlockingLock::join() noexcept {
  {
    const std::lock_guard guard{state_->mutex};
    state_->closed = true;
  }
  state_->changed.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<AsyncLock> polled_form(const std::shared_ptr<ResourceLock>& lock) {
  if (auto own = lock->async_form()) return own;
  return std::make_shared<BlockingLock>(lock);
}

}  // namespace kube::detail
