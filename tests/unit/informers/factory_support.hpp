// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>
#include <kube/client/client.hpp>
#include <kube/testkit/fake_clock.hpp>

#include "support/items.hpp"
#include "support/request_trace.hpp"
#include "support/test_server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube::testing_support {

/// Timeout for events that should happen at once.
inline constexpr std::chrono::seconds kPatience{10};

/// A server and a client. Checks that no thread is left at the end (K-36).
class FactoryTest : public ::testing::Test {
 protected:
  ~FactoryTest() override {
    client_.reset();
    server_.reset();
    EXPECT_TRUE(threads_return_to(threads_before_));
  }

  Client& client() {
    if (!client_) client_.emplace(server.config(), trace.following({.log = Logger{}}));
    return *client_;
  }
  static core::v1::ConfigMap config_map(std::string_view space, std::string_view name,
                                        const LabelList& labels = {}) {
    core::v1::ConfigMap map;
    map.metadata.namespace_ = space;
    map.metadata.name = name;
    for (const auto& [key, value] : labels) map.metadata.labels[key] = value;
    return map;
  }
  /// Returns a node used by this test only.
  [[nodiscard]] core::v1::Node node(const LabelList& labels = {}) const {
    core::v1::Node made;
    made.metadata.name = node_name;
    for (const auto& [key, value] : labels) made.metadata.labels[key] = value;
    return made;
  }
  template <typename T>
  static std::string names(const std::vector<Ref<T>>& objects) {
    std::vector<std::string> all;
    for (const Ref<T>& object : objects) {
      all.emplace_back(detail::kObjectAccess<T>.name(object.get()));
    }
    std::sort(all.begin(), all.end());
    std::string text;
    for (const std::string& name : all) text += (text.empty() ? "" : " ") + name;
    return text;
  }

 private:
  const std::size_t threads_before_ = thread_count();
  std::optional<TestServer> server_{std::in_place};
  std::optional<Client> client_;

 protected:
  RequestTrace trace;
  testkit::FakeClock clock;
  TestServer& server = *server_;
  const std::string space = server.space();
  const std::string node_name = "node-" + space;
};

}  // namespace kube::testing_support
