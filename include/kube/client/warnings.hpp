// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kube {

/// What a server wants the user to know about a request that it carried out: a deprecated version, an
/// unknown field.
struct Warning {
  int code = 0;
  /// Who says so, "-" for the server itself.
  std::string agent;
  std::string text;

  bool operator==(const Warning&) const = default;
};

/// Called, from the thread of the request, for each warning with code 299 and a text. What it throws
/// reaches the caller of the request.
using WarningHandler = std::function<void(const Warning& warning)>;

/// Reads the value of a Warning header: one or more `299 - "text"`, with an optional date behind each.
/// What cannot be read is left out, and everything behind it.
[[nodiscard]] std::vector<Warning> parse_warnings(std::string_view header);

/// A handler that writes the texts to some sink, each only once if asked to, and counts them. Copies of a
/// handler cannot share state, so pass `std::ref(writer)`.
///
/// Thread safety: all methods may be called from any thread, and the sink is called from there.
class WarningWriter {
 public:
  using Sink = std::function<void(std::string_view text)>;
  explicit WarningWriter(Sink sink, bool deduplicate = true)
      : sink_(std::move(sink)), deduplicate_(deduplicate) {}

  void operator()(const Warning& warning);
  /// How many were written.
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
