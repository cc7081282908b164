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

/// Deltas on their way from a Reflector (or any other producer) to one consumer: an InOrderQueue or a DeltaFifo.
/// Copies are the same queue.
///
/// It is *synced* once everything that the first replace() brought has been processed; if something else came
/// first, at once. Later lists do not change that.
/// Thread safety: producers from any thread; pop() from one thread at a time.
template <typename T>
class DeltaQueue {
 public:
  using Process = std::function<void(const std::vector<Delta<T>>& deltas, bool in_initial_list)>;

  void add(const Ref<T>& object) { core_->add(detail::ObjectRef::from(object)); }
  void update(const Ref<T>& object) { core_->update(detail::ObjectRef::from(object)); }
  /// `last` is the state of the object when it was deleted.
  void erase(const Ref<T>& last) { core_->erase(detail::ObjectRef::from(last)); }
  /// `objects` are all that exist, as of `resource_version`.
  void replace(const std::vector<Ref<T>>& objects, std::string resource_version) {
    std::vector<detail::ObjectRef> all;
    all.reserve(objects.size());
    for (const Ref<T>& object : objects) all.push_back(detail::ObjectRef::from(object));
    core_->replace(std::move(all), std::move(resource_version));
  }
  /// Shows the consumer all stored objects again.
  void resync() { core_->resync(nullptr); }
  /// Nothing has changed up to `resource_version`.
  void bookmark(std::string resource_version) { core_->bookmark(std::move(resource_version)); }

  /// Takes the next deltas and calls `process` with them, without a lock. Waits for some unless `wait` is false. A
  /// closed queue still hands out the deltas that it has. An exception of `process` passes through; the deltas that
  /// were taken are gone then.
  PopResult pop(Process process, bool wait = true) {
    return core_->pop(detail::typed_process<T>(std::move(process)), wait);
  }
  /// Wakes all who wait. Producers may go on, without waiting.
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

/// The queue of client-go since 0.36: all deltas in the order in which they came, a list as one delta. The
/// consumer finds out what a list has deleted. Deltas of different objects are taken in batches.
template <typename T>
class InOrderQueue : public DeltaQueue<T> {
 public:
  explicit InOrderQueue(DeltaQueueOptions options = {})
      : DeltaQueue<T>(std::make_shared<detail::InOrderQueueCore>(detail::kObjectAccess<T>, nullptr,
                                                                 std::move(options))) {}
};

/// The classic queue of client-go: per object all deltas since it was last taken, in the order in which objects got
/// their first. A list becomes one delta per object, and tombstones for objects that are known and not in the list.
template <typename T>
class DeltaFifo : public DeltaQueue<T> {
 public:
  /// `known` is the store that the consumer fills.
  explicit DeltaFifo(const IndexerView<T>& known, DeltaQueueOptions options = {})
      : DeltaQueue<T>(std::make_shared<detail::DeltaFifoCore>(
            detail::kObjectAccess<T>, detail::Inside::core(known), std::move(options))) {}
  /// Without a store: a list deletes only what is queued.
  explicit DeltaFifo(DeltaQueueOptions options = {})
      : DeltaQueue<T>(std::make_shared<detail::DeltaFifoCore>(detail::kObjectAccess<T>, nullptr,
                                                              std::move(options))) {}
};

}  // namespace kube
