// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/intrusive/list.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "serial_queue_core.hpp"

namespace kube::detail {

/// A coroutine that nobody but the Runtime owns.
class SpawnedBase : public boost::intrusive::list_base_hook<> {
 public:
  SpawnedBase() = default;
  SpawnedBase(const SpawnedBase&) = delete;
  SpawnedBase& operator=(const SpawnedBase&) = delete;
  /// Destroys the coroutine wherever it waits, and itself.
  virtual void destroy() noexcept = 0;

 protected:
  virtual ~SpawnedBase() = default;
};

/// All serial queues and spawned coroutines of a Runtime, so that its end is theirs.
///
/// Thread safety: all methods may be called from any thread.
class QueueRegistry {
 public:
  /// False if the Runtime has ended.
  bool add(SerialQueueCore& queue) noexcept;
  bool add(SpawnedBase& spawned) noexcept;
  void remove(SerialQueueCore& queue) noexcept;
  /// Returns false if it is about to be destroyed.
  bool remove(SpawnedBase& spawned) noexcept;

  /// A thread is about to run a queue; false if the Runtime has ended.
  [[nodiscard]] bool enter() noexcept;
  void leave() noexcept;
  /// The Runtime ends, and runs no job any more. Coroutines that wait are resumed as after a stop, and destroyed if they
  /// wait again: here, or by the last thread that leaves a queue.
  void end() noexcept;
  /// Whether the calling thread is inside of end(), and may destroy coroutines of all queues.
  [[nodiscard]] static bool is_ending_here() noexcept;

 private:
  static constexpr std::uint32_t kEnded = std::uint32_t{1} << 31;
  using Registered =
      boost::intrusive::member_hook<SerialQueueCore, boost::intrusive::list_member_hook<>,
                                    &SerialQueueCore::registered>;

  void finish() noexcept;
  template <typename Visit>
  void visit(const Visit& visit) noexcept;

  std::atomic<std::uint32_t> inside_ = 0;  ///< threads inside of a queue, and kEnded
  std::mutex mutex_;
  // Guarded by mutex_:
  boost::intrusive::list<SerialQueueCore, Registered> queues_;
  boost::intrusive::list<SpawnedBase> spawned_;
};

}  // namespace kube::detail
