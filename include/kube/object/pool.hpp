// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/inside.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kube {

/// Text and sub-trees that many cached objects have in common, each kept once and counted.
///
/// A cache has a pool of its own; decoders that feed it share that pool. Nodes leave when the last object goes
/// that refers to them or has them in its bundle, and may outlive the Pool object.
/// Thread safety: any method from any thread.
class Pool {
 public:
  Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  /// A hash of `text` that differs from pool to pool, for deciding what to intern.
  [[nodiscard]] std::uint64_t hash(std::string_view text) const noexcept;

  struct Totals {
    std::size_t nodes = 0;
    std::size_t bytes = 0;
  };
  /// What the pool holds now.
  [[nodiscard]] Totals totals() const noexcept;

  class Core;

 private:
  friend struct detail::Inside;
  Core* core_;
};

}  // namespace kube
