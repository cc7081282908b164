// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kube::bench {

enum class Format;  // of population.hpp

/// What an API server would send of the pods of a cluster: lists and events in protobuf, encoded beforehand.
/// Events are also had as JSON, which is encoded on request.
class Recording {
 public:
  explicit Recording(std::size_t pods);

  [[nodiscard]] std::size_t size() const noexcept { return states_[0].size(); }
  /// A page of a list, and where the next one begins; 0 behind the last.
  [[nodiscard]] std::string page(std::size_t first, std::size_t limit, std::size_t& next) const;
  /// An event with the first state of a pod.
  [[nodiscard]] std::string added(std::size_t pod, Format format) const;
  /// Event number `n` of an endless storm of updates: pods in random order, each time another state.
  [[nodiscard]] std::string modified(std::size_t n) const;
  /// The same event with the annotation `kStampAnnotation`, whose value is `kNoStamp`. The server
  /// replaces it by the time at which it writes the event; both have the same length.
  [[nodiscard]] std::string stamped(std::size_t n, Format format) const;
  /// A bookmark of the first version, at the end of the initial events, or of the last one.
  [[nodiscard]] static std::string bookmark(bool initial_events_end, Format format);
  /// "The version is too old."
  [[nodiscard]] static std::string expired();

  static constexpr std::string_view kFirstVersion = "900000000";
  static constexpr std::string_view kLastVersion = "999999999999";
  /// Nanoseconds since 1970 by the real-time clock, which all programs on a machine share.
  static constexpr std::string_view kStampAnnotation = "bench.kubecxx.dev/written";
  static constexpr std::string_view kNoStamp = "nineteen digits of ";

 private:
  /// The bare message of event `n` of a storm.
  [[nodiscard]] const std::string& update(std::size_t n) const;

  std::array<std::vector<std::string>, 3> states_;  ///< of all pods: at first, then two in turn
  std::array<std::vector<std::size_t>, 2> orders_;
};

}  // namespace kube::bench
