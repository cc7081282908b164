// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/inside.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kube {

/// Keeps text and sub-trees that many cached objects have in common once, with a reference count.
///
/// Each cache has a pool, which its decoders share. A node is released with the last object that
/// refers to it, directly or through a bundle. Nodes may outlive the Pool object.
/// Thread safety: any method from any thread.
class Pool {
 public:
  Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  /// A keyed hash of `text`, with a different key for each pool. Used to decide what to intern.
  [[nodiscard]] std::uint64_t hash(std::string_view text) const noexcept;

  /// Number and size of the nodes in a pool.
  struct Totals {
    std::size_t nodes = 0;
    std::size_t bytes = 0;
  };
  /// The current number and size of the nodes.
  [[nodiscard]] Totals totals() const noexcept;

  class Core;

 private:
  friend struct detail::Inside;
  Core* core_;
};

}  // namespace kube
