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

/// Result of DeltaQueue::pop().
enum class PopResult { kProcessed, kEmpty, kClosed };
/// Returns the name for messages.
[[nodiscard]] std::string_view to_string(PopResult result) noexcept;

namespace detail {

class Waker;

/// Type-erased queue of deltas between one Reflector and one consumer.
///
/// The queue is *synced* once all objects of the first replace() have been processed, or
/// immediately if another operation came first. Later lists do not change that.
/// Thread safety: producers from any thread; pop() from one thread at a time.
class DeltaQueueCore : public ReflectorTarget {
 public:
  /// Receives one batch. `in_initial_list` is true until the queue is synced.
  using Process = std::function<void(std::vector<AnyDelta>& deltas, bool in_initial_list)>;

  DeltaQueueCore(const ObjectAccess& access, std::shared_ptr<const IndexerCore> known,
                 DeltaQueueOptions options);

  /// Takes the next deltas and calls `process` with them, without holding a lock. Waits for deltas
  /// unless `wait` is false. A closed queue still returns its remaining deltas. Exceptions of
  /// `process` propagate; the deltas taken are lost then, until a new list delivers the objects
  /// again. Any other exception (std::bad_alloc) leaves the queue unchanged.
  PopResult pop(const Process& process, bool wait = true);

  /// A batch that was taken from the queue and is being processed.
  struct Taken {
    std::vector<AnyDelta> deltas;
    bool in_initial_list = false;
    std::size_t count = 0;          ///< number of deltas when the batch was taken
    std::size_t initial_items = 0;  ///< items of the first list among them
    std::size_t left = 0;           ///< deltas left in the queue
    std::optional<Clock::TimePoint> read_at;
    Clock::TimePoint start{};
  };
  /// Non-blocking form of pop(): takes the next deltas, to be followed by processed(). Returns
  /// false if there are none. An exception leaves the queue unchanged.
  [[nodiscard]] bool take(Taken& taken);
  /// Ends the processing of a batch. `failed`: not all of its deltas were processed.
  void processed(const Taken& taken, bool failed) noexcept;
  /// Sets the waker that is woken when there are deltas to take. May be null.
  void set_consumer(std::shared_ptr<Waker> consumer);
  /// While held, producer and consumer are the same job: the consumer is not woken, and the
  /// producer never waits for room.
  void hold(bool on);
  /// Wakes all waiting threads. Producers may continue, and no longer wait.
  void close();

  [[nodiscard]] bool has_synced() const { return synced_.done(); }
  [[nodiscard]] const DoneSignal& synced() const noexcept { return synced_; }
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] ObjectRef known(const void* object) const override;
  [[nodiscard]] bool is_full() const override;

 protected:
  /// Moves the next deltas into `batch`: all, or none if it throws. Returns how many of them count
  /// as initial items, at most `initial`.
  virtual std::size_t take_locked(std::vector<AnyDelta>& batch, std::size_t initial) = 0;
  [[nodiscard]] virtual std::size_t size_locked() const = 0;
  /// Called when the batch of the last take_locked() has been processed.
  virtual void processed_locked() {}

  /// Stores the current time in an event that was just read, if lag is measured.
  void stamp(AnyDelta& delta) const {
    if (options_.lag) delta.read_at = options_.clock->now();
  }
  /// Locks the queue, and waits until there is room.
  std::unique_lock<std::mutex> lock_for_producer();
  /// Last step of every producer: wakes the consumer, and counts the items of the first replace().
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
  std::size_t initial_ = 0;  // items of the first list not yet processed

  const DoneSignal synced_;
};

/// All deltas in the order in which they arrived, with a list as one delta (client-go: RealFIFO).
/// The consumer computes which objects a list has deleted, so the result does not depend on the
/// store's content at the time of the list. Deltas of different objects are taken in batches.
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

/// Per object, all deltas since it was last taken; objects are taken in the order of their first
/// queued delta (client-go's classic queue). A list becomes one delta per object, plus tombstones
/// for known objects that are not in the list.
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
  /// Enqueues a tombstone for a key.
  void erase(std::string key);
  void replace(std::vector<ObjectRef> objects, std::string version) override;
  void resync(std::shared_ptr<const ResyncRequest> request) override;
  void bookmark(std::string version) override;
  [[nodiscard]] std::size_t size() const override;
  /// Returns the newest object of each queued key.
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
