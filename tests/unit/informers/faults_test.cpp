// SPDX-License-Identifier: Apache-2.0
// Everything that the in-process server can have go wrong, on every road: in the end the cache equals the server,
// and handlers have heard a story that fits together.
#include "road.hpp"

#include <tuple>

namespace kube {
namespace {

using namespace std::chrono_literals;
using namespace testing_support;
using testkit::FaultBuilder;

/// Something that goes wrong, with any request or only with watches.
struct Trouble {
  const char* name;
  void (*install)(FaultBuilder&& fault, std::uint64_t revision);
  bool only_watches = false;
};
void PrintTo(const Trouble& trouble, std::ostream* out) { *out << trouble.name; }

constexpr std::string_view kTooLarge =
    R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Timeout","code":504,)"
    R"("message":"Timeout: Too large resource version: 9, current: 1",)"
    R"("details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}]}})";

const std::vector<Trouble> kTroubles{
    {"Answer500", [](FaultBuilder&& fault, std::uint64_t) { fault.respond(500); }},
    {"Answer500RetryAfter", [](FaultBuilder&& fault, std::uint64_t) { fault.respond(500, 7s); }},
    {"Answer503", [](FaultBuilder&& fault, std::uint64_t) { fault.respond(503, 1s); }},
    {"Answer429", [](FaultBuilder&& fault, std::uint64_t) { fault.respond(429); }},
    {"Answer429RetryAfter", [](FaultBuilder&& fault, std::uint64_t) { fault.respond(429, 3s); }},
    {"Answer410", [](FaultBuilder&& fault, std::uint64_t) { fault.respond(410); }},
    {"Answer401", [](FaultBuilder&& fault, std::uint64_t) { fault.respond(401); }},
    {"Answer403", [](FaultBuilder&& fault, std::uint64_t) { fault.respond(403); }},
    {"Answer404", [](FaultBuilder&& fault, std::uint64_t) { fault.respond(404); }},
    {"Answer422", [](FaultBuilder&& fault, std::uint64_t) { fault.respond(422); }},
    {"TooLargeVersion",
     [](FaultBuilder&& fault, std::uint64_t) { fault.respond(504, {}, std::string{kTooLarge}); }},
    {"PageOfAProxy",
     [](FaultBuilder&& fault, std::uint64_t) {
       fault.respond(200, {}, "<html>", {{"Content-Type", "text/html"}});
     }},
    {"EmptyAnswer",
     [](FaultBuilder&& fault, std::uint64_t) {
       fault.respond(200, {}, "", {{"Content-Type", "application/json"}});
     }},
    {"EmptyJson", [](FaultBuilder&& fault, std::uint64_t) { fault.respond(200, {}, "{}"); }},
    {"Late", [](FaultBuilder&& fault, std::uint64_t) { fault.delay(5ms); }},
    {"BreakBeforeHead", [](FaultBuilder&& fault, std::uint64_t) { fault.break_before_head(); }},
    {"LoseAnswer", [](FaultBuilder&& fault, std::uint64_t) { fault.lose_answer(); }},
    {"BreakAfterHead", [](FaultBuilder&& fault, std::uint64_t) { fault.break_after_head(); }},
    {"BreakAfter5Bytes", [](FaultBuilder&& fault, std::uint64_t) { fault.break_after_bytes(5); }},
    {"BreakAfter300Bytes",
     [](FaultBuilder&& fault, std::uint64_t) { fault.break_after_bytes(300); }},
    {"HalfOpen", [](FaultBuilder&& fault, std::uint64_t) { fault.go_silent(); }},
    {"HalfOpenAfterOne", [](FaultBuilder&& fault, std::uint64_t) { fault.go_silent_after(1); },
     true},
    {"DropAfterOne", [](FaultBuilder&& fault, std::uint64_t) { fault.drop_after(1); }, true},
    {"EndAfterOne", [](FaultBuilder&& fault, std::uint64_t) { fault.end_after(1); }, true},
    {"DropAtRevision",
     [](FaultBuilder&& fault, std::uint64_t revision) { fault.drop_at_revision(revision + 2); },
     true},
    {"TruncateFirst", [](FaultBuilder&& fault, std::uint64_t) { fault.truncate_frame(1); }},
    {"TruncateSecond", [](FaultBuilder&& fault, std::uint64_t) { fault.truncate_frame(2); }},
    {"CorruptFirst", [](FaultBuilder&& fault, std::uint64_t) { fault.corrupt_frame(1); }},
    {"CorruptSecond", [](FaultBuilder&& fault, std::uint64_t) { fault.corrupt_frame(2); }},
    {"Drip", [](FaultBuilder&& fault, std::uint64_t) { fault.drip(97, 1ms); }},
    {"SlowFrames", [](FaultBuilder&& fault, std::uint64_t) { fault.slow_down(2ms); }},
};

class InformerInTrouble : public RoadTest,
                          public ::testing::WithParamInterface<std::tuple<Road, Trouble>> {
 protected:
  InformerInTrouble() : RoadTest(std::get<Road>(GetParam())) {}

  /// Strikes the next two requests.
  void install() {
    testkit::RequestFilter filter{.resource = "configmaps"};
    if (trouble.only_watches) filter.verb = "watch";
    trouble.install(std::move(server.faults().next(2).matching(filter)), server.revision());
  }
  /// Changes of every sort.
  void change(int round) {
    put("a", "changed " + std::to_string(round));
    put("new-" + std::to_string(round), "x");
    put("short-lived", "x");
    remove("short-lived");
  }

  const Trouble trouble = std::get<Trouble>(GetParam());
};

// L-10, L-12, R-11, R-19..R-21, R-27, R-36..R-42, W-9..W-13: each trouble strikes twice at the beginning, and twice
// later, when a watch is opened again.
TEST_P(InformerInTrouble, EndsWithTheStateOfTheServer) {
  for (const char* name : {"a", "b", "c"}) put(name, "1");
  Config config = server.config();
  const bool half_open = std::string_view{trouble.name}.starts_with("HalfOpen");
  if (half_open && !road.http2) config.timeout = 100ms;
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
  EXPECT_GT(server.faults().struck(), 0U);
}

std::string trouble_name(const ::testing::TestParamInfo<std::tuple<Road, Trouble>>& info) {
  return std::string{std::get<Road>(info.param).name} + '_' + std::get<Trouble>(info.param).name;
}
INSTANTIATE_TEST_SUITE_P(Roads, InformerInTrouble,
                         ::testing::Combine(::testing::ValuesIn(kRoads),
                                            ::testing::ValuesIn(kTroubles)),
                         trouble_name);

}  // namespace
}  // namespace kube
