// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/inside.hpp>
#include <kube/cache/delta_queue_core.hpp>
#include <kube/cache/indexer_view.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {

namespace detail {

template <typename T>
[[nodiscard]] DeltaQueueCore::Process typed_process(
    std::function<void(const std::vector<Delta<T>>& deltas, bool in_initial_list)> process) {
  return [process = std::move(process)](std::vector<AnyDelta>& deltas, bool in_initial_list) {
    std::vector<Delta<T>> typed;
    typed.reserve(deltas.size());
    for (const AnyDelta& delta : deltas) typed.push_back(typed_delta<T>(delta));
    process(typed, in_initial_list);
  };
}

}  // namespace detail

template <typename T>
class InOrderQueue;
template <typename T>
class DeltaFifo;

/// Deltas queued by a Reflector (or another producer) for one consumer: an InOrderQueue or a
/// DeltaFifo. Copies refer to the same queue.
///
/// The queue is *synced* once all objects of the first replace() have been processed, or
/// immediately if another operation came first. Later lists do not change that.
/// Thread safety: producers from any thread; pop() from one thread at a time.
template <typename T>
class DeltaQueue {
 public:
  /// Receives one batch. `in_initial_list` is true until the queue is synced.
  using Process = std::function<void(const std::vector<Delta<T>>& deltas, bool in_initial_list)>;

  /// Enqueues an addition.
  void add(const Ref<T>& object) { core_->add(detail::ObjectRef::from(object)); }
  /// Enqueues a change of an object.
  void update(const Ref<T>& object) { core_->update(detail::ObjectRef::from(object)); }
  /// Enqueues a deletion. `last` is the object's final state.
  void erase(const Ref<T>& last) { core_->erase(detail::ObjectRef::from(last)); }
  /// Enqueues a list: `objects` are all that exist, as of `resource_version`.
  void replace(const std::vector<Ref<T>>& objects, std::string resource_version) {
    std::vector<detail::ObjectRef> all;
    all.reserve(objects.size());
    for (const Ref<T>& object : objects) all.push_back(detail::ObjectRef::from(object));
    core_->replace(std::move(all), std::move(resource_version));
  }
  /// Delivers all stored objects to the consumer again.
  void resync() { core_->resync(nullptr); }
  /// Records that nothing has changed up to `resource_version`.
  void bookmark(std::string resource_version) { core_->bookmark(std::move(resource_version)); }

  /// Takes the next deltas and calls `process` with them, without holding a lock. Waits for deltas
  /// unless `wait` is false. A closed queue still returns its remaining deltas. Exceptions of
  /// `process` propagate; the deltas taken are lost then.
  PopResult pop(Process process, bool wait = true) {
    return core_->pop(detail::typed_process<T>(std::move(process)), wait);
  }
  /// Wakes all waiting threads. Producers may continue, and no longer wait.
  void close() { core_->close(); }
  [[nodiscard]] bool has_synced() const { return core_->has_synced(); }
  [[nodiscard]] const DoneSignal& synced() const noexcept { return core_->synced(); }
  [[nodiscard]] std::size_t size() const { return core_->size(); }

 private:
  friend struct detail::Inside;
  friend class InOrderQueue<T>;
  friend class DeltaFifo<T>;
  explicit DeltaQueue(std::shared_ptr<detail::DeltaQueueCore> core) : core_(std::move(core)) {}

  std::shared_ptr<detail::DeltaQueueCore> core_;
};

/// All deltas in the order in which they arrived, with a list as one delta (client-go: RealFIFO).
/// The consumer computes which objects a list has deleted. Deltas of different objects are taken in
/// batches.
template <typename T>
class InOrderQueue : public DeltaQueue<T> {
 public:
  explicit InOrderQueue(DeltaQueueOptions options = {})
      : DeltaQueue<T>(std::make_shared<detail::InOrderQueueCore>(detail::kObjectAccess<T>, nullptr,
                                                                 std::move(options))) {}
};

/// Per object, all deltas since it was last taken; objects are taken in the order of their first
/// queued delta (client-go's classic queue). A list becomes one delta per object, plus tombstones
/// for known objects that are not in the list.
template <typename T>
class DeltaFifo : public DeltaQueue<T> {
 public:
  /// `known` is the store that the consumer fills.
  explicit DeltaFifo(const IndexerView<T>& known, DeltaQueueOptions options = {})
      : DeltaQueue<T>(std::make_shared<detail::DeltaFifoCore>(
            detail::kObjectAccess<T>, detail::Inside::core(known), std::move(options))) {}
  /// Without a store, a list deletes only queued objects.
  explicit DeltaFifo(DeltaQueueOptions options = {})
      : DeltaQueue<T>(std::make_shared<detail::DeltaFifoCore>(detail::kObjectAccess<T>, nullptr,
                                                              std::move(options))) {}
};

}  // namespace kube
