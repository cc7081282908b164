// SPDX-License-Identifier: Apache-2.0
#include "processor.hpp"

#include "base/thread_mark.hpp"
#include <kube/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

namespace kube::detail {

using namespace std::chrono_literals;

Processor::Processor(ListenerContext context, Clock::Duration resync)
    : context_(std::move(context)), default_period_(resync), check_period_(resync) {}

Processor::~Processor() { stop(); }

Clock::Duration Processor::effective_locked(Clock::Duration requested) const {
  if (requested == Clock::Duration::zero() || check_period_ == Clock::Duration::zero()) return {};
  return std::max(requested, check_period_);
}

std::shared_ptr<Listener> Processor::add(AnyHandler handler, HandlerOptions options,
                                         const std::function<StoreSnapshot()>& existing,
                                         bool informer_started) {
  reap();
  const std::string name = options.name;
  std::string_view warning;
  auto member = std::make_unique<Member>();
  std::shared_ptr<Listener> listener;
  {
    const std::lock_guard guard{mutex_};
    Clock::Duration check_period = check_period_;
    Clock::Duration requested = options.resync.value_or(default_period_);
    if (requested > Clock::Duration::zero()) {
      if (requested < 1s) {
        warning = "resync period raised to 1 s";
        requested = 1s;
      }
      if (check_period_ == Clock::Duration::zero()) {
        warning = "no resync, as the informer has none";
      } else if (requested < check_period_ && informer_started) {
        warning = "resync period raised to that of the informer, which has started";
        requested = check_period_;
      } else if (requested < check_period_) {
        check_period = requested;
      }
    }
    listener = std::make_shared<Listener>(context_, next_number_, std::move(handler),
                                          std::move(options), existing(), upstream_synced_);
    member->listener = listener;
    member->requested = requested;
    members_.push_back(std::move(member));
    if (running_) {
      try {
        start_locked(*members_.back());
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

void Processor::start_locked(Member& member) {
  try {
    member.thread = std::jthread{[this, listener = member.listener](std::stop_token stop) {
      const ThreadMark mark{this};
      listener->run(std::move(stop));
      listener->mark_ended();
    }};
  } catch (const std::system_error& error) {
    throw Error(fmt::format("{}: the thread of its handler could not be created: {}",
                            member.listener->synced().name(), error.what()));
  }
}

void Processor::remove(const std::shared_ptr<Listener>& listener, Removal how) {
  bool never_started = false;
  {
    const std::lock_guard guard{mutex_};
    const auto found = std::find_if(members_.begin(), members_.end(), [&](const auto& member) {
      return member->listener == listener;
    });
    if (found == members_.end()) return;
    leaving_.push_back(std::move(*found));
    members_.erase(found);
    Member& member = *leaving_.back();
    never_started = !member.thread.joinable();
    if (how == Removal::kDrainAndWait) {
      listener->drain();
    } else {
      member.thread.request_stop();
      listener->do_not_wait();
    }
  }
  if (how != Removal::kAtOnce && !never_started) listener->wait_until_ended();
  reap();
}

/// Joins threads of removed listeners that have ended.
void Processor::reap() noexcept {
  std::list<std::unique_ptr<Member>> ended;
  const std::lock_guard guard{mutex_};
  for (auto member = leaving_.begin(); member != leaving_.end();) {
    const auto next = std::next(member);
    if (!(*member)->thread.joinable() || (*member)->listener->has_ended()) {
      ended.splice(ended.end(), leaving_, member);
    }
    member = next;
  }
}

void Processor::start() {
  const std::lock_guard guard{mutex_};
  running_ = true;
  for (const auto& member : members_) {
    if (!member->thread.joinable()) start_locked(*member);
  }
}

void Processor::stop() noexcept {
  std::vector<std::unique_ptr<Member>> members;
  std::list<std::unique_ptr<Member>> leaving;
  {
    const std::lock_guard guard{mutex_};
    running_ = false;
    members.swap(members_);
    leaving.swap(leaving_);
  }
  for (const auto& member : members) member->thread.request_stop();
  for (const auto& member : leaving) member->thread.request_stop();
  // They are joined when the members are destroyed.
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

void Processor::distribute(const NotificationBatch& batch) {
  if (batch.notifications.empty()) return;
  std::exception_ptr failure;
  for (auto [listener, flagged] = next(0); listener != nullptr;
       std::tie(listener, flagged) = next(listener->number())) {
    try {
      listener->push(batch, flagged);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
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
  request->receivers.reserve(members_.size());  // nobody is missed because of a lack of memory
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
