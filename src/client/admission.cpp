// SPDX-License-Identifier: Apache-2.0
#include "admission.hpp"

namespace kube::detail {

Admission::~Admission() {
  if (until_ != Clock::TimePoint::max()) account_.budget_->forget(*this);
}

bool Admission::poll(std::size_t incomplete, const Poller& poller) {
  if (poller.scheduler == nullptr) {
    account_.admit(incomplete, poller.stop);
    return true;
  }
  while (account_.has_to_wait(incomplete)) {
    const Clock::TimePoint now = account_.clock_.now();
    if (until_ == Clock::TimePoint::max()) {
      account_.budget_->count_refusal();
      until_ = now + ByteAccount::kPatience;
    } else if (now >= until_) {
      account_.refuse(incomplete);
    }
    if (account_.budget_->add_waiter({this, poller.waker})) return false;
  }
  if (until_ != Clock::TimePoint::max()) account_.budget_->forget(*this);
  until_ = Clock::TimePoint::max();
  return true;
}

}  // namespace kube::detail
