// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kube::detail {

/// What stands behind a Published: a value that goes when it is replaced and its last reader has left.
struct PublishedBox {
  std::atomic<std::int64_t> readers_left{0};  ///< still to leave, from the moment it is replaced
  PublishedBox() = default;
  PublishedBox(const PublishedBox&) = delete;
  PublishedBox& operator=(const PublishedBox&) = delete;
  virtual ~PublishedBox() = default;
};

/// Where a reader says what it looks at. Each thread has one of its own, so threads that read do not touch each
/// other's memory. They are used again when their thread has ended, and never freed.
class alignas(64) Lookout {
 public:
  /// That of this thread; or any free one, if the thread looks at something else already. To be given back.
  [[nodiscard]] static Lookout& take() {
    Lookout* const mine = mine_;
    return mine != nullptr && mine->box_.load(std::memory_order_relaxed) == 0 ? *mine : take_any();
  }
  void give_back() noexcept {
    if (this != mine_) is_taken_.store(false, std::memory_order_release);
  }

  /// From now on `box` is kept, provided that it has not been replaced before.
  void look_at(const PublishedBox* box) noexcept {
    box_.store(reinterpret_cast<std::uintptr_t>(box), std::memory_order_seq_cst);
  }
  void look_away(PublishedBox* box) noexcept {
    if ((box_.exchange(0, std::memory_order_acq_rel) & kIsReplaced) == 0) return;
    if (box->readers_left.fetch_sub(1, std::memory_order_acq_rel) == 1) delete box;
  }
  /// Tells all who look at `box` that it has been replaced: each will count down when it looks away. Returns how many.
  [[nodiscard]] static std::int64_t tell_readers_of(const PublishedBox* box) noexcept;

  /// How many there are in the process.
  [[nodiscard]] static std::size_t count() noexcept;

 private:
  static constexpr std::uintptr_t kIsReplaced = 1;
  struct EndOfThread;

  Lookout() = default;
  [[nodiscard]] static Lookout& take_any();

  static constinit thread_local Lookout* mine_;
  static std::atomic<Lookout*> first_;

  std::atomic<std::uintptr_t> box_{0};  ///< 0: nothing; with kIsReplaced
  std::atomic<bool> is_taken_{true};
  Lookout* next_ = nullptr;
};

/// A value that is replaced as a whole while others look at it. Readers wait for nobody, nobody waits for them, and
/// threads that read do not slow each other down.
///
/// A reader notes what it looks at, and looks again whether that is still the newest. Whoever replaces a value tells
/// those who look at it; the last one to leave takes it away.
/// Thread safety: read() from any thread, publish() from one at a time.
template <typename T>
class Published {
  struct Box final : PublishedBox {
    explicit Box(T content) : value(std::move(content)) {}
    T value;
  };

 public:
  /// Keeps a value as long as this lives. Meant to be short: what is to be kept is copied.
  class Reader {
   public:
    explicit Reader(const Published& from) : lookout_(Lookout::take()) {
      for (;;) {
        box_ = from.newest_.load(std::memory_order_relaxed);
        lookout_.look_at(box_);
        if (from.newest_.load(std::memory_order_seq_cst) == box_) return;
        lookout_.look_away(box_);
      }
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader() {
      lookout_.look_away(box_);
      lookout_.give_back();
    }
    const T& operator*() const noexcept { return static_cast<const Box*>(box_)->value; }
    const T* operator->() const noexcept { return &**this; }

   private:
    Lookout& lookout_;
    PublishedBox* box_;
  };

  explicit Published(T value) : newest_(new Box{std::move(value)}) {}
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;
  ~Published() { delete newest_.load(std::memory_order_acquire); }

  [[nodiscard]] Reader read() const { return Reader{*this}; }
  void publish(T value) {
    PublishedBox* const old =
        newest_.exchange(new Box{std::move(value)}, std::memory_order_seq_cst);
    const std::int64_t readers = Lookout::tell_readers_of(old);
    if (old->readers_left.fetch_add(readers, std::memory_order_acq_rel) + readers == 0) delete old;
  }

 private:
  std::atomic<PublishedBox*> newest_;
};

}  // namespace kube::detail
