// SPDX-License-Identifier: Apache-2.0
#include "journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace demo {

Journal::Journal(std::function<void(const Entry&)> hear)
    : hear_(std::move(hear)), begin_(kube::system_clock().now()) {}

void Journal::add(Kind kind, std::string text) {
  const std::lock_guard guard{mutex_};
  const Entry entry{time(), kind, std::move(text)};
  if (hear_) hear_(entry);
  if (kind == Kind::kCaption) {
    caption_ = entry.text;
    return;
  }
  entries_.push_back(entry);
  if (entries_.size() > kKept) entries_.pop_front();
}

kube::Logger Journal::logger() {
  return kube::Logger{[this](kube::LogLevel, std::string_view component, std::string_view message) {
                        add(Kind::kTrouble, fmt::format("{}: {}", component, message));
                      },
                      kube::LogLevel::kWarning};
}

std::vector<Journal::Entry> Journal::last(std::size_t count) const {
  const std::lock_guard guard{mutex_};
  const auto shown = static_cast<std::ptrdiff_t>(std::min(count, entries_.size()));
  return {entries_.end() - shown, entries_.end()};
}

std::string Journal::caption() const {
  const std::lock_guard guard{mutex_};
  return caption_;
}

kube::Clock::Duration Journal::time() const { return kube::system_clock().now() - begin_; }

std::string time_text(kube::Clock::Duration time) {
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  return fmt::format("{}:{:02}.{:03}", millis / 60'000, millis / 1000 % 60, millis % 1000);
}

std::string line_text(const Journal::Entry& entry) {
  if (entry.kind == Journal::Kind::kCaption) return "\n== " + entry.text;
  return fmt::format("{:>11}  {}", time_text(entry.at), entry.text);
}

}  // namespace demo
