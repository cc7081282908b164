// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gtest/gtest.h>

namespace kube::detail {
namespace {

TEST(Text, PercentDecodesOrSaysThatItCannot) {
  EXPECT_EQ(percent_decode("a%20b%2Fc+d", false), "a b/c+d");
  EXPECT_EQ(percent_decode("a+b%2b", true), "a b+");
  EXPECT_EQ(percent_decode("%41", false), "A");
  for (const char* malformed : {"%", "%4", "%zz", "a%4"}) {
    EXPECT_EQ(percent_decode(malformed, false), std::nullopt) << malformed;
  }
}

TEST(Text, PercentEncodesAllButUnreservedAndKeptCharacters) {
  EXPECT_EQ(percent_encode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_encode("a b/\xc3\xa4%"), "a%20b%2F%C3%A4%25");
  EXPECT_EQ(percent_encode("a b/c", "/"), "a%20b/c");
}

TEST(Text, TrimsAndLowersAsciiOnly) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \t"), "");
  EXPECT_EQ(trimmed("\r\na ", kBlank), "\r\na");
  EXPECT_EQ(lower_case("Content-TYPE \xc3\x84"), "content-type \xc3\x84");
}

}  // namespace
}  // namespace kube::detail
