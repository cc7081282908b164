// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace kube::detail {

/// A value that is replaced as a whole while others look at it. Looking is two atomic operations on one word:
/// readers wait for nobody, and nobody waits for them.
///
/// The word holds the address of the newest value and how many look at it. Whoever replaces it moves that number
/// to the old value, where the readers that are left count it down; the last one takes the value away.
/// Thread safety: read() from any thread, publish() from one at a time.
template <typename T>
class Published {
  struct Box {
    T value;
    std::atomic<std::int64_t> left{
        0};  ///< readers still to come back, from the moment it is replaced
  };

 public:
  /// Keeps a value as long as this lives. Meant to be short: what is to be kept is copied.
  class Reader {
   public:
    Reader(const Published& from, Box* box) noexcept : from_(from), box_(box) {}
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader() { from_.leave(box_); }
    const T& operator*() const noexcept { return box_->value; }
    const T* operator->() const noexcept { return &box_->value; }

   private:
    const Published& from_;
    Box* box_;
  };

  explicit Published(T value) : word_(word_of(new Box{std::move(value)})) {}
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;
  ~Published() { delete box_of(word_.load(std::memory_order_acquire)); }

  [[nodiscard]] Reader read() const noexcept {
    return {*this, box_of(word_.fetch_add(kReader, std::memory_order_acquire))};
  }
  void publish(T value) {
    const std::uint64_t old =
        word_.exchange(word_of(new Box{std::move(value)}), std::memory_order_acq_rel);
    Box* const box = box_of(old);
    const auto readers = static_cast<std::int64_t>(old >> kAddressBits);
    if (box->left.fetch_add(readers, std::memory_order_acq_rel) + readers == 0) delete box;
  }

 private:
  static constexpr unsigned kAddressBits = 48;  // of an address in user space
  static constexpr std::uint64_t kReader = std::uint64_t{1} << kAddressBits;

  static std::uint64_t word_of(const Box* box) noexcept {
    return reinterpret_cast<std::uint64_t>(box);
  }
  static Box* box_of(std::uint64_t word) noexcept {
    return reinterpret_cast<Box*>(word & (kReader - 1));
  }
  void leave(Box* box) const noexcept {
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    while (box_of(word) == box) {
      if (word_.compare_exchange_weak(word, word - kReader, std::memory_order_release,
                                      std::memory_order_relaxed)) {
        return;
      }
    }
    if (box->left.fetch_sub(1, std::memory_order_acq_rel) == 1) delete box;
  }

  mutable std::atomic<std::uint64_t> word_;
};

}  // namespace kube::detail
