// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/published.hpp>

#include <utility>

namespace kube::detail {

constinit thread_local Lookout* Lookout::mine_ = nullptr;
std::atomic<Lookout*> Lookout::first_ = nullptr;

namespace {
/// From then on the thread has none of its own: nobody would give it back.
constinit thread_local bool thread_has_ended = false;
}  // namespace

/// Gives back what the thread has when it ends.
struct Lookout::EndOfThread {
  EndOfThread() = default;
  EndOfThread(const EndOfThread&) = delete;
  EndOfThread& operator=(const EndOfThread&) = delete;
  ~EndOfThread() {
    thread_has_ended = true;
    Lookout* const mine = std::exchange(mine_, nullptr);
    if (mine != nullptr) mine->is_taken_.store(false, std::memory_order_release);
  }
};

Lookout& Lookout::take_any() {
  const bool is_own = mine_ == nullptr && !thread_has_ended;
  if (is_own) {
    static thread_local const EndOfThread kEnd;
  }
  Lookout* found = first_.load(std::memory_order_acquire);
  while (found != nullptr && (found->is_taken_.load(std::memory_order_relaxed) ||
                              found->is_taken_.exchange(true, std::memory_order_acquire))) {
    found = found->next_;
  }
  if (found == nullptr) {
    found = new Lookout;
    found->next_ = first_.load(std::memory_order_relaxed);
    // Before it looks at anything: whoever replaces a value and does not find it here has done so earlier.
    while (!first_.compare_exchange_weak(found->next_, found, std::memory_order_seq_cst)) {
    }
  }
  if (is_own) mine_ = found;
  return *found;
}

std::int64_t Lookout::tell_readers_of(const PublishedBox* box) noexcept {
  std::int64_t readers = 0;
  const auto seen = reinterpret_cast<std::uintptr_t>(box);
  for (Lookout* each = first_.load(std::memory_order_seq_cst); each != nullptr;
       each = each->next_) {
    std::uintptr_t expected = seen;
    if (each->box_.load(std::memory_order_seq_cst) == seen &&
        each->box_.compare_exchange_strong(expected, seen | kIsReplaced,
                                           std::memory_order_seq_cst)) {
      ++readers;
    }
  }
  return readers;
}

std::size_t Lookout::count() noexcept {
  std::size_t count = 0;
  for (const Lookout* each = first_.load(std::memory_order_acquire); each != nullptr;
       each = each->next_) {
    ++count;
  }
  return count;
}

}  // namespace kube::detail
