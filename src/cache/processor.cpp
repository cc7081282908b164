// SPDX-License-Identifier: Apache-2.0
#include "processor.hpp"

#include <algorithm>
#include <string>
#include <string_view>
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
  std::shared_ptr<Listener> listener;
  {
    const std::lock_guard guard{mutex_};
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
        check_period_ = requested;
        for (const auto& member : members_) member->effective = effective_locked(member->requested);
      }
    }
    auto member = std::make_unique<Member>();
    member->requested = requested;
    member->effective = effective_locked(requested);
    member->next = context_.clock.now() + member->effective;
    member->listener = std::make_shared<Listener>(context_, next_number_++, std::move(handler),
                                                  std::move(options), existing(), upstream_synced_);
    listener = member->listener;
    if (running_) start_locked(*member);
    members_.push_back(std::move(member));
  }
  if (!warning.empty()) context_.log.warning("handler {}: {}", name, warning);
  return listener;
}

void Processor::start_locked(Member& member) {
  member.thread = std::jthread{[listener = member.listener](std::stop_token stop) {
    listener->run(std::move(stop));
    listener->mark_ended();
  }};
}

void Processor::remove(const std::shared_ptr<Listener>& listener, Removal how) {
  bool never_started = false;
  {
    const std::lock_guard guard{mutex_};
    const auto found = std::find_if(members_.begin(), members_.end(), [&](const auto& member) {
      return member->listener == listener;
    });
    if (found == members_.end()) return;
    never_started = !(*found)->thread.joinable();
    if (how == Removal::kDrainAndWait) {
      listener->drain();
    } else {
      (*found)->thread.request_stop();
      listener->do_not_wait();
    }
    leaving_.push_back(std::move(*found));
    members_.erase(found);
  }
  if (how != Removal::kAtOnce && !never_started) listener->wait_until_ended();
  reap();
}

/// Joins threads of removed listeners that have ended.
void Processor::reap() {
  std::vector<std::unique_ptr<Member>> ended;
  const std::lock_guard guard{mutex_};
  for (auto& member : leaving_) {
    if (!member->thread.joinable() || member->listener->has_ended()) {
      ended.push_back(std::move(member));
    }
  }
  std::erase(leaving_, nullptr);
}

void Processor::start() {
  const std::lock_guard guard{mutex_};
  running_ = true;
  for (const auto& member : members_) start_locked(*member);
}

void Processor::stop() {
  std::vector<std::unique_ptr<Member>> all;
  {
    const std::lock_guard guard{mutex_};
    running_ = false;
    all.swap(leaving_);
    for (auto& member : members_) all.push_back(std::move(member));
    members_.clear();
    for (const auto& member : all) member->thread.request_stop();
  }
  for (const auto& member : all) {
    if (member->thread.joinable()) member->thread.join();
  }
}

void Processor::do_not_wait() {
  const std::lock_guard guard{mutex_};
  for (const auto& member : members_) member->listener->do_not_wait();
}

void Processor::distribute(const NotificationBatch& batch) {
  if (batch.notifications.empty()) return;
  std::vector<std::pair<std::shared_ptr<Listener>, bool>> targets;
  {
    const std::lock_guard guard{mutex_};
    for (const auto& member : members_) targets.emplace_back(member->listener, member->flagged);
  }
  for (const auto& [listener, flagged] : targets) listener->push(batch, flagged);
}

void Processor::upstream_synced() {
  std::vector<std::shared_ptr<Listener>> all;
  {
    const std::lock_guard guard{mutex_};
    upstream_synced_ = true;
    for (const auto& member : members_) all.push_back(member->listener);
  }
  for (const auto& listener : all) listener->upstream_synced();
}

Clock::Duration Processor::check_period() const {
  const std::lock_guard guard{mutex_};
  return check_period_;
}

std::shared_ptr<const ResyncRequest> Processor::due_for_resync() {
  const Clock::TimePoint now = context_.clock.now();
  auto request = std::make_shared<ResyncRequest>();
  const std::lock_guard guard{mutex_};
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
