// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file_descriptor.hpp"

#include <atomic>
#include <memory>
#include <optional>

#include "descriptor.hpp"
#include "job.hpp"

namespace kube::detail {

/// Wakes an operation when a file descriptor is readable: once after each arm(), so that the loop
/// does not report it again while another thread reads.
///
/// Thread safety: all public methods may be called from any thread.
class ReadableWatch final : public Job {
 public:
  ReadableWatch(const std::shared_ptr<Scheduler>& scheduler, FileDescriptor fd,
                std::weak_ptr<Waker> waker) noexcept;

  void arm() noexcept;
  /// Must be called before the last reference is dropped, as long as the loop runs: only its thread
  /// may remove the descriptor.
  void end() noexcept;

 private:
  void run() noexcept override;

  const std::weak_ptr<Waker> waker_;
  const FileDescriptor fd_;
  std::atomic<bool> is_armed_ = false;
  std::atomic<bool> has_ended_ = false;
  std::optional<Descriptor> descriptor_;  // used on the loop's thread only
};

}  // namespace kube::detail
