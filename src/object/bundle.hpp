// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/word.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kube::detail {

/// Nodes that many similar blocks refer to, held once for all of them: a block that refers to nearly all of these has
/// one reference to the bundle in place of one to each node. An object of some size refers to sixty, which are in
/// no cache of the processor, so counting them up and down would be a good part of the work for an update.
///
/// A bundle keeps nodes that a block in it no longer refers to, for as long as the block lives; so large ones
/// (kLargestNode) stay out of it.
/// Thread safety: as Node.
class Bundle {
 public:
  static constexpr std::size_t kLargestNode = 4096;  ///< bytes of its image
  /// Fewer are not worth it.
  static constexpr std::size_t kFewestNodes = 8;

  /// One with room for `capacity` nodes; the caller has a reference to it. Throws std::bad_alloc.
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
  /// Whether a block that refers to `held` of these should have the bundle.
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
