// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace kube::test {

/// Forks while threads run `work`, and runs `work` in each child, too. An alarm ends a child that
/// deadlocks on an inherited lock.
template <typename Work>
void expect_children_can(Work work, int forks = 300) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "all memory is that of the sanitizer here, whose locks have no fork handlers";
#endif
  std::atomic<bool> is_done = false;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!is_done) work();
    });
  }
  int status = 0;
  for (int i = 0; i < forks && status == 0; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(10);
      for (int round = 0; round < 10; ++round) work();
      ::_exit(0);
    }
    if (child < 0 || ::waitpid(child, &status, 0) != child) status = -1;
  }
  is_done = true;
  EXPECT_EQ(status, 0) << "a child did not end by itself";
}

}  // namespace kube::test
