// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

namespace kube::test {

inline std::string thread_name() {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

/// Returns how many threads of this process have such a name.
inline std::size_t threads_with(const std::function<bool(std::string_view name)>& condition) {
  std::size_t count = 0;
  for (const auto& thread : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::ifstream file{thread.path() / "comm"};  // empty if the thread has just ended
    std::string found;
    if (std::getline(file, found) && condition(found)) ++count;
  }
  return count;
}
inline std::size_t threads_named(std::string_view name) {
  return threads_with([&](std::string_view found) { return found == name; });
}

}  // namespace kube::test
