// SPDX-License-Identifier: Apache-2.0
#include "reflector_core.hpp"
#include "reflector_errors.hpp"
#include "reflector_parts.hpp"
#include "thrown.hpp"

#include <kube/api/errors.hpp>

#include <fmt/format.h>

#include <utility>

namespace kube::detail {

using namespace std::chrono_literals;
using What = ReflectorEvent::Kind;

namespace {

constexpr auto kSlow = 10s;
constexpr std::int64_t kDefaultPageSize = 500;
constexpr std::string_view kNoVersion;
/// Bytes decoded per call: about a millisecond of work.
constexpr std::size_t kBytesAtOnce = std::size_t{256} << 10;

}  // namespace

void ReflectorCore::start_list() {
  auto listing = std::make_unique<Listing>();
  ListOptions& options = listing->wanted;
  const std::string last = last_version();
  options.resource_version = version_unavailable_ ? std::string{kNoVersion}
                             : last.empty()       ? "0"
                                                  : last;
  if (options_.page_size != 0) {
    options.limit = options_.page_size;
  } else if (paginated_ || options.resource_version.empty() || options.resource_version == "0") {
    options.limit = kDefaultPageSize;  // otherwise no limit, so that the watch cache can answer
  }
  listing->options = options;
  report({.kind = What::kListing, .resource_version = options.resource_version});
  options_.metrics->lists.add();
  listing->start = options_.clock->now();
  listing_ = std::move(listing);
  state_ = State::kListing;
}

Poll ReflectorCore::list(const Poller& poller) {
  Listing& listing = *listing_;
  bool complete = false;
  try {
    if (listing.operation == nullptr) {
      listing.items_before = listing.items.size();
      listing.operation =
          call_user("list", [&] { return source_->start_list(listing.options, poller); });
    }
    const Poll progress = call_user("list", [&] {
      return listing.operation->poll([this](ObjectRef object) { take_item(std::move(object)); },
                                     kBytesAtOnce);
    });
    if (progress != Poll::kReady) return progress;
    const ListMetadata page = listing.operation->metadata();
    listing.operation.reset();
    complete = page_read(page);
  } catch (const ReflectorError&) {
    throw;
  } catch (const std::exception& error) {
    list_failed(error);
  }
  if (complete) list_complete();
  return Poll::kReady;
}

void ReflectorCore::take_item(ObjectRef object) {
  if (!object || access_.name(object.get()).empty()) {
    return reject(object ? unusable(object) : "no object");
  }
  try {
    listing_->items.push_back(prepare(std::move(object)));
  } catch (const std::exception& error) {
    throw ReflectorError(fmt::format("unable to sync list result: {}", error.what()),
                         std::current_exception());
  }
}

/// Handles the end of a page. Returns whether it was the last one; otherwise prepares the request
/// of the next.
bool ReflectorCore::page_read(const ListMetadata& page) {
  Listing& listing = *listing_;
  if (listing.is_whole) {
    listing.first = page;
    return true;
  }
  if (page.kind == "Table" && page.api_version.starts_with("meta.k8s.io/")) {
    throw Error("the server answered with a Table instead of a list");
  }
  if (listing.page == 1) listing.first = page;
  if (listing.page > 1 && listing.wanted.resource_version == "0") paginated_ = true;
  if (page.continue_token.empty()) return true;
  ListOptions& options = listing.options;
  if (listing.items.size() == listing.items_before &&
      page.continue_token == options.continue_token) {
    throw Error("the server returned an empty page whose continue token repeats");
  }
  ++listing.page;
  options.resource_version.clear();
  options.resource_version_match.clear();
  options.continue_token = page.continue_token;
  return false;
}

/// Restarts the list if that may help, else throws. Called while `error` is being handled.
void ReflectorCore::list_failed(const std::exception& error) {
  Listing& listing = *listing_;
  listing.operation.reset();
  const auto begin_anew = [&] {
    listing.items.clear();
    listing.options = listing.wanted;
    listing.page = 1;
  };
  const auto* refusal = dynamic_cast<const ApiError*>(&error);
  if (refusal != nullptr && listing.page > 1 && !listing.is_whole &&
      is_resource_expired(*refusal)) {
    // The continue token has expired: list again, all at once.
    begin_anew();
    listing.options.limit = 0;
    listing.is_whole = true;
    return;
  }
  if (listing.is_restarted || (!is_expired(error) && !is_too_large_version(error))) {
    throw ReflectorError(
        fmt::format("failed to list {}: {}", options_.type_description, error.what()),
        std::current_exception());
  }
  version_unavailable_ = true;
  report({.kind = What::kListRestarted,
          .resource_version = listing.wanted.resource_version,
          .message = error.what()});
  listing.wanted.resource_version = kNoVersion;
  listing.is_restarted = true;
  listing.is_whole = false;
  begin_anew();
}

void ReflectorCore::list_complete() {
  const std::unique_ptr<Listing> listing = std::move(listing_);
  const Clock::Duration took = options_.clock->now() - listing->start;
  const std::size_t count = listing->items.size();
  const std::string& version = listing->first.resource_version;
  options_.metrics->list_duration.observe(std::chrono::duration<double>(took).count());
  options_.metrics->items_per_list.observe(static_cast<double>(count));
  version_unavailable_ = false;
  store(std::move(listing->items), version);
  if (const auto whole = options_.clock->now() - listing->start; whole > kSlow) {
    options_.log->info("{}: slow list of {}: {} objects listed in {} ms, stored after {} ms",
                       options_.name, options_.type_description, count, took / 1ms, whole / 1ms);
  }
  report({.kind = What::kListed, .resource_version = version, .items = count, .duration = took});
  begin_watching(nullptr);
}

}  // namespace kube::detail
