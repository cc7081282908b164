// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gtest/gtest.h>

namespace kube::detail {
namespace {

TEST(Text, TrimsAndLowersAsciiOnly) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \t"), "");
  EXPECT_EQ(trimmed("\r\na ", kBlank), "\r\na");
  EXPECT_EQ(lower_case("Content-TYPE \xc3\x84"), "content-type \xc3\x84");
}

}  // namespace
}  // namespace kube::detail
