// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube::detail {

/// The results of the index functions for one object: pairs of an index's number and a value.
/// Immutable and shared; eight bytes if there are none. They are stored so that an index function
/// is called once per object, and need not return the same values later, when the object leaves.
class IndexValues {
 public:
  IndexValues() noexcept = default;
  explicit IndexValues(const std::vector<std::pair<std::uint32_t, std::string>>& values);
  IndexValues(const IndexValues& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  IndexValues(IndexValues&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  IndexValues& operator=(IndexValues other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~IndexValues();

  /// Calls `see(index, value)` for each value.
  template <typename See>
  void visit(See see) const {
    if (block_ == nullptr) return;
    const char* at = block_->text();
    for (const char* end = at + block_->size; at < end;) {
      const Head head = head_at(at);
      at += sizeof(Head);
      see(head.index, std::string_view{at, head.size});
      at += head.size;
    }
  }
  [[nodiscard]] bool contains(std::uint32_t index, std::string_view value) const {
    bool found = false;
    visit(
        [&](std::uint32_t i, std::string_view v) { found = found || (i == index && v == value); });
    return found;
  }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct Head {
    std::uint32_t index;
    std::uint32_t size;
  };
  struct Block {
    std::atomic<std::uint32_t> references;
    std::uint32_t size;
    [[nodiscard]] char* text() noexcept { return reinterpret_cast<char*>(this + 1); }
    [[nodiscard]] const char* text() const noexcept {
      return reinterpret_cast<const char*>(this + 1);
    }
  };
  static Head head_at(const char* place) noexcept;

  Block* block_ = nullptr;
};

}  // namespace kube::detail
