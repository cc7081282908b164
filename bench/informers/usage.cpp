// SPDX-License-Identifier: Apache-2.0
#include "usage.hpp"

#include <time.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace kube::bench {
namespace {

double read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

double status(const std::filesystem::path& file, const std::string& name) {
  std::ifstream status{file};
  for (std::string word; status >> word;) {
    double value = 0;
    if (word == name + ":" && status >> value) return value;
  }
  throw std::runtime_error(file.string() + " has no " + name);
}

}  // namespace

double process_cpu() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }
double thread_cpu() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
double now() { return read_clock(CLOCK_MONOTONIC); }

double resident() { return status("/proc/self/status", "VmRSS") * 1024 / 1e6; }
double peak() { return status("/proc/self/status", "VmHWM") * 1024 / 1e6; }
void forget_peak() { std::ofstream{"/proc/self/clear_refs"} << "5"; }

int threads() { return static_cast<int>(status("/proc/self/status", "Threads")); }

long sleeps() {
  double sum = 0;
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    sum += status(task.path() / "status", "voluntary_ctxt_switches");
  }
  return static_cast<long>(sum);
}

}  // namespace kube::bench
