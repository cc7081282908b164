// SPDX-License-Identifier: Apache-2.0
#include <kube/base/log.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
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

TEST(Logger, SwallowsWhatTheSinkThrows) {
  const Logger log{
      [](LogLevel, std::string_view, std::string_view) { throw std::runtime_error{"disk full"}; }};
  EXPECT_NO_THROW(log.warning("careful"));
}

}  // namespace
}  // namespace kube
