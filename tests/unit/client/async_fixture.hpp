// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/client/client.hpp>
#include <kube/engine/runtime.hpp>
#include <kube/engine/spawn.hpp>
#include <kube/engine/task.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "fixture.hpp"
#include "support/manual_transport.hpp"
#include "support/task_outcome.hpp"

namespace kube::test {

/// As keep() of an Outcome, which the coroutine shares.
template <typename T>
Task<void> keep(Task<T> task, std::shared_ptr<Outcome<T>> outcome) {
  co_await keep(std::move(task), *outcome);
}

/// Returns the kind of the TransportError with which a Task ended.
template <typename T>
std::optional<TransportError::Kind> kind_of(const Outcome<T>& outcome) {
  const auto error = outcome.template thrown_as<TransportError>();
  return error ? std::optional{error->kind()} : std::nullopt;
}

/// Turns a Task<void> into one with a value.
inline Task<bool> and_true(Task<void> task) {
  co_await std::move(task);
  co_return true;
}

/// Runs coroutines on a loop that the test drives; the test also plays the server.
struct AsyncTest : testing::Test {
  AsyncTest() {
    scripted.options.transport = transport;
    scripted.options.credentials = nullptr;
    scripted.options.runtime = runtime;
  }

  /// Runs everything that is ready.
  void run_ready() const {
    while (runtime->loop().run_ready()) {
    }
  }
  template <typename T>
  std::shared_ptr<Outcome<T>> start(Task<T> task, std::stop_token stop = {}) {
    auto outcome = std::make_shared<Outcome<T>>();
    ended = spawn(*runtime, keep(std::move(task), outcome), Delivery::kQueued, std::move(stop));
    run_ready();
    return outcome;
  }
  void answer(ManualExchange& exchange, int status, std::string body) const {
    exchange.answer(status);
    exchange.send(std::move(body));
    exchange.end();
    run_ready();
  }

  Scripted scripted;
  std::shared_ptr<ManualTransport> transport = std::make_shared<ManualTransport>();
  std::shared_ptr<Runtime> runtime =
      std::make_shared<Runtime>(RuntimeOptions{.threads = 0, .log = Logger{}});
  DoneSignal ended;  ///< of the Task that was started last
};

}  // namespace kube::test
