// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

namespace kube::bench::plain {

struct Pod;

/// Fills plain structs with simdjson's On-Demand parser: the fast alternative, which needs a
/// written or generated reader for each struct. Keep the reader, because the parser reuses its
/// memory.
class PlainReader {
 public:
  PlainReader();
  PlainReader(PlainReader&&) noexcept;
  PlainReader& operator=(PlainReader&&) noexcept;
  ~PlainReader();

  /// Parses a document. Throws simdjson::simdjson_error.
  void read(std::string_view document, Pod& pod);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kube::bench::plain
