// SPDX-License-Identifier: Apache-2.0
// Every allocation of the server's threads fails in turn: a request may fail, the server must not.
#include "failing_new.hpp"
#include "front/raw_client.hpp"

#include <kube/testkit/api_server.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace kube::testkit {
namespace {

int status_of(std::uint16_t port, std::string_view method, const std::string& target,
              const std::string& body = {}) {
  try {
    RawClient client{port};
    if (method == "GET") {
      client.get(target);
    } else {
      client.post(target, body);
    }
    return client.read_response().status;
  } catch (const std::runtime_error&) {
    return 0;
  }
}

void torture(ApiServer& server, std::string_view method, const std::string& target) {
  const std::uint16_t port = server.port();
  for (std::size_t n = 1; n < 3000; n += n < 150 ? 1 : 37) {
    const std::string name = "n" + std::to_string(n);
    bool failed = false;
    int status = 0;
    {
      const FailingNew failing{n, FailingNew::Where::kOtherThreads};
      status = status_of(port, method, target, R"({"metadata":{"name":")" + name + R"("}})");
      failed = failing.has_failed();
    }
    // A successful response must be true.
    if (method == "POST" && status == 201) {
      ASSERT_TRUE(server.find({"", "configmaps"}, "default", name)) << n;
    }
    ASSERT_EQ(status_of(port, "GET", "/api/v1/namespaces/default"), 200) << n;
    if (!failed) break;
  }
  ASSERT_TRUE(server.settle());
}

TEST(ServerMemory, AnswersAfterAnyFailedAllocation) {
  ApiServer server;

  torture(server, "GET", "/api/v1/namespaces/default/configmaps");
  torture(server, "POST", "/api/v1/namespaces/default/configmaps");
  // Runs on a thread of the BlockingLane.
  torture(server, "GET", "/api/v1/namespaces/default/configmaps?resourceVersion=1");

  EXPECT_TRUE(server.wait_for([&] { return server.connection_count() == 0; }));
}

// A watch that misses a change breaks instead of waiting forever.
TEST(ServerMemory, AWatchDeliversOrBreaks) {
  ApiServer server;
  for (std::size_t n = 1; n < 60; ++n) {
    RawClient watch{server.port()};
    watch.get("/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=" +
              std::to_string(server.revision()));
    ASSERT_EQ(watch.read_head().status, 200);
    const std::string name = "w" + std::to_string(n);
    {
      const FailingNew failing{n, FailingNew::Where::kOtherThreads};
      static_cast<void>(status_of(server.port(), "POST", "/api/v1/namespaces/default/configmaps",
                                  R"({"metadata":{"name":")" + name + R"("}})"));
    }
    if (!server.find({"", "configmaps"}, "default", name)) continue;
    const std::string event = watch.read_chunk();
    EXPECT_TRUE(event.empty() || event.find(name) != std::string::npos) << n << ": " << event;
  }
  EXPECT_EQ(status_of(server.port(), "GET", "/version"), 200);
}

}  // namespace
}  // namespace kube::testkit
