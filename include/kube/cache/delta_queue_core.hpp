// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/condition.hpp>
#include <kube/cache/delta.hpp>
#include <kube/cache/delta_queue_options.hpp>
#include <kube/cache/done_signal.hpp>
#include <kube/cache/indexer_core.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kube {

enum class PopResult { kProcessed, kEmpty, kClosed };
[[nodiscard]] std::string_view to_string(PopResult result) noexcept;

namespace detail {

class Waker;

/// Deltas on their way from one Reflector to one consumer.
///
/// It is *synced* once everything that the first replace() brought has been processed; if something else
/// came first, at once. Later lists do not change that.
/// Thread safety: producers from any thread; pop() from one thread at a time.
class DeltaQueueCore : public ReflectorTarget {
 public:
  /// Gets what was taken. `in_initial_list` is true until the queue is synced.
  using Process = std::function<void(std::vector<AnyDelta>& deltas, bool in_initial_list)>;

  DeltaQueueCore(const ObjectAccess& access, std::shared_ptr<const IndexerCore> known,
                 DeltaQueueOptions options);

  /// Takes the next deltas and calls `process` with them, without a lock. Waits for some unless `wait` is false. A closed
  /// queue still hands out what it has. What `process` throws passes through; what was taken is gone then, and only a new
  /// list brings it again. Whatever else is thrown (std::bad_alloc) leaves the queue as it was.
  PopResult pop(const Process& process, bool wait = true);

  /// Deltas that were taken from the queue and are being processed.
  struct Taken {
    std::vector<AnyDelta> deltas;
    bool in_initial_list = false;
    std::size_t count = 0;          ///< of deltas when they were taken
    std::size_t initial_items = 0;  ///< of the first list
    std::size_t left = 0;           ///< in the queue
    std::optional<Clock::TimePoint> read_at;
    Clock::TimePoint start{};
  };
  /// The form of pop() for a consumer that does not wait: takes the next deltas, to be followed by processed(). False if
  /// there are none. What it throws leaves the queue as it was.
  [[nodiscard]] bool take(Taken& taken);
  /// `failed`: they were not processed, or not all of them.
  void processed(const Taken& taken, bool failed) noexcept;
  /// Is woken when there are deltas to take; null: nobody is.
  void set_consumer(std::shared_ptr<Waker> consumer);
  /// While it is on, the consumer is the producer: it is not woken, and never waits for room.
  void hold(bool on);
  /// Wakes all who wait. Producers may go on, without waiting.
  void close();

  [[nodiscard]] bool has_synced() const { return synced_.done(); }
  [[nodiscard]] const DoneSignal& synced() const noexcept { return synced_; }
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] ObjectRef known(const void* object) const override;
  [[nodiscard]] bool is_full() const override;

 protected:
  /// Moves the next deltas into `batch`, all or (if it throws) none; returns how many initial items they were, at
  /// most `initial`.
  virtual std::size_t take_locked(std::vector<AnyDelta>& batch, std::size_t initial) = 0;
  [[nodiscard]] virtual std::size_t size_locked() const = 0;
  /// Called when what take_locked() gave has been processed.
  virtual void processed_locked() {}

  /// Notes the time in an event that was just read, if somebody wants to know.
  void stamp(AnyDelta& delta) const {
    if (options_.lag) delta.read_at = options_.clock->now();
  }
  /// Waits until there is room.
  std::unique_lock<std::mutex> lock_for_producer();
  /// How a producer ends: wakes the consumer, and notes how many items the first replace() brought.
  enum class Operation { kOther, kEvent, kReplace };
  void publish(std::unique_lock<std::mutex> lock, Operation operation, std::size_t listed = 0);

  const ObjectAccess& access_;
  const std::shared_ptr<const IndexerCore> known_;
  const DeltaQueueOptions options_;
  mutable std::mutex mutex_;

 private:
  [[nodiscard]] bool take(std::unique_lock<std::mutex>& lock, Taken& taken);
  [[nodiscard]] bool has_room_locked() const;
  void fire_if_synced(std::unique_lock<std::mutex> lock);

  Condition items_;
  Condition space_;
  // Guarded by mutex_:
  std::shared_ptr<Waker> consumer_;
  bool closed_ = false;
  bool held_ = false;
  bool populated_ = false;
  bool list_failed_ = false;
  bool fired_ = false;
  std::size_t initial_ = 0;  // items of the first list that are not processed

  const DoneSignal synced_;
};

/// The queue of client-go since 0.36: all deltas in the order in which they came, a list as one delta. The
/// consumer finds out what a list has deleted, so nothing depends on what the store holds meanwhile.
/// Deltas of different objects are taken in batches.
class InOrderQueueCore final : public DeltaQueueCore {
 public:
  explicit InOrderQueueCore(const ObjectAccess& access,
                            std::shared_ptr<const IndexerCore> known = nullptr,
                            DeltaQueueOptions options = {});
  ~InOrderQueueCore() override;

  void add(ObjectRef object) override;
  void update(ObjectRef object) override;
  void erase(ObjectRef last) override;
  void replace(std::vector<ObjectRef> objects, std::string version) override;
  void resync(std::shared_ptr<const ResyncRequest> request) override;
  void bookmark(std::string version) override;
  [[nodiscard]] std::size_t size() const override;

 private:
  struct Items;
  std::size_t take_locked(std::vector<AnyDelta>& batch, std::size_t initial) override;
  [[nodiscard]] std::size_t batch_end_locked(std::size_t initial) const;
  [[nodiscard]] std::size_t size_locked() const override;
  void push(AnyDelta delta, bool populates = true);

  std::unique_ptr<Items> queued_;  // guarded by mutex_
};

/// The classic queue of client-go: per object all deltas since it was last taken, in the order in which
/// objects got their first. A list becomes one delta per object, and tombstones for what is known and not
/// in the list.
class DeltaFifoCore final : public DeltaQueueCore {
 public:
  /// `known` (may be null) is the store that the consumer fills.
  explicit DeltaFifoCore(const ObjectAccess& access,
                         std::shared_ptr<const IndexerCore> known = nullptr,
                         DeltaQueueOptions options = {},
                         DeltaType listed_as = DeltaType::kReplaced);
  ~DeltaFifoCore() override;

  void add(ObjectRef object) override;
  void update(ObjectRef object) override;
  void erase(ObjectRef last) override;
  /// Enqueues a tombstone of a key.
  void erase(std::string key);
  void replace(std::vector<ObjectRef> objects, std::string version) override;
  void resync(std::shared_ptr<const ResyncRequest> request) override;
  void bookmark(std::string version) override;
  [[nodiscard]] std::size_t size() const override;
  /// The newest object of each queued key.
  [[nodiscard]] std::vector<ObjectRef> list() const;

 private:
  struct Items;
  std::size_t take_locked(std::vector<AnyDelta>& batch, std::size_t initial) override;
  [[nodiscard]] std::size_t size_locked() const override;
  void processed_locked() override;
  void push(AnyDelta delta);
  void push_locked(std::string key, AnyDelta delta);
  [[nodiscard]] bool is_known_locked(const std::string& key) const;

  const DeltaType listed_as_;
  std::unique_ptr<Items> queued_;  // guarded by mutex_
};

}  // namespace detail
}  // namespace kube
