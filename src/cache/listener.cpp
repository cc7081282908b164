// SPDX-License-Identifier: Apache-2.0
#include "listener.hpp"

#include "cache/store/state.hpp"
#include "processor.hpp"
#include "thrown.hpp"

#include "base/thread_mark.hpp"
#include "engine/scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace kube {

using namespace std::chrono_literals;

DoneSignal HandlerRegistration::synced() const { return core_ ? core_->synced() : DoneSignal{}; }
std::size_t HandlerRegistration::backlog() const { return core_ ? core_->backlog() : 0; }
std::uint64_t HandlerRegistration::failures() const { return core_ ? core_->failures() : 0; }
std::string HandlerRegistration::last_failure() const {
  return core_ ? core_->last_failure() : std::string{};
}

namespace detail {

namespace {

/// An inline call that takes longer is reported, and moves the handler to workers.
constexpr auto kSlowInline = 10ms;
/// Minimum time between two such reports.
constexpr auto kSlowReports = 1min;

}  // namespace

Listener::Listener(std::shared_ptr<const ListenerContext> context, std::uint64_t number,
                   AnyHandler handler, HandlerOptions options, StoreSnapshot existing,
                   bool upstream_synced)
    : Job(options.delivery == Delivery::kInline ? Placement::kLibrary : Placement::kBlocking),
      shared_(std::move(context)),
      number_(number),
      handler_(std::move(handler)),
      options_(std::move(options)),
      synced_(fmt::format("{} + event handler {}", context_.informer_name, options_.name)),
      start_(existing.sequence()),
      existing_(std::move(existing)),
      upstream_synced_(upstream_synced),
      initial_(existing_.size()) {
  if (upstream_synced_ && initial_ == 0) synced_.fire();
}

std::uint64_t Listener::hash(const Notification& note) const {
  const void* object = note.object.get();
  if (object != nullptr) {
    return hash_key(context_.access.namespace_(object), context_.access.name(object));
  }
  const KeyParts parts = KeyParts::of(*note.key);
  return hash_key(parts.namespace_, parts.name);
}

std::string Listener::key(const Notification& note) const {
  return note.object ? context_.access.key(note.object.get()) : *note.key;
}

void Listener::start(const std::shared_ptr<Scheduler>& scheduler, Processor& owner) {
  timer_.emplace(scheduler, context_.clock);
  owner_ = &owner;
  bind(scheduler);
  started_ = true;
  schedule();
}

bool Listener::push(const NotificationBatch& batch, bool flagged,
                    const std::shared_ptr<Waker>& room) {
  if (batch.sequence <= start_) return true;
  std::size_t crossed = 0;
  Queued queued = Queued::kAll;
  try {
    queued = append_all(batch, flagged, room, crossed);
  } catch (...) {
    if (started_) schedule();
    throw;
  }
  if (started_) schedule();
  if (crossed > 0) {
    context_.log.warning("{}: {} notifications are waiting for their handler", synced_.name(),
                         crossed);
    if (options_.on_high_water) {
      try {
        options_.on_high_water(crossed);
      } catch (...) {
        with_current_exception(
            [&](const std::exception& error) { failed("on_high_water", error); });
      }
    }
  }
  return queued == Queued::kAll;
}

/// Sets `crossed` to the backlog if it has just risen above the high-water mark.
Listener::Queued Listener::append_all(const NotificationBatch& batch, bool flagged,
                                      const std::shared_ptr<Waker>& room, std::size_t& crossed) {
  using Audience = Notification::Audience;
  const bool receives = batch.resync == nullptr ||
                        std::find(batch.resync->receivers.begin(), batch.resync->receivers.end(),
                                  number_) != batch.resync->receivers.end();
  const std::lock_guard guard{mutex_};
  if (draining_) return Queued::kAll;
  if (batch.number != batch_) {
    batch_ = batch.number;
    batch_queued_ = 0;
  }
  Queued queued = Queued::kAll;
  for (; batch_queued_ < batch.notifications.size(); ++batch_queued_) {
    const Notification& note = batch.notifications[batch_queued_];
    if (note.audience == Audience::kFlagged && !flagged) continue;
    if (note.audience == Audience::kReceivers && !receives) continue;
    if (options_.backlog == BacklogPolicy::kBlock && !no_wait_ &&
        waiting_.size() >= std::max<std::size_t>(options_.high_water, 1)) {
      room_ = room;
      queued = Queued::kFull;
      break;
    }
    append_locked(note);
  }
  const std::size_t now = waiting_.size() - void_;
  if (now > options_.high_water && !above_) {
    above_ = true;
    crossed = now;
  }
  return queued;
}

/// Strong exception guarantee.
void Listener::append_locked(Notification note) {
  if (!taken_) taken_ = std::make_unique<Taken>();
  const bool initial = note.kind == Notification::Kind::kAdd && note.initial;
  if (options_.backlog == BacklogPolicy::kCoalesce &&
      (indexed_ || waiting_.size() >= options_.high_water) && coalesce_locked(note)) {
    context_.metrics->coalesced.add();
    return;
  }
  waiting_.push_back(std::move(note));
  if (initial) ++initial_;
  context_.metrics->listener_backlog.add(1);
}

/// Returns true if `note` was merged into a waiting notification.
bool Listener::coalesce_locked(Notification& note) {
  // Comes first, because nothing may fail once the notification has been merged.
  if (!indexed_ || (void_ > 64 && void_ > waiting_.size() / 2)) compact_locked();
  const std::uint64_t hashed = hash(note);
  // A position beyond the end belongs to a notification that could not be queued.
  if (const auto found = last_.find(hashed);
      found != last_.end() && found->second >= left_ && found->second - left_ < waiting_.size()) {
    Notification& last = waiting_[found->second - left_];
    if (last.kind != Notification::Kind::kNone && key(last) == key(note)) {
      if (!merge_locked(last, note)) {
        last_.erase(found);
        ++void_;
        context_.metrics->listener_backlog.add(-1);
      }
      return true;
    }
  }
  last_[hashed] = left_ + waiting_.size();
  return false;
}

/// Drops notifications that were merged away, and indexes the last notification of each object.
void Listener::compact_locked() {
  indexed_ = false;
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(),
                                [](const Notification& note) {
                                  return note.kind == Notification::Kind::kNone;
                                }),
                 waiting_.end());
  void_ = 0;
  last_.clear();
  for (std::size_t i = 0; i < waiting_.size(); ++i) last_[hash(waiting_[i])] = left_ + i;
  indexed_ = true;
}

