// SPDX-License-Identifier: Apache-2.0
#include "descriptor.hpp"

#include <sys/epoll.h>

#include <utility>

#include "event_loop.hpp"

namespace kube::detail {

Descriptor::Descriptor(EventLoop& loop, int fd, std::weak_ptr<Job> job)
    : loop_(loop), fd_(fd), job_(std::move(job)) {
  loop_.descriptors_.push_back(*this);
  loop_descriptors::add(fd_);
}

Descriptor::~Descriptor() {
  loop_descriptors::remove(fd_);
  wait_for(0);
  loop_.forget(*this);
  loop_.descriptors_.erase(loop_.descriptors_.iterator_to(*this));
}

void Descriptor::wait_for(short events) noexcept {
  wanted_ = events;
  if (events == registered_) return;
  // poll() and epoll use the same values for these constants.
  epoll_event event{.events = static_cast<std::uint32_t>(events), .data = {.ptr = this}};
  const int operation = events == 0        ? EPOLL_CTL_DEL
                        : registered_ == 0 ? EPOLL_CTL_ADD
                                           : EPOLL_CTL_MOD;
  if (::epoll_ctl(loop_.epoll_.get(), operation, fd_, &event) == 0 || events == 0) {
    registered_ = events;
  } else {
    loop_.blind_ = true;
  }
}

short Descriptor::take_events() noexcept { return std::exchange(events_, 0); }

void Descriptor::ready(std::uint32_t events) noexcept {
  events_ = static_cast<short>(events_ | static_cast<short>(events));
  if (const auto job = job_.lock()) job->schedule();
}

}  // namespace kube::detail
