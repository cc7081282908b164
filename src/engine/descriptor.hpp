// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <memory>

#include "job.hpp"

namespace kube::detail {

class EventLoop;

/// A file descriptor that a job waits for, level-triggered.
///
/// Thread safety: only for the thread that runs the loop.
class Descriptor : public boost::intrusive::list_base_hook<> {
 public:
  /// `job` is scheduled when the descriptor is ready. `loop` must outlive this object. The
  /// descriptor is not owned.
  Descriptor(EventLoop& loop, int fd, std::weak_ptr<Job> job);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_; }
  /// Sets the events of interest: POLLIN, POLLOUT or both. 0 removes the descriptor from epoll, so
  /// that a hang-up does not keep the loop busy.
  void wait_for(short events) noexcept;
  /// Returns the events since the last call, or POLLIN | POLLOUT if the loop does not know them.
  [[nodiscard]] short take_events() noexcept;

 private:
  friend class EventLoop;
  void ready(std::uint32_t events) noexcept;

  EventLoop& loop_;
  const int fd_;
  const std::weak_ptr<Job> job_;
  short wanted_ = 0;
  short registered_ = 0;
  short events_ = 0;
};

}  // namespace kube::detail
