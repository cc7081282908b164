// SPDX-License-Identifier: Apache-2.0
#include <kube/client/retry_watch.hpp>

#include "answer.hpp"
#include "rest_client.hpp"

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

std::string RetryWatchCore::last_version() const {
  const std::lock_guard guard{mutex_};
  return version_;
}

AnyWatchEvent RetryWatchCore::end_with(Ref<meta::v1::Status> status) {
  ended_ = true;
  watch_.reset();
  return {EventType::kError, nullptr, std::move(status)};
}

std::optional<AnyWatchEvent> RetryWatchCore::reopen() {
  Clock& clock = resource_.rest()->clock();
  if (!clock.sleep_until(not_before_, stop_.get_token())) return std::nullopt;
  not_before_ = clock.now() + 1s;
  options_.resource_version = last_version();
  const Logger log = resource_.rest()->options().log.named("watch");
  try {
    watch_ = resource_.watch(options_, stop_.get_token());
  } catch (const ApiError& error) {
    if (is_unauthorized(error) || is_forbidden(error)) return end_with(freeze(error.status()));
    log.info("a watch could not be opened, trying again: {}", error.what());
  } catch (const Error& error) {
    log.info("a watch could not be opened, trying again: {}", error.what());
  }
  return std::nullopt;
}

std::optional<AnyWatchEvent> RetryWatchCore::handle(AnyWatchEvent event) {
  if (event.type == EventType::kError) {
    if (event.status->code == 410) return end_with(std::move(event.status));
    const auto& details = event.status->details;
    const std::chrono::seconds wait{details ? details->retry_after_seconds : 0};
    not_before_ = std::max(not_before_, resource_.rest()->clock().now() + wait);
    watch_.reset();
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
        watch_.reset();
      }
    } catch (...) {
      watch_.reset();  // the next one begins behind the last event that was handed out
      throw;
    }
    if (event) return event;
  }
  return std::nullopt;
}

}  // namespace kube::detail
