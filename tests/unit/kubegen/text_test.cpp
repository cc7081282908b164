// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kube::gen {
namespace {

TEST(Quote, EscapesCharactersThatCouldEndTheLiteral) {
  EXPECT_EQ(quote("plain"), R"("plain")");
  EXPECT_EQ(quote("a\"b"), R"("a\"b")");
  EXPECT_EQ(quote("a\\"), R"("a\\")");
  EXPECT_EQ(quote("a\nb"), R"("a\nb")");
}

TEST(Quote, LeavesNoTrigraph) {
  EXPECT_EQ(quote("?\?/"), R"("?\?/")");
  EXPECT_EQ(quote("?\?\?\?"), R"("?\?\?\?")");
}

TEST(Quote, WritesOtherBytesInOctalSoThatADigitMayFollow) {
  EXPECT_EQ(quote("\x01"
                  "7"),
            R"("\0017")");
  EXPECT_EQ(quote("\xc3\xbc"), R"("\303\274")");
}

TEST(CommentText, StaysOnOneLine) {
  EXPECT_EQ(comment_text("a\nb\rc"), "a\\nb\\015c");
  EXPECT_EQ(comment_text("ends with \\"), "ends with \\.");
  EXPECT_EQ(comment_text("and spaces \\  "), "and spaces \\  .");
  EXPECT_EQ(comment_text("?\?/"), "?\\?/");
}

TEST(CommentText, CutsOffLongText) {
  EXPECT_EQ(comment_text(std::string(100, 'x'), 10), "xxxxxxxxxx...");
}

TEST(CommentLines, WrapTheFirstParagraph) {
  const auto lines = comment_lines("One two\nthree four.\n\nNot this.", 10);

  EXPECT_EQ(lines, (std::vector<std::string>{"One two", "three", "four."}));
}

TEST(CommentLines, HoldNothingButPrintableAscii) {
  const auto lines =
      comment_lines("\xe2\x80\x9cquoted\xe2\x80\x9d \xe2\x80\xae\x01 what?\?/ end\\", 80);

  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0], R"("quoted" .. what?./ end\.)");
}

TEST(CommentLines, EndAfterAFewLines) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "word ";

  const auto lines = comment_lines(text, 20);

  EXPECT_EQ(lines.size(), 6U);
  EXPECT_TRUE(lines.back().ends_with("..."));
}

TEST(Printable, KeepsControlCharactersFromTheTerminal) {
  EXPECT_EQ(printable("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(printable(std::string(200, 'x')).size(), 83U);
}

TEST(Fill, BreaksBeforeTheLineGetsTooLong) {
  const std::string item(40, 'x');

  EXPECT_EQ(fill("{", {item, item}, "};", 1), "{" + item + ", " + item + "};");
  EXPECT_EQ(fill("{", {item, item, item}, "};", 1),
            "{" + item + ", " + item + ",\n " + item + "};");
}

}  // namespace
}  // namespace kube::gen
