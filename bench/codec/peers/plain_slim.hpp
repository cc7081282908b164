// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace kube::bench::plain {

/// Some fields of a pod, as a hand-written cache would keep them.
struct SlimPod {
  std::string name;
  std::string name_space;
  std::map<std::string, std::string> labels;
  std::string node;
  std::string phase;
  std::string address;

  friend bool operator==(const SlimPod&, const SlimPod&) = default;
};

/// Extracts them from JSON with simdjson's On-Demand parser, which skips the rest.
class SlimReader {
 public:
  SlimReader();
  SlimReader(SlimReader&&) noexcept;
  SlimReader& operator=(SlimReader&&) noexcept;
  ~SlimReader();

  /// Parses a document. Throws simdjson::simdjson_error.
  void read(std::string_view document, SlimPod& pod);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kube::bench::plain
