// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/testkit/faults.hpp>

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testing_support {

using namespace std::chrono_literals;
using testkit::FaultBuilder;

/// A fault of any request, or only of watches.
struct Trouble {
  const char* name;
  void (*install)(FaultBuilder&& fault, std::uint64_t revision);
  bool only_watches = false;
};
inline void PrintTo(const Trouble& trouble, std::ostream* out) { *out << trouble.name; }

inline constexpr std::string_view kTooLarge =
    R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Timeout","code":504,)"
    R"("message":"Timeout: Too large resource version: 9, current: 1",)"
    R"("details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}]}})";

inline const std::vector<Trouble> kTroubles{
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

}  // namespace kube::testing_support
