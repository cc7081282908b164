// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

namespace kube::bench::plain {

struct Pod;

/// Fills plain structs with simdjson's On-Demand parser: the fast way to do it, for those who write (or
/// generate) a reader for each struct. Worth keeping, as the parser re-uses its memory.
class PlainReader {
 public:
  PlainReader();
  PlainReader(PlainReader&&) noexcept;
  PlainReader& operator=(PlainReader&&) noexcept;
  ~PlainReader();

  /// Throws simdjson::simdjson_error.
  void read(std::string_view document, Pod& pod);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kube::bench::plain
