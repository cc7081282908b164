// SPDX-License-Identifier: Apache-2.0
// An informer over sockets: what works when nothing goes wrong.
#include "road.hpp"

namespace kube {
namespace {

using namespace std::chrono_literals;
using namespace testing_support;
using Strings = std::vector<std::string>;

class InformerOverSockets : public RoadTest {};

// Consistency promise, C-7, W-2, W-7, R-32
TEST_P(InformerOverSockets, FollowsTheServer) {
  put("a", "1");
  put("b", "1");
  start_and_sync();
  const std::string first_a = std::to_string(server.revision() - 1);
  put("c", "1");
  put("a", "2");
  remove("b");
  ASSERT_TRUE(in_step());

  EXPECT_TRUE(running->registration.has_synced());
  EXPECT_TRUE(running->recorder.wait_for("update default/a@" + first_a + '>' +
                                         std::to_string(server.revision() - 1)));
  EXPECT_TRUE(running->recorder.wait_for("delete default/b@" + std::to_string(server.revision())));
  EXPECT_EQ(running->recorder.events().size(), 5U);
  EXPECT_EQ(requests("list"), GetParam().watch_list ? 0U : 1U);
  EXPECT_EQ(requests("watch"), 1U);
  EXPECT_EQ(running->informer.last_error(), "");
}

INSTANTIATE_TEST_SUITE_P(Roads, InformerOverSockets, ::testing::ValuesIn(kRoads), road_name);

}  // namespace
}  // namespace kube
