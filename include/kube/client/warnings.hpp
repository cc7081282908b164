// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kube {

/// A warning of the server about a request that it has processed: a deprecated version, an unknown
/// field.
struct Warning {
  int code = 0;
  /// The sender; "-" for the server itself.
  std::string agent;
  std::string text;

  bool operator==(const Warning&) const = default;
};

/// Called by the thread that processes the request (see ClientOptions::on_attempt), for each warning
/// with code 299 and a text. Exceptions propagate to the caller of the request.
using WarningHandler = std::function<void(const Warning& warning)>;

/// Parses the value of a Warning header: one or more `299 - "text"`, each optionally followed by a
/// date. Stops at the first malformed warning.
[[nodiscard]] std::vector<Warning> parse_warnings(std::string_view header);

/// A handler that writes warning texts to a sink, optionally only once each, and counts them. Not
/// copyable, so pass `std::ref(writer)`.
///
/// Thread safety: all methods may be called from any thread. The sink is called from that thread.
class WarningWriter {
 public:
  /// Receives the text of one warning.
  using Sink = std::function<void(std::string_view text)>;
  /// `deduplicate` writes each text only once.
  explicit WarningWriter(Sink sink, bool deduplicate = true)
      : sink_(std::move(sink)), deduplicate_(deduplicate) {}

  /// Writes the text of `warning`, unless it is a duplicate.
  void operator()(const Warning& warning);
  /// Returns how many warnings were written.
  [[nodiscard]] std::size_t count() const;

 private:
  const Sink sink_;
  const bool deduplicate_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::set<std::string> seen_;
  std::size_t count_ = 0;
};

}  // namespace kube