/// Merges two consecutive notifications of one object. Returns false if they cancel out.
bool Listener::merge_locked(Notification& waiting, Notification& note) {
  using Kind = Notification::Kind;
  switch (note.kind) {
    case Kind::kUpdate:
      waiting.object = std::move(note.object);  // an addition or an update
      return true;
    case Kind::kDelete:
      if (waiting.kind == Kind::kAdd) {
        // The handler has never seen the object.
        if (waiting.initial) --initial_;
        waiting = {};
        return false;
      }
      note.before = std::move(waiting.before);  // the state that the handler has seen
      waiting = std::move(note);
      return true;
    case Kind::kAdd:
      if (waiting.kind == Kind::kDelete && waiting.before) {
        // Deleted and created again: an update for the handler, which has seen the old object.
        waiting.kind = Kind::kUpdate;
        waiting.tombstone = false;
      } else {
        waiting.kind = Kind::kAdd;
      }
      waiting.object = std::move(note.object);
      return true;
    case Kind::kNone:
      break;
  }
  return true;
}

void Listener::settle_initial(std::size_t count) {
  bool synced = false;
  {
    const std::lock_guard guard{mutex_};
    initial_ -= std::min(initial_, count);
    synced = upstream_synced_ && initial_ == 0;
  }
  if (synced) synced_.fire();
}

void Listener::upstream_synced() {
  {
    const std::lock_guard guard{mutex_};
    upstream_synced_ = true;
  }
  settle_initial(0);
}

