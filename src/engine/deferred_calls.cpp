// SPDX-License-Identifier: Apache-2.0
#include "deferred_calls.hpp"

#include "worker_pool.hpp"

#include <atomic>
#include <string>
#include <string_view>
#include <utility>

namespace kube::detail {

namespace {

void write(const Logger& log, LogLevel level, std::string_view text) {
  switch (level) {
    case LogLevel::kDebug:
      return log.debug("{}", text);
    case LogLevel::kInfo:
      return log.info("{}", text);
    case LogLevel::kWarning:
      return log.warning("{}", text);
    case LogLevel::kError:
      return log.error("{}", text);
  }
}

}  // namespace

DeferredCalls::DeferredCalls(const std::shared_ptr<Scheduler>& scheduler)
    : Job(Placement::kBlocking) {
  bind(scheduler);
}

void DeferredCalls::wake_when_idle(std::weak_ptr<Waker> waker) noexcept {
  const std::lock_guard guard{mutex_};
  waker_ = std::move(waker);
}

bool DeferredCalls::push(std::function<void()> call) noexcept {
  try {
    const std::lock_guard guard{mutex_};
    if (closed_ || waiting_.size() >= kMostWaiting) return false;
    waiting_.push_back(std::move(call));
  } catch (...) {
    return false;
  }
  schedule();
  return true;
}

void DeferredCalls::close() noexcept {
  const std::lock_guard guard{mutex_};
  closed_ = true;
}

bool DeferredCalls::is_idle() const noexcept {
  const std::lock_guard guard{mutex_};
  return waiting_.empty() && !calling_;
}

void DeferredCalls::run() noexcept {
  std::function<void()> call;
  {
    const std::lock_guard guard{mutex_};
    if (waiting_.empty()) return;
    call = std::move(waiting_.front());
    waiting_.pop_front();
    calling_ = true;
  }
  WorkerPool::note_progress();
  try {
    call();
  } catch (...) {  // NOLINT(bugprone-empty-catch): the caller reports its own errors
  }
  call = nullptr;
  bool more = false;
  std::shared_ptr<Waker> waker;
  {
    const std::lock_guard guard{mutex_};
    calling_ = false;
    more = !waiting_.empty();
    waker = waker_.lock();
  }
  if (more) return schedule();
  if (waker) waker->wake();
}

Logger deferred(const Logger& to, std::shared_ptr<DeferredCalls> calls) {
  for (const LogLevel least :
       {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError}) {
    if (!to.enabled(least)) continue;
    return Logger{
        [to, calls = std::move(calls), dropped = std::make_shared<std::atomic<std::size_t>>(0)](
            LogLevel level, std::string_view component, std::string_view text) {
          const bool kept = calls->push([to = component.empty() ? to : to.named(component), level,
                                         text = std::string{text}, dropped] {
            if (const std::size_t count = dropped->exchange(0); count > 0) {
              to.warning("{} log lines were dropped", count);
            }
            write(to, level, text);
          });
          if (!kept) ++*dropped;
        },
        least};
  }
  return Logger{};
}

}  // namespace kube::detail
