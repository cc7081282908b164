// SPDX-License-Identifier: Apache-2.0
// Every fault of the in-process server, with every transport: in the end the cache equals the
// server, and handlers have received a consistent sequence of events.
#include "wire_setup.hpp"
#include "troubles.hpp"

#include <tuple>

namespace kube {
namespace {

using namespace std::chrono_literals;
using namespace testing_support;

class InformerInTrouble : public WireTest,
                          public ::testing::WithParamInterface<std::tuple<WireSetup, Trouble>> {
 protected:
  InformerInTrouble() : WireTest(std::get<WireSetup>(GetParam())) {}
  void SetUp() override {
    if (server.is_real()) GTEST_SKIP() << testing_support::kNeedsFaults;
  }

  /// Injects the fault into the next two requests.
  void install() {
    testkit::RequestFilter filter{.resource = "configmaps"};
    if (trouble.only_watches) filter.verb = "watch";
    trouble.install(std::move(server->faults().next(2).matching(filter)), server->revision());
  }
  /// Makes changes of every kind.
  void change(int round) {
    put("a", "changed " + std::to_string(round));
    put("new-" + std::to_string(round), "x");
    put("short-lived", "x");
    remove("short-lived");
  }

  const Trouble trouble = std::get<Trouble>(GetParam());
};

// L-10, L-12, R-21, R-36, R-37, R-40, R-41, W-9, W-10, W-11, W-13: each fault occurs twice at the
// beginning, and twice later, when a watch is reopened.
TEST_P(InformerInTrouble, EndsWithTheStateOfTheServer) {
  for (const char* name : {"a", "b", "c"}) put(name, "1");
  Config config = server.config();
  const bool half_open = std::string_view{trouble.name}.starts_with("HalfOpen");
  if (half_open && !setup.http2) config.timeout = 100ms;
  if (half_open) patience = 200ms;
  client.emplace(make_client(std::move(config)));
  install();
  start();
  change(1);
  ASSERT_TRUE(in_step());

  install();
  clock.advance(2s);
  server.end_watches();
  remove("b");
  change(2);
  ASSERT_TRUE(in_step());
  change(3);
  ASSERT_TRUE(in_step());
  EXPECT_GT(server->faults().struck(), 0U);
  // No fault may cause the deletion of an object that exists.
  for (const std::string& event : running->recorder.events()) {
    if (!event.starts_with("delete")) continue;
    EXPECT_TRUE(event.find(space + "/b@") != std::string::npos ||
                event.find(space + "/short-lived@") != std::string::npos)
        << event;
  }
}

std::string trouble_name(const ::testing::TestParamInfo<std::tuple<WireSetup, Trouble>>& info) {
  const auto& [setup, trouble] = info.param;
  return std::string{setup.name} + '_' + trouble.name;
}
INSTANTIATE_TEST_SUITE_P(WireSetups, InformerInTrouble,
                         ::testing::Combine(::testing::ValuesIn(wire_setups()),
                                            ::testing::ValuesIn(kTroubles)),
                         trouble_name);

}  // namespace
}  // namespace kube
