// SPDX-License-Identifier: Apache-2.0
#include "wait_operation.hpp"

#include "object_state.hpp"
#include "rest_client.hpp"

#include "base/deadline.hpp"
#include <kube/api/errors.hpp>
#include <kube/api/object_key.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

namespace kube::detail {

using namespace std::chrono_literals;

namespace {

/// A watch ends after this time, so that a server that no longer responds is noticed.
constexpr std::chrono::seconds kWatchTimeout{300};

/// Returns whether trying again cannot help. A kind that is not served (404) may be defined later.
bool is_permanent(const ApiError& error) {
  return is_bad_request(error) || is_unauthorized(error) || is_forbidden(error) ||
         is_method_not_supported(error) || is_invalid(error);
}

}  // namespace

WaitOperation::WaitOperation(ResourceCore resource, WaitRequest request, Poller poller)
    : resource_(std::move(resource)),
      request_(std::move(request)),
      poller_(std::move(poller)),
      deadline_(time_after(resource_.rest()->clock(), request_.timeout)),
      options_{.field_selector = "metadata.name=" + request_.name},
      backoff_({.initial = 100ms, .factor = 2, .jitter = 0.2, .cap = 5s, .reset_after = 30s}) {}

Poll WaitOperation::poll() {
  while (state_ != State::kDone) {
    if (resource_.rest()->clock().now() >= deadline_) throw timed_out();
    try {
      if (!advance()) return Poll::kPending;
    } catch (const ApiError& error) {
      if (is_permanent(error)) throw;
      version_.clear();
      pause(error.what());
    } catch (const TransportError& error) {
      if (error.kind() == TransportError::Kind::kCanceled) throw;
      pause(error.what());
    }
    // Not inside of the try block: exceptions of the predicate end the wait.
    if (std::exchange(has_news_, false) && request_.is_done(object_)) state_ = State::kDone;
  }
  return Poll::kReady;
}

bool WaitOperation::advance() {
  switch (state_) {
    case State::kPause:
      if (resource_.rest()->clock().now() < not_before_) return false;
      state_ = version_.empty() ? State::kListing : State::kOpening;
      return true;
    case State::kListing:
      return list();
    case State::kOpening:
      return open();
    case State::kWatching:
      return watch();
    case State::kDone:
      break;
  }
  return true;
}

bool WaitOperation::list() {
  if (!list_) {
    listed_ = nullptr;
    list_ = resource_.start_list(options_, poller_);
  }
  const Poll result = list_->poll([this](const AnyRef& item) { listed_ = item; },
                                  std::numeric_limits<std::size_t>::max());
  if (result != Poll::kReady) return false;
  object_ = std::move(listed_);
  version_ = list_->metadata().resource_version;
  list_.reset();
  problem_.clear();
  has_news_ = true;
  is_known_ = true;
  state_ = State::kOpening;
  return true;
}

bool WaitOperation::open() {
  if (!watch_) {
    ListOptions options = options_;
    options.resource_version = version_;
    options.timeout = kWatchTimeout;
    options.allow_watch_bookmarks = true;
    watch_ = resource_.start_watch(options, poller_);
  }
  if (watch_->poll_open() != Poll::kReady) return false;
  problem_.clear();
  state_ = State::kWatching;
  return true;
}

bool WaitOperation::watch() {
  if (std::optional<AnyWatchEvent> event = watch_->poll_next()) {
    handle(std::move(*event));
  } else if (watch_->has_ended()) {
    pause({});
  } else {
    return false;
  }
  return true;
}

void WaitOperation::handle(AnyWatchEvent event) {
  if (event.type == EventType::kError) {
    // Mostly 410, the version has expired. List again, whatever the reason.
    version_.clear();
    pause(event.status->message.str());
    return;
  }
  version_ = request_.version_of(event.object.get());
  if (event.type == EventType::kBookmark) return;
  object_ = nullptr;
  if (event.type != EventType::kDeleted) object_ = std::move(event.object).to<std::byte>();
  has_news_ = true;
}

void WaitOperation::pause(std::string problem) {
  list_.reset();
  watch_.reset();
  problem_ = std::move(problem);
  const Clock::TimePoint now = resource_.rest()->clock().now();
  not_before_ = now + backoff_.next(now);
  state_ = State::kPause;
}

Clock::TimePoint WaitOperation::wake_at() const noexcept {
  Clock::TimePoint inner = Clock::TimePoint::max();
  if (state_ == State::kPause) {
    inner = not_before_;
  } else if (list_) {
    inner = list_->wake_at();
  } else if (watch_) {
    inner = watch_->wake_at();
  }
  return std::min(inner, deadline_);
}

std::string WaitOperation::object_text() const {
  const ResourceTarget& target = resource_.target();
  return to_string(target.resource.group_resource()) + ' ' +
         ObjectKey{target.namespace_, request_.name}.str();
}

TransportError WaitOperation::canceled() const {
  return {TransportError::Kind::kCanceled,
          fmt::format("{}: waiting for {} was canceled", object_text(), request_.awaited)};
}

WaitTimeoutError WaitOperation::timed_out() const {
  std::string state = "unknown";
  if (is_known_) {
    state = object_ ? describe_state(*request_.document_of(object_)) : "does not exist";
  }
  std::string message =
      fmt::format("{}: {} was not seen within {:g} s; last state: {}", object_text(),
                  request_.awaited, std::chrono::duration<double>{request_.timeout}.count(), state);
  if (!problem_.empty()) message += "; last problem: " + problem_;
  return {message, std::move(state)};
}

}  // namespace kube::detail
