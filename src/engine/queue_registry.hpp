// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/intrusive/list.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "serial_queue_core.hpp"

namespace kube::detail {

/// A coroutine that only the Runtime owns.
class SpawnedBase : public boost::intrusive::list_base_hook<> {
 public:
  SpawnedBase() = default;
  SpawnedBase(const SpawnedBase&) = delete;
  SpawnedBase& operator=(const SpawnedBase&) = delete;
  /// Destroys the coroutine, wherever it waits, and itself.
  virtual void destroy() noexcept = 0;

 protected:
  virtual ~SpawnedBase() = default;
};

/// All serial queues and spawned coroutines of a Runtime, which end with it.
///
/// Thread safety: all methods may be called from any thread.
class QueueRegistry {
 public:
  /// Return false if the Runtime has ended.
  bool add(SerialQueueCore& queue) noexcept;
  bool add(SpawnedBase& spawned) noexcept;
  void remove(SerialQueueCore& queue) noexcept;
  /// Returns false if the coroutine is about to be destroyed.
  bool remove(SpawnedBase& spawned) noexcept;

  /// Called before a thread runs a queue. Returns false if the Runtime has ended.
  [[nodiscard]] bool enter() noexcept;
  void leave() noexcept;
  /// Called when the Runtime ends and runs no more jobs. Waiting coroutines resume as after a stop,
  /// and are destroyed if they wait again: here, or by the last thread that leaves a queue.
  void end() noexcept;
  /// True if the calling thread is inside end(), and may destroy coroutines of all queues.
  [[nodiscard]] static bool is_ending_here() noexcept;

 private:
  static constexpr std::uint32_t kEnded = std::uint32_t{1} << 31;
  using Registered =
      boost::intrusive::member_hook<SerialQueueCore, boost::intrusive::list_member_hook<>,
                                    &SerialQueueCore::registered>;

  void finish() noexcept;
  template <typename Visit>
  void visit(const Visit& visit) noexcept;

  std::atomic<std::uint32_t> inside_ = 0;  ///< number of threads inside queues, plus kEnded
  std::mutex mutex_;
  // Guarded by mutex_:
  boost::intrusive::list<SerialQueueCore, Registered> queues_;
  boost::intrusive::list<SpawnedBase> spawned_;
};

}  // namespace kube::detail
