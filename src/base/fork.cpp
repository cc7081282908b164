// SPDX-License-Identifier: Apache-2.0
#include "fork.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>

namespace kube::detail {

namespace {

// Constant-initialised: they may be used before the dynamic initialisers of this file have run.
std::atomic<std::uint64_t> generation = 0;
std::atomic<std::uint64_t> live_runtimes = 0;
/// True if a Runtime existed when this process, or an ancestor, was forked.
std::atomic<bool> forked_beside_runtime = false;

/// Marks the descriptors that belong to event loops. Descriptors beyond the array stay open in a
/// child until it ends or calls exec. Only the pages in use take memory.
std::array<std::atomic<bool>, 65536> is_of_loop;
std::atomic<int> highest_of_loop = -1;

[[nodiscard]] bool is_tracked(int fd) noexcept {
  return fd >= 0 && static_cast<std::size_t>(fd) < is_of_loop.size();
}

void after_fork_in_child() noexcept {
  for (int fd = 0; fd <= highest_of_loop; ++fd) {
    if (is_of_loop[static_cast<std::size_t>(fd)].exchange(false)) ::close(fd);
  }
  generation.fetch_add(1, std::memory_order_relaxed);
  if (live_runtimes.load(std::memory_order_relaxed) > 0) forked_beside_runtime = true;
}

[[maybe_unused]] const int registered = ::pthread_atfork(nullptr, nullptr, &after_fork_in_child);

}  // namespace

std::uint64_t fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

void ProcessMark::refuse(const char* what) {
  throw ForkedError(
      std::string{what} +
      " belongs to the parent of this process; a child of fork() may only destroy it");
}

void loop_descriptors::add(int fd) noexcept {
  if (!is_tracked(fd)) return;
  int highest = highest_of_loop;
  while (highest < fd && !highest_of_loop.compare_exchange_weak(highest, fd)) {
  }
  is_of_loop[static_cast<std::size_t>(fd)] = true;
}

void loop_descriptors::remove(int fd) noexcept {
  if (is_tracked(fd)) is_of_loop[static_cast<std::size_t>(fd)] = false;
}

LiveRuntime::LiveRuntime() {
  if (forked_beside_runtime) {
    throw ForkedError(
        "this process was forked from one with a Runtime, whose threads may have held locks; call "
        "exec first, or fork before the parent makes a Runtime");
  }
  live_runtimes.fetch_add(1, std::memory_order_relaxed);
}

LiveRuntime::~LiveRuntime() { live_runtimes.fetch_sub(1, std::memory_order_relaxed); }

}  // namespace kube::detail
