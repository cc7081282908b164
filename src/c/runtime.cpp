// SPDX-License-Identifier: Apache-2.0
#include <kube/engine/runtime.hpp>

#include "client.hpp"
#include "log.hpp"
#include "read_options.hpp"

using namespace kube::c;

namespace {

/// Throws std::invalid_argument.
kube::RuntimeOptions runtime_options(const kubecxx_runtime_options& given) {
  kube::RuntimeOptions options{.log = logger_of(given.log)};
  if (given.threads == KUBECXX_NO_THREADS) {
    options.threads = 0;
  } else if (given.threads < 0) {
    throw std::invalid_argument("kubecxx_runtime_options: threads is negative");
  } else if (given.threads > 0) {
    options.threads = static_cast<unsigned>(given.threads);
  }
  if (given.max_threads == KUBECXX_UNLIMITED) {
    options.max_threads = 0;
  } else if (given.max_threads < 0) {
    throw std::invalid_argument("kubecxx_runtime_options: max_threads is negative");
  } else if (given.max_threads > 0) {
    options.max_threads = static_cast<unsigned>(given.max_threads);
  }
  return options;
}

/// Throws std::logic_error if the runtime runs its loop itself.
OwnLoop& own_loop_of(kubecxx_runtime* runtime) {
  const auto& state = alive(runtime, "runtime").state;
  if (state->own_loop == nullptr) {
    throw std::logic_error(
        "the runtime runs its loop in a thread of its own; set threads of kubecxx_runtime_options "
        "to KUBECXX_NO_THREADS to run it");
  }
  return *state->own_loop;
}

}  // namespace

int kubecxx_runtime_new(const kubecxx_runtime_options* options, kubecxx_runtime** runtime) {
  return guarded([&] {
    auto& result = output(runtime, "runtime");
    const auto given = read_options(options, "kubecxx_runtime_options");
    result = new kubecxx_runtime(runtime_options(given));
  });
}

int kubecxx_runtime_descriptor(kubecxx_runtime* runtime, int* descriptor) {
  return guarded([&] {
    int& result = required(descriptor, "descriptor");
    result = -1;
    result = own_loop_of(runtime).descriptor();
  });
}

int kubecxx_runtime_run_ready(kubecxx_runtime* runtime, int64_t budget_ms, int* more) {
  return guarded([&] {
    if (more != nullptr) *more = 0;
    if (budget_ms < 0) throw std::invalid_argument("budget_ms is negative");
    constexpr int64_t kDefaultMs = 5;
    constexpr int64_t kMostMs = 3'600'000;
    const int64_t budget = budget_ms == 0 ? kDefaultMs : std::min(budget_ms, kMostMs);
    OwnLoop& loop = own_loop_of(runtime);
    const auto state = runtime->state;  // a callback may free the handle
    const bool ready = loop.run_ready(std::chrono::milliseconds{budget});
    if (more != nullptr) *more = ready ? 1 : 0;
  });
}

void kubecxx_runtime_free(kubecxx_runtime* runtime) { free_handle(runtime); }
