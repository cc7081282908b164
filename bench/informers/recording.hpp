// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kube::bench {

/// The answers of an API server for the pods of a cluster: lists and events in protobuf, encoded in
/// advance.
class Recording {
 public:
  explicit Recording(std::size_t pods);

  [[nodiscard]] std::size_t size() const noexcept { return states_[0].size(); }
  /// Returns a page of a list, and sets the start of the next one; 0 after the last.
  [[nodiscard]] std::string page(std::size_t first, std::size_t limit, std::size_t& next) const;
  /// Returns an event with the first state of a pod.
  [[nodiscard]] std::string added(std::size_t pod) const;
  /// Returns event number `n` of an endless sequence of updates: pods in random order, each time in
  /// another state.
  [[nodiscard]] std::string modified(std::size_t n) const;
  /// Returns a bookmark with the first version, at the end of the initial events, or with the last
  /// one.
  [[nodiscard]] static std::string bookmark(bool initial_events_end);
  /// Returns the error "The version is too old."
  [[nodiscard]] static std::string expired();

  static constexpr std::string_view kFirstVersion = "900000000";
  static constexpr std::string_view kLastVersion = "999999999999";

 private:
  std::array<std::vector<std::string>, 3> states_;  ///< of all pods: initially, then alternating
  std::array<std::vector<std::size_t>, 2> orders_;
};

}  // namespace kube::bench
