// SPDX-License-Identifier: Apache-2.0
#include <kube/base/log.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace kube {
namespace {

TEST(Logger, IsSilentWithoutASink) {
  const Logger log;
  EXPECT_FALSE(log.enabled(LogLevel::kError));
  log.error("nobody {}", "listens");
}

TEST(Logger, NamesTheComponentAndLeavesOutWhatIsBelowTheLeastLevel) {
  std::vector<std::string> lines;
  const Logger log{[&](LogLevel, std::string_view component, std::string_view message) {
    lines.push_back(std::string{component} + ": " + std::string{message});
  }};
  log.named("reflector").info("listed {} pods", 3);
  log.named("reflector").debug("not said");

  EXPECT_EQ(lines, std::vector<std::string>{"reflector: listed 3 pods"});
}

TEST(Logger, EscapesControlCharactersSoThatNoLineIsForged) {
  using namespace std::string_view_literals;
  std::vector<std::string> lines;
  const Logger log{[&](LogLevel, std::string_view component, std::string_view message) {
    lines.push_back(std::string{component} + ": " + std::string{message});
  }};

  log.named("con\ntroller").error("the server says: {}", "a\0b\nc\rd\x1b[2Je\x7f\tf"sv);
  log.info("{}",
           "8-bit \u009b31m, line \u2028, not UTF-8 \xff\x9b\xc2, text \u00e4\u20ac\U0001f600");

  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "con\\x0atroller: the server says: a\\x00b\\x0ac\\x0dd\\x1b[2Je\\x7f\tf");
  EXPECT_EQ(lines[1],
            ": 8-bit \\xc2\\x9b31m, line \\xe2\\x80\\xa8, not UTF-8 \\xff\\x9b\\xc2, text "
            "\u00e4\u20ac\U0001f600");
}

TEST(Logger, SwallowsExceptionsOfTheSink) {
  const Logger log{
      [](LogLevel, std::string_view, std::string_view) { throw std::runtime_error{"disk full"}; }};
  EXPECT_NO_THROW(log.warning("careful"));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(StderrLogger, WritesTimeLevelAndComponentOfWarningsAndErrors) {
  testing::internal::CaptureStderr();
  const Logger log = stderr_logger();
  log.named("reflector").warning("v1 Pod: {}", "connection refused");
  log.error("no component");
  log.info("below the least level");

  const auto lines = lines_of(testing::internal::GetCapturedStderr());
  ASSERT_EQ(lines.size(), 2U);
  const std::string time = R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z )";
  EXPECT_TRUE(std::regex_match(lines[0],
                               std::regex{time + "WARNING reflector: v1 Pod: connection refused"}))
      << lines[0];
  EXPECT_TRUE(std::regex_match(lines[1], std::regex{time + "ERROR no component"})) << lines[1];
}

TEST(StderrLogger, KeepsLinesOfManyThreadsApart) {
  const std::string text(200, 'x');
  testing::internal::CaptureStderr();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const Logger log = stderr_logger(LogLevel::kDebug).named("thread");
        for (int line = 0; line < 50; ++line) log.debug("{}", text);
      });
    }
  }
  const auto lines = lines_of(testing::internal::GetCapturedStderr());
  EXPECT_EQ(lines.size(), 200U);
  EXPECT_TRUE(std::ranges::all_of(
      lines, [&](const std::string& line) { return line.ends_with("Z DEBUG thread: " + text); }));
}

}  // namespace
}  // namespace kube
