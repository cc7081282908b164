// SPDX-License-Identifier: Apache-2.0
#include "readable_watch.hpp"

#include <poll.h>

#include <utility>

#include "scheduler.hpp"

namespace kube::detail {

ReadableWatch::ReadableWatch(const std::shared_ptr<Scheduler>& scheduler, FileDescriptor fd,
                             std::weak_ptr<Waker> waker) noexcept
    : Job(Placement::kLoop), waker_(std::move(waker)), fd_(std::move(fd)) {
  bind(scheduler);
}

void ReadableWatch::arm() noexcept {
  is_armed_ = true;
  schedule();
}

void ReadableWatch::end() noexcept {
  has_ended_ = true;
  schedule();
}

void ReadableWatch::run() noexcept {
  if (has_ended_) {
    descriptor_.reset();
    return;
  }
  if (!descriptor_) descriptor_.emplace(scheduler()->loop(), fd_.get(), weak_from_this());
  if (descriptor_->take_events() == 0) {
    if (is_armed_) descriptor_->wait_for(POLLIN);
    return;
  }
  is_armed_ = false;
  descriptor_->wait_for(0);
  if (const auto waker = waker_.lock()) waker->wake();
}

}  // namespace kube::detail
