// SPDX-License-Identifier: Apache-2.0
#include "log.hpp"

#include <string_view>

#include "last_error.hpp"

namespace kube::c {

namespace {

static_assert(static_cast<int>(LogLevel::kDebug) == KUBECXX_LOG_DEBUG);
static_assert(static_cast<int>(LogLevel::kError) == KUBECXX_LOG_ERROR);

Logger::Sink sink_of(const std::shared_ptr<CallbackGate>& gate, kubecxx_log_function function) {
  return [gate, function](LogLevel level, std::string_view component, std::string_view message) {
    // Prevents infinite recursion by a sink whose own calls are logged.
    if (CallbackScope::is_inside_of(gate.get())) return;
    gate->call([&](void* user_data) {
      function(user_data, static_cast<int>(level), lend(component), lend(message));
    });
  };
}

}  // namespace
}  // namespace kube::c

int kubecxx_log_new(kubecxx_log_function function, void* user_data, void (*release)(void*),
                    int least_level, kubecxx_log** log) {
  using namespace kube::c;
  return guarded([&] {
    auto& result = output(log, "log");
    if (least_level < KUBECXX_LOG_DEBUG || least_level > KUBECXX_LOG_ERROR) {
      throw std::invalid_argument("least_level is not one of KUBECXX_LOG_...");
    }
    const auto gate = std::make_shared<CallbackGate>(user_data, release, Waiting::kForbidden);
    auto made = std::make_unique<kubecxx_log>();
    made->gate = gate;
    if (function != nullptr) {
      made->logger =
          kube::Logger{sink_of(gate, function), static_cast<kube::LogLevel>(least_level)};
    }
    result = made.release();
  });
}

void kubecxx_log_free(kubecxx_log* log) {
  if (log == nullptr) return;
  // In a child of fork() the gate may be locked by a thread that does not exist there.
  if (log->process.is_of_parent()) return;
  if (kube::c::CallbackScope::is_inside()) {
    log->gate->close();
  } else {
    log->gate->close_and_wait();
  }
  delete log;
}
