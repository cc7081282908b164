// SPDX-License-Identifier: Apache-2.0
#include "processor.hpp"

#include "base/no_wait.hpp"
#include "base/thread_mark.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace kube::detail {

using namespace std::chrono_literals;

Processor::Processor(ListenerContext context, Clock::Duration resync)
    : shared_(std::make_shared<const ListenerContext>(std::move(context))),
      default_period_(resync),
      check_period_(resync) {}

Processor::~Processor() {
  request_stop();
  if (!stopped_.done()) (void)stopped_.wait({});
}

Clock::Duration Processor::effective_locked(Clock::Duration requested) const {
  if (requested == Clock::Duration::zero() || check_period_ == Clock::Duration::zero()) return {};
  return std::max(requested, check_period_);
}

std::shared_ptr<Listener> Processor::add(AnyHandler handler, HandlerOptions options,
                                         const std::function<StoreSnapshot()>& existing,
                                         bool informer_started) {
  const std::string name = options.name;
  std::string_view warning;
  auto member = std::make_unique<Member>();
  std::shared_ptr<Listener> listener;
  {
    const std::lock_guard guard{mutex_};
    forget_ended_locked();
    leaving_.reserve(leaving_.size() + members_.size() + 1);  // so that remove() needs no memory
    Clock::Duration check_period = check_period_;
    Clock::Duration requested = options.resync.value_or(default_period_);
    if (requested > Clock::Duration::zero()) {
      if (requested < 1s) {
        warning = "resync period raised to 1 s";
        requested = 1s;
      }
      if (check_period_ == Clock::Duration::zero()) {
        warning = "no resync, because the informer has no resync period";
      } else if (requested < check_period_ && informer_started) {
        warning = "resync period raised to that of the informer, which has started";
        requested = check_period_;
      } else if (requested < check_period_) {
        check_period = requested;
      }
    }
    listener = std::make_shared<Listener>(shared_, next_number_, std::move(handler),
                                          std::move(options), existing(), upstream_synced_);
    member->listener = listener;
    member->requested = requested;
    members_.push_back(std::move(member));
    if (scheduler_ != nullptr) {
      try {
        listener->start(scheduler_, *this);
        ++alive_;
      } catch (...) {
        members_.pop_back();
        throw;
      }
    }
    ++next_number_;
    check_period_ = check_period;
    for (const auto& each : members_) each->effective = effective_locked(each->requested);
    members_.back()->next = context_.clock.now() + members_.back()->effective;
  }
  if (!warning.empty()) context_.log.warning("handler {}: {}", name, warning);
  return listener;
}

void Processor::remove(const std::shared_ptr<Listener>& listener, Removal how) {
  if (how != Removal::kAtOnce && !ThreadMark::is_set(listener.get())) {
    require_may_wait("remove_handler(), which waits for the handler,", "use Removal::kAtOnce");
  }
  {
    const std::lock_guard guard{mutex_};
    const auto found = std::find_if(members_.begin(), members_.end(), [&](const auto& member) {
      return member->listener == listener;
    });
    if (found == members_.end()) return;
    forget_ended_locked();
    leaving_.push_back(listener);  // capacity was reserved
    members_.erase(found);
  }
  if (how == Removal::kDrainAndWait) {
    listener->drain();
  } else {
    listener->stop();
  }
  if (how != Removal::kAtOnce && listener->has_started()) listener->wait_until_ended();
}

void Processor::forget_ended_locked() noexcept {
  std::erase_if(leaving_, [](const auto& listener) {
    return !listener->has_started() || listener->has_ended();
  });
}

void Processor::start(const std::shared_ptr<Scheduler>& scheduler) {
  const std::lock_guard guard{mutex_};
  if (stopping_) return;
  scheduler_ = scheduler;
  for (const auto& member : members_) {
    if (member->listener->has_started()) continue;
    member->listener->start(scheduler, *this);
    ++alive_;
  }
}

void Processor::request_stop() noexcept {
  std::vector<std::unique_ptr<Member>> members;
  std::vector<std::shared_ptr<Listener>> leaving;
  bool all_ended = false;
  {
    const std::lock_guard guard{mutex_};
    stopping_ = true;
    scheduler_ = nullptr;
    members.swap(members_);
    leaving.swap(leaving_);
    all_ended = alive_ == 0;
  }
  for (const auto& member : members) member->listener->stop();
  for (const auto& listener : leaving) listener->stop();
  if (all_ended) stopped_.fire();
}

void Processor::listener_ended() noexcept {
  const DoneSignal stopped = stopped_;  // the processor may be destroyed once the lock is released
  {
    const std::lock_guard guard{mutex_};
    --alive_;
    if (!stopping_ || alive_ > 0) return;
  }
  stopped.fire();
}

void Processor::do_not_wait() noexcept {
  const std::lock_guard guard{mutex_};
  for (const auto& member : members_) member->listener->do_not_wait();
}

std::pair<std::shared_ptr<Listener>, bool> Processor::next(std::uint64_t number) const {
  const std::lock_guard guard{mutex_};
  const auto found = std::upper_bound(
      members_.begin(), members_.end(), number,
      [](std::uint64_t wanted, const auto& member) { return wanted < member->listener->number(); });
  if (found == members_.end()) return {};
  return {(*found)->listener, (*found)->flagged};
}

bool Processor::distribute(const NotificationBatch& batch, const std::shared_ptr<Waker>& room) {
  if (batch.notifications.empty()) return true;
  bool complete = true;
  std::exception_ptr failure;
  for (auto [listener, flagged] = next(0); listener != nullptr;
       std::tie(listener, flagged) = next(listener->number())) {
    try {
      if (!listener->push(batch, flagged, room)) complete = false;
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  return complete;
}

void Processor::upstream_synced() noexcept {
  {
    const std::lock_guard guard{mutex_};
    upstream_synced_ = true;
  }
  for (auto listener = next(0).first; listener != nullptr;
       listener = next(listener->number()).first) {
    listener->upstream_synced();
  }
}

Clock::Duration Processor::check_period() const {
  const std::lock_guard guard{mutex_};
  return check_period_;
}

std::shared_ptr<const ResyncRequest> Processor::due_for_resync() {
  const Clock::TimePoint now = context_.clock.now();
  auto request = std::make_shared<ResyncRequest>();
  const std::lock_guard guard{mutex_};
  request->receivers.reserve(members_.size());  // so that a lack of memory cannot skip a receiver
  for (const auto& member : members_) {
    member->flagged = member->effective > Clock::Duration::zero() && now >= member->next;
    if (!member->flagged) continue;
    member->next = now + member->effective;
    request->receivers.push_back(member->listener->number());
  }
  return request->receivers.empty() ? nullptr : request;
}

std::size_t Processor::backlog() const {
  const std::lock_guard guard{mutex_};
  std::size_t sum = 0;
  for (const auto& member : members_) sum += member->listener->backlog();
  return sum;
}

}  // namespace kube::detail
