// SPDX-License-Identifier: Apache-2.0
#include "runner.hpp"

#include <kube/object/ref.hpp>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <thread>
#include <typeinfo>

// Provided by the sanitizers, if present.
extern "C" {
__attribute__((weak)) int __lsan_do_recoverable_leak_check();
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());
}

namespace kube::torture {

namespace {

constexpr auto kPatience = std::chrono::seconds{20};
constexpr int kMostFailures = 5;
/// A leak check stops all threads and reads all memory, so it runs only once per this many runs. A
/// leak can be attributed only to such a range of runs.
constexpr std::uint64_t kRunsPerLeakCheck = 25;

/// The current run, printed if the process crashes.
std::array<char, 256> label{};

void print_label() noexcept {
  std::fputs(label.data(), stderr);
  std::fputs("\n", stderr);
}

void on_signal(int signal) {
  disarm();
  print_label();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void report_death() {
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback([] {
      disarm();
      print_label();
    });
    std::signal(SIGABRT, on_signal);
    return;
  }
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGALRM}) std::signal(signal, on_signal);
}

/// The resources that a run must leave unchanged.
struct Footprint {
  std::size_t threads = 0;  ///< threads that are subject to faults
  std::size_t descriptors = 0;
  std::size_t objects = 0;
  bool operator==(const Footprint&) const = default;

  static Footprint now() {
    return {subject_threads(),
            static_cast<std::size_t>(
                std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {})),
            block_totals().blocks};
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} threads, {} descriptors, {} objects", threads, descriptors, objects);
  }
};

class Runner {
 public:
  Runner(const RunnerOptions& options, Scenario& scenario)
      : options_(options), scenario_(scenario) {}

  int all() {
    report_death();
    if (!settle()) return failures_;
    for (const FaultKind kind : scenario_.kinds()) {
      if (options_.kind && *options_.kind != kind) continue;
      if (!every(kind)) break;
    }
    return failures_;
  }

