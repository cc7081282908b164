// SPDX-License-Identifier: Apache-2.0
#include <kube/codec/base64.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

namespace kube {
namespace {

TEST(Base64, WritesTheVectorsOfTheStandard) {
  EXPECT_EQ(base64_encode(""), "");
  EXPECT_EQ(base64_encode("f"), "Zg==");
  EXPECT_EQ(base64_encode("fo"), "Zm8=");
  EXPECT_EQ(base64_encode("foo"), "Zm9v");
  EXPECT_EQ(base64_encode("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64_encode("\xfb\xff\xfe"), "+//+");
}

TEST(Base64, ReadsBackWhatItWrote) {
  std::mt19937 random{7};
  for (std::size_t size = 0; size < 200; ++size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());

    EXPECT_EQ(base64_decode(base64_encode(bytes)), bytes);
  }
}

TEST(Base64, SkipsLineBreaks) {
  EXPECT_EQ(base64_decode("Zm9v\r\nYm\nFy\n"), "foobar");
  EXPECT_EQ(base64_decode("Zg\n=\n="), "f");
}

TEST(Base64, RefusesWhatIsMalformed) {
  for (const std::string_view text :
       {"Z", "Zg", "Zg=", "Zg===", "Zg==Zg==", "=", "==", "====", "Zm9v=", "Zm9v==", "Zm 9v",
        "Zm9-", "Z===", "Zm9v\xc3\xa4", "Zg=A"}) {
    EXPECT_EQ(base64_decode(text), std::nullopt) << text;
  }
}

TEST(Base64, NeverWritesBeyondItsCapacity) {
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string text(size, 'A');
    std::string out(base64_capacity(text), '\0');
    const std::size_t written = base64_decode(text, out.data()).value_or(0);

    EXPECT_LE(written, out.size());
  }
}

TEST(Base64, AppendsToWhatIsThere) {
  std::string out = "data:";
  base64_append(out, "foo");
  base64_append(out, "f");

  EXPECT_EQ(out, "data:Zm9vZg==");
}

}  // namespace
}  // namespace kube
