// SPDX-License-Identifier: Apache-2.0
#include <kube/api/core/v1.hpp>
#include <kube/controller/manager.hpp>
#include <kube/testkit/api_server.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace kube {
namespace {

TEST(Manager, RunsAController) {
  testkit::ApiServer server;
  Manager manager{server.config()};
  std::atomic<int> calls = 0;
  manager.controller<core::v1::ConfigMap>("maps").reconcile([&](const Request& request) {
    if (manager.get<core::v1::ConfigMap>(request.key)) ++calls;
    return done();
  });
  std::stop_source stop;
  std::jthread thread{[&] { manager.run(stop.get_token()); }};
  server.create(core::v1::ConfigMap{.metadata = {.name = "a", .namespace_ = "default"}});
  EXPECT_TRUE(server.wait_for([&] { return calls > 0; }));
  stop.request_stop();
}

}  // namespace
}  // namespace kube
