// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kube::detail {

/// Heap block of one published value. It is deleted once the value has been replaced and its last
/// reader has finished.
struct PublishedBox {
  /// Readers that still use the value. Counted only after the value has been replaced.
  std::atomic<std::int64_t> readers_left{0};
  PublishedBox() = default;
  PublishedBox(const PublishedBox&) = delete;
  PublishedBox& operator=(const PublishedBox&) = delete;
  virtual ~PublishedBox() = default;
};

/// A hazard pointer: announces which value a reader is using, so that a writer does not delete it.
///
/// Each thread owns one, on its own cache line, so readers do not write to shared memory. Hazard
/// pointers form a list that only grows. One whose thread has ended is reused, never freed.
class alignas(64) HazardPointer {
 public:
  /// Returns the hazard pointer of this thread, or a free one if that protects another value
  /// already. The caller must release() it.
  [[nodiscard]] static HazardPointer& acquire() {
    HazardPointer* const mine = mine_;
    return mine != nullptr && mine->box_.load(std::memory_order_relaxed) == 0 ? *mine
                                                                              : acquire_any();
  }
  void release() noexcept {
    if (this != mine_) is_acquired_.store(false, std::memory_order_release);
  }

  /// Protects `box` from deletion, provided that it has not been replaced yet: the caller must
  /// check that afterwards.
  void protect(const PublishedBox* box) noexcept {
    box_.store(reinterpret_cast<std::uintptr_t>(box), std::memory_order_seq_cst);
  }
  /// Ends the protection. Deletes `box` if it has been replaced and this was its last reader.
  void clear(PublishedBox* box) noexcept {
    if ((box_.exchange(0, std::memory_order_acq_rel) & kRetired) == 0) return;
    if (box->readers_left.fetch_sub(1, std::memory_order_acq_rel) == 1) delete box;
  }
  /// Marks every hazard pointer that protects `box`: clear() will decrement `readers_left`. Returns
  /// the number of hazard pointers marked.
  [[nodiscard]] static std::int64_t mark_retired(const PublishedBox* box) noexcept;

  /// Returns the number of hazard pointers in the process.
  [[nodiscard]] static std::size_t count() noexcept;

 private:
  static constexpr std::uintptr_t kRetired = 1;
  struct ThreadExit;

  HazardPointer() = default;
  [[nodiscard]] static HazardPointer& acquire_any();

  static constinit thread_local HazardPointer* mine_;
  static std::atomic<HazardPointer*> first_;

  /// Address of the protected box, or 0. The lowest bit is kRetired.
  std::atomic<std::uintptr_t> box_{0};
  std::atomic<bool> is_acquired_{true};
  HazardPointer* next_ = nullptr;
};

/// A value that one writer replaces as a whole while any number of threads read it (as with RCU).
/// Reads are lock-free, publish() never waits for readers, and readers do not slow each other down.
///
/// A reader stores the address of the newest value in its hazard pointer, then checks that this
/// value is still the newest. publish() swaps in the new value and marks the hazard pointers that
/// protect the old one. The last of those readers deletes it.
/// Thread safety: read() from any thread, publish() from one at a time.
template <typename T>
class Published {
  struct Box final : PublishedBox {
    explicit Box(T content) : value(std::move(content)) {}
    T value;
  };

 public:
  /// Keeps the value that was the newest alive for as long as this object lives. Meant for a short
  /// scope: copy the value to keep it longer.
  class Reader {
   public:
    explicit Reader(const Published& from) : hazard_(HazardPointer::acquire()) {
      for (;;) {
        box_ = from.newest_.load(std::memory_order_relaxed);
        hazard_.protect(box_);
        if (from.newest_.load(std::memory_order_seq_cst) == box_) return;
        hazard_.clear(box_);
      }
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader() {
      hazard_.clear(box_);
      hazard_.release();
    }
    const T& operator*() const noexcept { return static_cast<const Box*>(box_)->value; }
    const T* operator->() const noexcept { return &**this; }

   private:
    HazardPointer& hazard_;
    PublishedBox* box_;
  };

  explicit Published(T value) : newest_(new Box{std::move(value)}) {}
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;
  ~Published() { delete newest_.load(std::memory_order_acquire); }

  [[nodiscard]] Reader read() const { return Reader{*this}; }
  /// Replaces the value. Throws std::bad_alloc, and the value is unchanged then.
  void publish(T value) {
    PublishedBox* const old =
        newest_.exchange(new Box{std::move(value)}, std::memory_order_seq_cst);
    const std::int64_t readers = HazardPointer::mark_retired(old);
    if (old->readers_left.fetch_add(readers, std::memory_order_acq_rel) + readers == 0) delete old;
  }

 private:
  std::atomic<PublishedBox*> newest_;
};

}  // namespace kube::detail
