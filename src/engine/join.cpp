// SPDX-License-Identifier: Apache-2.0
#include <kube/engine/join.hpp>

#include "base/waker.hpp"

#include <stdexcept>

namespace kube::detail {

namespace {

/// How many Tasks are started before other tasks of the queue have their turn.
constexpr std::size_t kStartsAtOnce = 16;

}  // namespace

Join::Join(std::size_t count, JoinUntil until) : until_(until), count_(count) {
  if (until_ == JoinUntil::kFirst) stop_ = std::stop_source{};
}

void Join::begun(const TaskContext& context) {
  context_ = context;
  if (until_ == JoinUntil::kAll) return;
  context_.stop = stop_.get_token();
  pass_on_.emplace(context.stop, PassOn{stop_});
}

bool Join::poll() {
  for (std::size_t left = kStartsAtOnce; left > 0 && started_ < count_; --left) {
    start(started_++, context_);
  }
  if (started_ < count_) {
    poll_again();
    return false;
  }
  return ended_ == count_;
}

void Join::ended(std::size_t index) noexcept {
  ++ended_;
  if (first_ == kNone) {
    first_ = index;
    if (until_ == JoinUntil::kFirst) {
      count_ = started_;  // the others need not start
      stop_.request_stop();
    }
  }
  if (ended_ < count_) return;
  if (const auto self = waker().lock()) self->wake();
}

void require_startable(bool is_startable) {
  if (!is_startable) {
    throw std::invalid_argument("when_all or when_any: a Task is empty, or was awaited before");
  }
}

}  // namespace kube::detail
