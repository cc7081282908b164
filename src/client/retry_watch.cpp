// SPDX-License-Identifier: Apache-2.0
#include <kube/client/retry_watch.hpp>

#include "answer.hpp"
#include "rest_client.hpp"
#include "watch_operation.hpp"

#include <kube/api/errors.hpp>

#include <algorithm>
#include <stdexcept>

namespace kube::detail {

using namespace std::chrono_literals;

RetryWatchCore::RetryWatchCore(ResourceCore resource, ListOptions options, VersionOf version_of)
    : resource_(std::move(resource)),
      version_of_(version_of),
      options_(std::move(options)),
      version_(options_.resource_version) {
  if (version_.empty() || version_ == "0") {
    throw std::invalid_argument(
        "a retrying watch needs the resource version of a list to start from, other than \"0\"");
  }
  options_.allow_watch_bookmarks = true;
}

RetryWatchCore::~RetryWatchCore() = default;

void RetryWatchCore::close() noexcept {
  watch_.reset();
  operation_.reset();
  is_open_ = false;
}

std::string RetryWatchCore::last_version() const {
  const std::lock_guard guard{mutex_};
  return version_;
}

AnyWatchEvent RetryWatchCore::end_with(Ref<meta::v1::Status> status) {
  ended_ = true;
  close();
  return {EventType::kError, nullptr, std::move(status)};
}

void RetryWatchCore::begin_attempt() {
  not_before_ = resource_.rest()->clock().now() + 1s;
  options_.resource_version = last_version();
}

std::optional<AnyWatchEvent> RetryWatchCore::attempt_failed() {
  const Logger log = resource_.rest()->options().log.named("watch");
  try {
    throw;
  } catch (const ApiError& error) {
    if (is_unauthorized(error) || is_forbidden(error)) return end_with(freeze(error.status()));
    log.info("a watch could not be opened, trying again: {}", error.what());
  } catch (const Error& error) {
    log.info("a watch could not be opened, trying again: {}", error.what());
  }
  close();
  return std::nullopt;
}

std::optional<AnyWatchEvent> RetryWatchCore::reopen() {
  if (!resource_.rest()->clock().sleep_until(not_before_, stop_.get_token())) return std::nullopt;
  begin_attempt();
  try {
    watch_ = resource_.watch(options_, stop_.get_token());
  } catch (const Error&) {
    return attempt_failed();
  }
  return std::nullopt;
}

bool RetryWatchCore::poll_reopen(const Poller& poller, std::optional<AnyWatchEvent>& event) {
  try {
    if (!operation_) {
      if (resource_.rest()->clock().now() < not_before_) return false;
      begin_attempt();
      operation_ = resource_.start_watch(options_, poller);
    }
    is_open_ = operation_->poll_open() == Poll::kReady;
    return is_open_;
  } catch (const Error&) {
    event = attempt_failed();
    return true;
  }
}

std::optional<AnyWatchEvent> RetryWatchCore::poll_next(const Poller& poller) {
  try {
    while (!has_ended()) {
      std::optional<AnyWatchEvent> event;
      if (!is_open_) {
        if (!poll_reopen(poller, event)) return std::nullopt;
      } else if (std::optional<AnyWatchEvent> received = operation_->poll_next()) {
        event = handle(std::move(*received));
      } else if (operation_->has_ended()) {
        close();
      } else {
        return std::nullopt;
      }
      if (event) return event;
    }
  } catch (...) {
    close();  // the next watch starts after the last delivered event
    throw;
  }
  return std::nullopt;
}

Clock::TimePoint RetryWatchCore::wake_at() const noexcept {
  return operation_ ? operation_->wake_at() : not_before_;
}

std::optional<AnyWatchEvent> RetryWatchCore::handle(AnyWatchEvent event) {
  if (event.type == EventType::kError) {
    if (event.status->code == 410) return end_with(std::move(event.status));
    const auto& details = event.status->details;
    const std::chrono::seconds wait{details ? details->retry_after_seconds : 0};
    not_before_ = std::max(not_before_, resource_.rest()->clock().now() + wait);
    close();
    return std::nullopt;
  }
  const std::string_view version = version_of_(event.object.get());
  if (version.empty()) return end_with(watch_decoding_status("an object has no resource version"));
  {
    const std::lock_guard guard{mutex_};
    version_ = version;
  }
  if (event.type == EventType::kBookmark) return std::nullopt;
  return event;
}

std::optional<AnyWatchEvent> RetryWatchCore::next(std::stop_token stop) {
  const std::stop_callback pass_on{std::move(stop), [this] { this->stop(); }};
  while (!ended_ && !stop_.stop_requested()) {
    std::optional<AnyWatchEvent> event;
    try {
      if (!watch_) {
        event = reopen();
      } else if (std::optional<AnyWatchEvent> received = watch_->next(stop_.get_token())) {
        event = handle(std::move(*received));
      } else {
        close();
      }
    } catch (...) {
      close();  // the next watch starts after the last delivered event
      throw;
    }
    if (event) return event;
  }
  return std::nullopt;
}

}  // namespace kube::detail
