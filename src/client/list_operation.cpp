// SPDX-License-Identifier: Apache-2.0
#include "list_operation.hpp"

#include "answer.hpp"

#include <algorithm>
#include <utility>

namespace kube::detail {

ListOperation::ListOperation(ResourceCore resource, Request request, Poller poller)
    : resource_(std::move(resource)), request_(std::move(request)), poller_(std::move(poller)) {
  sending_.emplace(*resource_.rest_, resource_.target_, request_,
                   Payload{.wanted = resource_.target_.type, .many = Many::kYes}, poller_);
}

TransportError ListOperation::canceled() const {
  if (sending_) return sending_->canceled();
  return {TransportError::Kind::kCanceled, resource_.rest_->describe(request_) + ": canceled"};
}

Clock::TimePoint ListOperation::wake_at() const noexcept {
  if (sending_) return sending_->wake_at();
  if (rest_of_status_) return rest_of_status_->wake_at();
  return admission_ ? admission_->wake_at() : Clock::TimePoint::max();
}

Poll ListOperation::poll(const OnItem& on_item, std::size_t budget) {
  budget = std::max<std::size_t>(budget, 1);
  for (;;) {
    Poll result = Poll::kReady;
    switch (state_) {
      case State::kSending:
        result = sending_->poll();
        if (result == Poll::kReady) take_answer();
        break;
      case State::kAnswered:
        result = poll_first();
        break;
      case State::kStatus:
        result = poll_status();
        break;
      case State::kItems:
        result = poll_items(on_item, budget);
        break;
      case State::kDone:
        return Poll::kReady;
    }
    if (result != Poll::kReady) return result;
  }
}

void ListOperation::take_answer() {
  answer_ = sending_->take();
  sending_.reset();
  state_ = State::kAnswered;
}

Poll ListOperation::poll_first() {
  const std::optional<std::string_view> chunk = read();
  if (!chunk) return Poll::kPending;
  if (chunk->empty()) {
    throw unexpected_answer(request_, answer_.stream->head(), "the answer has an empty body");
  }
  if (begins_status(*chunk, answer_.format)) {
    begin_ = *chunk;
    rest_of_status_.emplace(*resource_.rest_, request_, *answer_.stream, poller_);
    state_ = State::kStatus;
    return Poll::kReady;
  }
  unread_ = *chunk;
  items_.emplace(answer_.format, resource_.wire_type(*resource_.target_.type), resource_.decoding_);
  account_.emplace(resource_.rest_->budget(), resource_.rest_->clock(),
                   resource_.rest_->describe(request_));
  admission_.emplace(*account_);
  state_ = State::kItems;
  return Poll::kReady;
}

Poll ListOperation::poll_status() {
  if (rest_of_status_->poll() == Poll::kPending) return Poll::kPending;
  if (const Ref<meta::v1::Status> status =
          find_status(begin_ + rest_of_status_->take(), answer_.format)) {
    throw ApiError{*status};
  }
  throw unexpected_answer(request_, answer_.stream->head(), "the answer is a damaged Status");
}

Poll ListOperation::poll_items(const OnItem& on_item, std::size_t& budget) {
  if (unread_.empty()) {
    if (!admission_->poll(items_->held(), poller_)) return Poll::kPending;
    const std::optional<std::string_view> chunk = read();
    if (!chunk) return Poll::kPending;
    if (chunk->empty()) {
      metadata_ = items_->finish(on_item);
      state_ = State::kDone;
      return Poll::kReady;
    }
    unread_ = *chunk;
  }
  if (budget == 0) return Poll::kMore;
  const std::string_view piece = unread_.substr(0, budget);
  budget -= piece.size();
  items_->feed(piece, on_item);
  unread_.remove_prefix(piece.size());
  account_->hold(items_->held());
  return Poll::kReady;
}

std::optional<std::string_view> ListOperation::read() {
  try {
    return answer_.stream->poll_read();
  } catch (const TransportError& error) {
    throw resource_.rest_->in_context(request_, error);
  }
}

}  // namespace kube::detail