void Listener::do_not_wait() {
  std::shared_ptr<Waker> room;
  {
    const std::lock_guard guard{mutex_};
    no_wait_ = true;
    room.swap(room_);
  }
  if (room) room->wake();
}

void Listener::drain() noexcept {
  {
    const std::lock_guard guard{mutex_};
    draining_ = true;
  }
  do_not_wait();
  if (started_) schedule();
}

void Listener::stop() noexcept {
  stopping_ = true;
  do_not_wait();
  if (started_) schedule();
}

void Listener::wait_until_ended() const {
  if (ThreadMark::is_set(this)) return;
  (void)ended_.wait({});
}

void Listener::run() noexcept {
  if (ended_.done()) return;
  const ThreadMark of_owner{owner_};
  const ThreadMark own{this};
  if (stopping_) return end();
  if (!may_call()) return;
  const bool more = deliver_some();
  if (stopping_) return end();
  if (pausing_ ? may_call() : more) return schedule();
  if (pausing_) return;
  const bool drained = [&] {
    const std::lock_guard guard{mutex_};
    return draining_ && waiting_.empty();
  }();
  if (drained) end();
}

bool Listener::may_call() noexcept {
  if (!pausing_) return true;
  const Clock::TimePoint now = context_.clock.now();
  if (now < pause_until_) {
    timer_->set(pause_until_, weak_from_this());
    return false;
  }
  pausing_ = false;
  return true;
}

bool Listener::deliver_some() noexcept {
  if (walking_ && deliver_existing()) return !pausing_;
  if (called_ == taken_count_) {
    std::shared_ptr<Waker> room;
    {
      const std::lock_guard guard{mutex_};
      take_locked();
      room.swap(room_);
    }
    if (room) room->wake();
    if (taken_count_ == 0) return false;
  }
  deliver_taken();
  if (pausing_ || called_ < taken_count_) return !pausing_;
  const std::lock_guard guard{mutex_};
  return !waiting_.empty();
}

/// Calls the handler for some of the objects that existed when it was added. Returns true if there
/// may be more of them.
bool Listener::deliver_existing() noexcept {
  constexpr std::size_t kAtOnce = 32;
  if (walked_to_ == 0) {
    const std::lock_guard guard{mutex_};
    std::swap(walked_, existing_);
  }
  walked_to_ = walked_.for_some(walked_to_, kAtOnce, [&](const ObjectRef& object) {
    deliver({.kind = Notification::Kind::kAdd, .initial = true, .object = object});
    return !stopping_ && !pausing_;
  });
  walking_ = walked_to_ != 0;
  if (!walking_) walked_ = {};
  return walking_ || pausing_;
}

void Listener::take_locked() noexcept {
  taken_count_ = called_ = 0;
  while (!waiting_.empty() && taken_count_ < taken_->size()) {
    Notification& next = waiting_.front();
    if (next.kind == Notification::Kind::kNone) {
      --void_;
    } else {
      (*taken_)[taken_count_++] = std::move(next);
    }
    waiting_.pop_front();
    ++left_;
  }
  context_.metrics->listener_backlog.add(-static_cast<double>(taken_count_));
  if (waiting_.size() > options_.high_water / 2) return;
  above_ = false;
  // Not `= {}`, which keeps the buckets, and sets all of them to zero.
  if (std::exchange(indexed_, false)) decltype(last_)().swap(last_);
}

void Listener::deliver_taken() noexcept {
  const std::span notes = std::span{*taken_}.subspan(called_, taken_count_ - called_);
  for (const Notification& note : notes) note.before.prefetch();
  std::size_t done = 0;
  for (; done < notes.size() && !stopping_ && !pausing_; ++done) deliver(notes[done]);
  for (const Notification& note : notes.first(done)) note.before.prefetch_release();
  for (Notification& note : notes.first(done)) note = {};
  called_ += done;
}

