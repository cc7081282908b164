// SPDX-License-Identifier: Apache-2.0
// Hundreds of concurrent requests on one thread: coroutines, on a loop that the program runs
// itself. docs/client.md quotes it.
#include <kube/api/core/v1.hpp>
#include <kube/client/client.hpp>
#include <kube/engine/runtime.hpp>
#include <kube/engine/spawn.hpp>
#include <kube/engine/task.hpp>
#include <kube/engine/when_all.hpp>
#include <kube/testkit/api_server.hpp>

#include <fmt/core.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace {

using kube::core::v1::ConfigMap;

/// Creates a config map, then reads and changes it.
kube::Task<std::string> make_and_change(kube::Resource<ConfigMap> maps, std::string name) {
  ConfigMap map{.metadata = {.name = name}, .data = {{"color", "red"}}};
  (void)co_await maps.create_async(std::move(map));
  map = *co_await maps.get_async(name);
  map.data["color"] = "green";
  const kube::Ref<ConfigMap> changed = co_await maps.update_async(std::move(map));
  co_return changed->data.find("color")->str();
}

/// Does that for many config maps concurrently.
kube::Task<void> work(kube::Resource<ConfigMap> maps, std::size_t count) {
  std::vector<kube::Task<std::string>> tasks;
  for (std::size_t i = 0; i < count; ++i) {
    tasks.push_back(make_and_change(maps, "map-" + std::to_string(i)));
  }
  std::size_t green = 0;
  for (const std::string& color : co_await kube::when_all(std::move(tasks))) {
    green += color == "green" ? 1 : 0;
  }
  fmt::print("{} of {} config maps are green\n", green, count);
}

int run() {
  kube::testkit::ApiServer server;
  const auto runtime = std::make_shared<kube::Runtime>(kube::RuntimeOptions{.threads = 0});
  kube::Config config = server.config();
  config.qps = -1;  // the server of this example has no rate limit
  const kube::Client client{std::move(config), {.runtime = runtime}};

  std::stop_source stop;
  const kube::DoneSignal done =
      kube::spawn(*runtime, work(client.resource<ConfigMap>("default"), 500));
  done.on_done([stop]() mutable { stop.request_stop(); });
  runtime->loop().run(stop.get_token());  // this thread does all the work
  fmt::print("threads of the client: {}\n", runtime->threads());
  return 0;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "concurrent_requests: {}\n", error.what());
    return 1;
  }
}
