// SPDX-License-Identifier: Apache-2.0
// The C interface in a C++ program, whose callbacks can throw: nothing crosses the boundary.
#include <kube/c/kubecxx.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace {

std::atomic<int> calls = 0;
std::atomic<int> lines = 0;

void check(bool condition, const char* what) {
  if (condition) return;
  const kubecxx_string message = kubecxx_error_message();
  std::fprintf(stderr, "failed: %s (%.*s)\n", what, static_cast<int>(message.size), message.data);
  std::exit(1);
}

void throwing_handler(void* /*user_data*/, const kubecxx_object* /*object*/, int /*initial*/) {
  ++calls;
  throw std::runtime_error("the handler has failed on purpose");
}

void throwing_sink(void* /*user_data*/, int /*level*/, kubecxx_string /*component*/,
                   kubecxx_string message) {
  const std::string_view text{message.data, message.size};
  if (text.find("failed on purpose") != text.npos) ++lines;
  throw 42;
}

void throwing_release(void* /*user_data*/) { throw 43; }

template <typename Condition>
bool comes_true(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{30};
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace

// CA-3
int main() {
  kubecxx_log* log = nullptr;
  kubecxx_config* config = nullptr;
  kubecxx_client* client = nullptr;
  kubecxx_informer* informer = nullptr;
  kubecxx_client_options client_options{};
  kubecxx_handler_options options{};
  kubecxx_resource resource{};
  check(kubecxx_log_new(throwing_sink, nullptr, throwing_release, KUBECXX_LOG_ERROR, &log) == 0,
        "log");
  check(kubecxx_config_load(kubecxx_str(""), nullptr, &config) == 0, "config");
  client_options.size = sizeof client_options;
  client_options.log = log;
  check(kubecxx_client_new(config, &client_options, &client) == 0, "client");
  resource.size = sizeof resource;
  resource.version = kubecxx_str("v1");
  resource.resource = kubecxx_str("namespaces");
  check(kubecxx_informer_new(client, &resource, nullptr, &informer) == 0, "informer");
  options.size = sizeof options;
  options.on_add = throwing_handler;
  options.release = throwing_release;
  check(kubecxx_informer_add_handler(informer, &options, nullptr) == 0, "handler");
  check(kubecxx_informer_start(informer) == 0, "start");

  // The exception is logged, and the handler is called for the next object all the same.
  check(comes_true([] { return calls >= 2 && lines >= 1; }), "two calls and a line of the log");
  kubecxx_informer_free(informer);
  kubecxx_client_free(client);
  kubecxx_config_free(config);
  kubecxx_log_free(log);
  return 0;
}
