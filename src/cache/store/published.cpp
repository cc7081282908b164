// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/published.hpp>

#include <utility>

namespace kube::detail {

constinit thread_local HazardPointer* HazardPointer::mine_ = nullptr;
std::atomic<HazardPointer*> HazardPointer::first_ = nullptr;

namespace {
/// Set by ThreadExit. Afterwards the thread must not own a hazard pointer: nothing would release
/// it.
constinit thread_local bool thread_is_exiting = false;
}  // namespace

/// Releases the hazard pointer of a thread when the thread ends.
struct HazardPointer::ThreadExit {
  ThreadExit() = default;
  ThreadExit(const ThreadExit&) = delete;
  ThreadExit& operator=(const ThreadExit&) = delete;
  ~ThreadExit() {
    thread_is_exiting = true;
    HazardPointer* const mine = std::exchange(mine_, nullptr);
    if (mine != nullptr) mine->is_acquired_.store(false, std::memory_order_release);
  }
};

HazardPointer& HazardPointer::acquire_any() {
  const bool is_own = mine_ == nullptr && !thread_is_exiting;
  if (is_own) {
    static thread_local const ThreadExit kEnd;
  }
  HazardPointer* found = first_.load(std::memory_order_acquire);
  while (found != nullptr && (found->is_acquired_.load(std::memory_order_relaxed) ||
                              found->is_acquired_.exchange(true, std::memory_order_acquire))) {
    found = found->next_;
  }
  if (found == nullptr) {
    found = new HazardPointer;
    found->next_ = first_.load(std::memory_order_relaxed);
    // Linked before it protects anything: a writer that does not find it in the list has replaced
    // its value earlier, and the reader will notice that.
    while (!first_.compare_exchange_weak(found->next_, found, std::memory_order_seq_cst)) {
    }
  }
  if (is_own) mine_ = found;
  return *found;
}

std::int64_t HazardPointer::mark_retired(const PublishedBox* box) noexcept {
  std::int64_t readers = 0;
  const auto seen = reinterpret_cast<std::uintptr_t>(box);
  for (HazardPointer* each = first_.load(std::memory_order_seq_cst); each != nullptr;
       each = each->next_) {
    std::uintptr_t expected = seen;
    if (each->box_.load(std::memory_order_seq_cst) == seen &&
        each->box_.compare_exchange_strong(expected, seen | kRetired, std::memory_order_seq_cst)) {
      ++readers;
    }
  }
  return readers;
}

std::size_t HazardPointer::count() noexcept {
  std::size_t count = 0;
  for (const HazardPointer* each = first_.load(std::memory_order_acquire); each != nullptr;
       each = each->next_) {
    ++count;
  }
  return count;
}

}  // namespace kube::detail