 private:
  /// Repeats runs without faults, which must succeed, until one-time initialisation is complete;
  /// then takes the footprint. Returns false if a run fails.
  bool settle() {
    for (int i = 0; i < 3; ++i) {
      const std::string complaint = once({.kind = FaultKind::kCallback, .number = UINT64_MAX});
      if (!complaint.empty()) {
        ++failures_;
        std::fprintf(stderr, "FAILED without any fault: %s\n", complaint.c_str());
        return false;
      }
    }
    scenario_.prepare();
    // Servers notice with a delay that a client has disconnected.
    before_ = Footprint::now();
    for (int unchanged = 0; unchanged < 20; ++unchanged) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
      const Footprint now = Footprint::now();
      if (now != before_) unchanged = 0;
      before_ = now;
    }
    settled_ = true;
    return true;
  }

  /// Returns false after too many failures.
  bool every(FaultKind kind) {
    const auto errors = errors_of(kind);
    const std::uint64_t bursts = kind == FaultKind::kAllocation ? 2 : 1;
    const std::uint64_t calls = count(kind);
    std::uint64_t made = 0;
    std::uint64_t hit = 0;
    const auto started = std::chrono::steady_clock::now();
    const std::uint64_t ways = std::max<std::uint64_t>(errors.size(), 1) * bursts;
    const std::uint64_t most =
        options_.runs == 0 ? UINT64_MAX : std::max<std::uint64_t>(options_.runs / ways, 1);
    const std::uint64_t step =
        std::max<std::uint64_t>(1, (calls + most - 1) / std::max<std::uint64_t>(most, 1));
    for (std::size_t way = 0; way < ways; ++way) {
      const std::uint64_t burst = options_.burst.value_or(way % bursts == 0 ? 1 : 6);
      const int error = errors.empty() ? 0 : options_.error.value_or(errors[way / bursts]);
      // Each combination of error and burst starts at a different call, so that few runs cover more
      // calls.
      const std::uint64_t first = options_.number.value_or(1 + way * step / ways);
      for (std::uint64_t number = first;; number += step) {
        const bool struck = one({kind, number, burst, error});
        ++made;
        hit += struck ? 1 : 0;
        if (failures_ >= kMostFailures) return false;
        // The number of calls varies slightly from run to run.
        if (options_.number || (!struck && number > calls)) break;
      }
      if (options_.number && (options_.burst || options_.error)) break;
    }
    check_leaks(fmt::format("up to the last of kind {}", to_string(kind)), true);
    const auto took = std::chrono::duration<double>(std::chrono::steady_clock::now() - started);
    std::printf("%-16s %-11s %7lu calls, %7lu runs, %7lu faults, %6.1f s\n",
                options_.scenario.c_str(), std::string{to_string(kind)}.c_str(),
                static_cast<unsigned long>(calls), static_cast<unsigned long>(made),
                static_cast<unsigned long>(hit), took.count());
    std::fflush(stdout);
    return true;
  }

  /// Returns the number of calls of that kind in a run.
  std::uint64_t count(FaultKind kind) {
    (void)once({.kind = kind, .number = UINT64_MAX});
    return calls_seen();
  }

  /// Returns whether the fault was injected.
  bool one(const Fault& fault) {
    const std::string how =
        fmt::format("torture --scenario {} --kind {} --number {} --burst {}{}", options_.scenario,
                    to_string(fault.kind), fault.number, fault.burst,
                    fault.error == 0 ? "" : fmt::format(" --error {}", fault.error));
    const std::string text = "repeat with: " + how;
    std::strncpy(label.data(), text.c_str(), label.size() - 1);
    if (options_.verbose) std::fprintf(stderr, "%s\n", how.c_str());
    ::alarm(120);
    const std::string complaint = once(fault);
    const bool struck = fault_struck();
    if (!complaint.empty()) {
      ++failures_;
      std::fprintf(stderr, "FAILED: %s\n        %s\n", complaint.c_str(), text.c_str());
    }
    if (++since_leak_check_ >= kRunsPerLeakCheck || options_.number) check_leaks(text, false);
    ::alarm(0);
    return struck;
  }

  /// Returns the violation; empty if there is none.
  std::string once(const Fault& fault) {
    scenario_.prepare();
    arm(fault);
    std::string complaint;
    try {
      scenario_.run();
    } catch (const Violation& violation) {
      complaint = violation.text;
    } catch (const std::exception& error) {
      if (!fault_struck()) {
        complaint = fmt::format("failed without an injected fault: {}", error.what());
      } else if (std::string_view{error.what()}.empty()) {
        complaint = fmt::format("an error without a message: {}", typeid(error).name());
      } else if (options_.verbose) {
        std::fprintf(stderr, "  ended with: %s\n", error.what());
      }
    } catch (...) {
      complaint = "the library let an exception through that is not a std::exception";
    }
    disarm();
    if (complaint.empty() && settled_) complaint = left_behind();
    return complaint;
  }

  std::string left_behind() {
    scenario_.prepare();
    const auto limit = std::chrono::steady_clock::now() + kPatience;
    Footprint now = Footprint::now();
    while (now != before_) {
      if (std::chrono::steady_clock::now() > limit) {
        const std::string text =
            fmt::format("leaked: {} after the run; {} before", now.text(), before_.text());
        before_ = now;  // so that the next run is not blamed for it
        return text;
      }
      std::this_thread::sleep_for(std::chrono::microseconds{200});
      now = Footprint::now();
    }
    if (::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD) return "left a child process";
    return {};
  }

  void check_leaks(const std::string& where, bool last) {
    since_leak_check_ = 0;
    if (__lsan_do_recoverable_leak_check == nullptr) return;
    if (__lsan_do_recoverable_leak_check() == 0) return;
    ++failures_;
    std::fprintf(stderr, "FAILED: memory was lost within the %s%lu runs: %s\n",
                 last ? "at most " : "last ", static_cast<unsigned long>(kRunsPerLeakCheck),
                 where.c_str());
  }

  const RunnerOptions& options_;
  Scenario& scenario_;
  Footprint before_;
  bool settled_ = false;
  std::uint64_t since_leak_check_ = 0;
  int failures_ = 0;
};

}  // namespace

void eventually(std::string_view what, const std::function<bool()>& condition,
                const std::function<std::string()>& describe) {
  const auto limit = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) {
      throw Violation{fmt::format("{} did not happen{}{}", what, describe ? ": " : "",
                                  describe ? describe() : "")};
    }
    std::this_thread::sleep_for(std::chrono::microseconds{100});
  }
}

int torture(const RunnerOptions& options) {
  const std::unique_ptr<Scenario> scenario = scenarios().at(options.scenario).make();
  return Runner{options, *scenario}.all();
}

}  // namespace kube::torture
