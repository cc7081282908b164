// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/c/kubecxx.h>
#include <kube/client/client.hpp>
#include <kube/engine/runtime.hpp>

#include <memory>
#include <optional>
#include <string>

#include "handle.hpp"
#include "last_error.hpp"
#include "own_loop.hpp"

namespace kube::c {

/// A Runtime, and its loop if the program runs it.
struct RuntimeState {
  explicit RuntimeState(const RuntimeOptions& options)
      : runtime(std::make_shared<Runtime>(options)),
        own_loop(options.threads == 0U ? std::make_shared<OwnLoop>(runtime) : nullptr) {}

  const std::shared_ptr<Runtime> runtime;
  const std::shared_ptr<OwnLoop> own_loop;  // null if the Runtime has threads
};

/// A resource named by the caller.
struct ResourceName {
  GroupVersionResource resource;
  std::string namespace_;
};
/// Throws std::invalid_argument.
[[nodiscard]] ResourceName read_resource(const kubecxx_resource* given);

/// Checks a handle given by the caller. Throws std::invalid_argument, ForkedError.
template <typename T>
[[nodiscard]] T& alive(T* handle, const char* name) {
  T& result = required(handle, name);
  result.check_process(name);
  return result;
}

}  // namespace kube::c

struct kubecxx_runtime final : kube::c::Handle {
  explicit kubecxx_runtime(const kube::RuntimeOptions& options)
      : state(std::make_shared<kube::c::RuntimeState>(options)) {}

  void close() noexcept override {}
  void finish() noexcept override { state.reset(); }
  [[nodiscard]] std::shared_ptr<kube::c::OwnLoop> own_loop() const noexcept override {
    return state->own_loop;
  }

  std::shared_ptr<kube::c::RuntimeState> state;
};

struct kubecxx_client final : kube::c::Handle {
  kubecxx_client(const kube::Config& config, kube::ClientOptions options,
                 std::shared_ptr<kube::c::RuntimeState> given)
      : runtime(std::move(given)), client(std::in_place, config, std::move(options)) {}

  void close() noexcept override {}
  void finish() noexcept override {
    client.reset();
    runtime.reset();
  }
  [[nodiscard]] std::shared_ptr<kube::c::OwnLoop> own_loop() const noexcept override {
    return runtime->own_loop;
  }

  std::shared_ptr<kube::c::RuntimeState> runtime;
  std::optional<kube::Client> client;
};