void Listener::end() noexcept {
  timer_.reset();
  {
    const std::lock_guard guard{mutex_};
    context_.metrics->listener_backlog.add(-static_cast<double>(waiting_.size() - void_));
    waiting_.clear();
    last_.clear();
    void_ = 0;
    draining_ = true;  // nothing is queued from now on
    existing_ = {};
  }
  walked_ = {};
  taken_.reset();
  ended_.fire();
  owner_->listener_ended();  // the owner may be destroyed by this call
}

/// Records a failure of user code.
void Listener::failed(std::string_view what, const std::exception& error,
                      const Notification* note) noexcept {
  context_.metrics->handler_failures.add();
  try {
    context_.log.error("{}: {} failed{}{}: {}", synced_.name(), what,
                       note != nullptr ? " for " : "", note != nullptr ? key(*note) : std::string{},
                       error.what());
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): a line of the log is lost
  }
  const std::lock_guard guard{mutex_};
  ++failures_;
  try {
    last_failure_ = error.what();
  } catch (const std::bad_alloc&) {
    last_failure_ = "out of memory";  // fits the small-string buffer: no allocation
  }
}

void Listener::call(const Notification& note) const {
  switch (note.kind) {
    case Notification::Kind::kAdd:
      if (handler_.on_add) handler_.on_add(note.object, note.initial);
      break;
    case Notification::Kind::kUpdate:
      if (handler_.on_update) handler_.on_update(note.before, note.object);
      break;
    case Notification::Kind::kDelete:
      if (handler_.on_delete) handler_.on_delete(note.object, key(note), !note.tombstone);
      break;
    case Notification::Kind::kNone:
      break;
  }
}

void Listener::deliver(const Notification& note) noexcept {
  WorkerPool::note_progress();
  const Clock::TimePoint start = context_.clock.now();
  try {
    call(note);
  } catch (...) {
    pausing_ = true;
    with_current_exception([&](const std::exception& error) {
      failed("the handler", error, &note);
      for (const auto& on_error : {std::cref(options_.on_error), std::cref(context_.on_error)}) {
        if (!on_error.get()) continue;
        try {
          on_error.get()({.place = CacheError::Place::kHandler,
                          .name = options_.name,
                          .key = std::string{key(note)},
                          .message = error.what(),
                          .cause = std::current_exception()});
        } catch (...) {
          context_.log.error("{}: on_error failed", synced_.name());
        }
      }
    });
  }
  if (note.kind == Notification::Kind::kAdd && note.initial) settle_initial(1);
  const Clock::TimePoint end = context_.clock.now();
  if (pausing_) pause_until_ = end + options_.failure_pause;
  const auto took = end - start;
  context_.metrics->handler_duration.observe(std::chrono::duration<double>(took).count());
  if (took > kSlowInline && placement() == Placement::kLibrary) slow_inline(note, took);
  if (took > 100ms && context_.log.enabled(LogLevel::kInfo)) {
    if (const std::size_t wait = backlog(); wait > 1024) {
      context_.log.info("{}: slow handler: a call took {} ms, {} notifications are waiting",
                        synced_.name(), took / 1ms, wait);
    }
  }
}

/// Reports an inline handler that blocked its thread for too long.
void Listener::slow_inline(const Notification& note, Clock::Duration took) noexcept {
  context_.metrics->slow_inline_calls.add();
  leave_loop();
  const Clock::TimePoint now = context_.clock.now();
  if (slow_reported_ && now - *slow_reported_ < kSlowReports) return;
  slow_reported_ = now;
  try {
    context_.log.warning(
        "{}: the inline handler took {} ms for {}; workers call it from now on. Use "
        "Delivery::kQueued for a handler that takes longer than 10 ms",
        synced_.name(), took / 1ms, key(note));
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): a line of the log is lost
  }
}

std::size_t Listener::backlog() const {
  const std::lock_guard guard{mutex_};
  return waiting_.size() - void_;
}
std::uint64_t Listener::failures() const {
  const std::lock_guard guard{mutex_};
  return failures_;
}
std::string Listener::last_failure() const {
  const std::lock_guard guard{mutex_};
  return last_failure_;
}

}  // namespace detail
}  // namespace kube
