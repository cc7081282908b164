// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kube::bench {

enum class Format;  // of population.hpp

/// The answers of an API server for the pods of a cluster: lists and events in protobuf, encoded in
/// advance. Events are also available as JSON, which is encoded on request.
class Recording {
 public:
  explicit Recording(std::size_t pods);

  [[nodiscard]] std::size_t size() const noexcept { return states_[0].size(); }
  /// Returns a page of a list, and sets the start of the next one; 0 after the last.
  [[nodiscard]] std::string page(std::size_t first, std::size_t limit, std::size_t& next) const;
  /// Returns an event with the first state of a pod.
  [[nodiscard]] std::string added(std::size_t pod, Format format) const;
  /// Returns event number `n` of an endless sequence of updates: pods in random order, each time in
  /// another state.
  [[nodiscard]] std::string modified(std::size_t n) const;
  /// Returns the same event with the annotation `kStampAnnotation`, whose value is `kNoStamp`. The
  /// server replaces it by the time at which it writes the event; both have the same length.
  [[nodiscard]] std::string stamped(std::size_t n, Format format) const;
  /// Returns a bookmark with the first version, at the end of the initial events, or with the last
  /// one.
  [[nodiscard]] static std::string bookmark(bool initial_events_end, Format format);
  /// Returns the error "The version is too old."
  [[nodiscard]] static std::string expired();

  static constexpr std::string_view kFirstVersion = "900000000";
  static constexpr std::string_view kLastVersion = "999999999999";
  /// Nanoseconds since 1970 by the real-time clock, which all programs on a machine share.
  static constexpr std::string_view kStampAnnotation = "bench.kubecxx.dev/written";
  static constexpr std::string_view kNoStamp = "nineteen digits of ";

 private:
  /// Returns the bare message of event `n` of the updates.
  [[nodiscard]] const std::string& update(std::size_t n) const;

  std::array<std::vector<std::string>, 3> states_;  ///< of all pods: initially, then alternating
  std::array<std::vector<std::size_t>, 2> orders_;
};

}  // namespace kube::bench
