// SPDX-License-Identifier: Apache-2.0
#include <kube/testkit/faults.hpp>

#include "testkit/faults/table.hpp"

#include <algorithm>
#include <utility>

namespace kube::testkit {

using detail::Fault;

FaultBuilder::FaultBuilder(Faults& faults, int count)
    : faults_(faults), rule_(std::make_unique<detail::FaultRule>()) {
  rule_->left = count;
}
FaultBuilder::~FaultBuilder() = default;

FaultBuilder& FaultBuilder::matching(RequestFilter filter) {
  rule_->filter = std::move(filter);
  return *this;
}
FaultBuilder& FaultBuilder::with_probability(double probability) {
  rule_->probability = probability;
  return *this;
}
FaultBuilder& FaultBuilder::after(int requests) {
  rule_->skip = requests;
  return *this;
}

Faults& FaultBuilder::install(Fault fault) {
  rule_->fault = std::move(fault);
  faults_.core_->add(std::move(*rule_));
  return faults_;
}

Faults& FaultBuilder::respond(int status, std::optional<std::chrono::seconds> retry_after,
                              std::string body, Headers headers) {
  if (retry_after) headers.push_back({"Retry-After", std::to_string(retry_after->count())});
  return install({.kind = Fault::Kind::kRespond,
                  .status = status,
                  .headers = std::move(headers),
                  .body = std::move(body)});
}
Faults& FaultBuilder::delay(Clock::Duration time) {
  return install({.kind = Fault::Kind::kDelay, .time = time});
}
Faults& FaultBuilder::break_before_head() {
  return install({.kind = Fault::Kind::kBreakBeforeHead});
}
Faults& FaultBuilder::lose_answer() { return install({.kind = Fault::Kind::kLoseAnswer}); }
Faults& FaultBuilder::break_after_head() { return break_after_bytes(0); }
Faults& FaultBuilder::break_after_bytes(std::size_t bytes) {
  return install({.kind = Fault::Kind::kBreakAfterBytes, .count = bytes});
}
Faults& FaultBuilder::go_silent() { return install({.kind = Fault::Kind::kSilent}); }
Faults& FaultBuilder::go_silent_after(int events) {
  return install({.kind = Fault::Kind::kSilentAfter, .count = static_cast<std::size_t>(events)});
}
Faults& FaultBuilder::drop_after(int events) {
  return install({.kind = Fault::Kind::kDropAfter, .count = static_cast<std::size_t>(events)});
}
Faults& FaultBuilder::end_after(int events) {
  return install({.kind = Fault::Kind::kEndAfter, .count = static_cast<std::size_t>(events)});
}
Faults& FaultBuilder::drop_at_revision(std::uint64_t revision) {
  return install({.kind = Fault::Kind::kDropAtRevision, .revision = revision});
}
Faults& FaultBuilder::truncate_frame(int number) {
  return install({.kind = Fault::Kind::kTruncate, .count = static_cast<std::size_t>(number)});
}
Faults& FaultBuilder::corrupt_frame(int number) {
  return install({.kind = Fault::Kind::kCorrupt, .count = static_cast<std::size_t>(number)});
}
Faults& FaultBuilder::withhold_bookmarks() {
  return install({.kind = Fault::Kind::kWithholdBookmarks});
}
Faults& FaultBuilder::withhold_initial_events_end() {
  return install({.kind = Fault::Kind::kWithholdInitialEnd});
}
Faults& FaultBuilder::drip(std::size_t bytes, Clock::Duration every) {
  return install(
      {.kind = Fault::Kind::kDrip, .count = std::max<std::size_t>(bytes, 1), .time = every});
}
Faults& FaultBuilder::slow_down(Clock::Duration per_frame) {
  return install({.kind = Fault::Kind::kSlow, .time = per_frame});
}

Faults::Faults(std::unique_ptr<detail::FaultTable> core) : core_(std::move(core)) {}
Faults::~Faults() = default;

FaultBuilder Faults::next(int count) { return {*this, count}; }
FaultBuilder Faults::always() { return {*this, -1}; }

Faults& Faults::drop_watches_after(int events) {
  return always().matching({.verb = "watch"}).drop_after(events);
}
Faults& Faults::expire_history() {
  core_->hooks().expire_history();
  return *this;
}
Faults& Faults::drop_connections() {
  core_->hooks().drop_connections();
  return *this;
}
void Faults::clear() { core_->clear(); }
std::uint64_t Faults::struck() const { return core_->struck(); }
std::size_t Faults::waiting() const { return core_->waiting(); }

}  // namespace kube::testkit
