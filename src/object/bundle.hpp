// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/word.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kube::detail {

/// A counted list of nodes that many similar blocks refer to. A block that refers to nearly all of
/// them holds one reference to the bundle instead of one per node. A typical object refers to sixty
/// nodes, each a cache miss, so that counting them individually would be a large part of the work
/// of an update.
///
/// A bundle keeps nodes that one of its blocks no longer refers to, for the lifetime of that block;
/// large nodes (kLargestNode) are therefore excluded.
/// Thread safety: as Node.
class Bundle {
 public:
  static constexpr std::size_t kLargestNode = 4096;  ///< bytes of the node's image
  /// A bundle with fewer nodes is not worth its cost.
  static constexpr std::size_t kFewestNodes = 8;

  /// Creates a bundle with room for `capacity` nodes; the caller owns one reference. Throws
  /// std::bad_alloc.
  static Bundle* make(std::size_t capacity);
  /// Takes over one reference to `node`.
  void add(Node* node) noexcept { nodes_begin()[count_++] = node; }

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::uint32_t references() const noexcept {
    return references_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::span<Node* const> nodes() const noexcept {
    return {const_cast<Bundle*>(this)->nodes_begin(), count_};
  }
  /// True if a block that refers to `held` of these nodes should use the bundle.
  [[nodiscard]] bool suits(std::size_t held) const noexcept {
    return 4 * held >= 3 * std::size_t{count_};
  }

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

 private:
  Bundle() noexcept = default;
  [[nodiscard]] Node** nodes_begin() noexcept { return reinterpret_cast<Node**>(this + 1); }
  void destroy() noexcept;

  std::atomic<std::uint32_t> references_{1};
  std::uint32_t count_ = 0;
};
static_assert(sizeof(Bundle) == 8);

}  // namespace kube::detail
