// SPDX-License-Identifier: Apache-2.0
#include "kube/api/fields.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kube::field_selectors {
namespace {

using Set = std::map<std::string, std::string, std::less<>>;

bool selects(std::string_view selector, const Set& fields) {
  return Selector::parse(selector).matches(fields);
}

std::string error_of(std::string_view selector) {
  try {
    return "no error: " + Selector::parse(selector).to_string();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(FieldSelector, SelectsByEquality) {
  EXPECT_TRUE(selects("metadata.name=web-0", {{"metadata.name", "web-0"}}));
  EXPECT_TRUE(selects("metadata.name==web-0", {{"metadata.name", "web-0"}}));
  EXPECT_FALSE(selects("metadata.name=web-0", {{"metadata.name", "web-1"}}));
}

TEST(FieldSelector, SelectsByInequality) {
  EXPECT_TRUE(selects("status.phase!=Running", {{"status.phase", "Pending"}}));
  EXPECT_FALSE(selects("status.phase!=Running", {{"status.phase", "Running"}}));
}

TEST(FieldSelector, TakesAbsentFieldsForEmpty) {
  EXPECT_TRUE(selects("spec.nodeName=", {}));
  EXPECT_FALSE(selects("spec.nodeName!=", {}));
  EXPECT_FALSE(selects("spec.nodeName=a", {}));
  EXPECT_TRUE(selects("spec.nodeName!=a", {}));
}

TEST(FieldSelector, RequiresAllTerms) {
  const Selector selector = Selector::parse("spec.nodeName=n1,status.phase!=Failed");

  EXPECT_TRUE(selector.matches(Set{{"spec.nodeName", "n1"}, {"status.phase", "Running"}}));
  EXPECT_FALSE(selector.matches(Set{{"spec.nodeName", "n1"}, {"status.phase", "Failed"}}));
  EXPECT_FALSE(selector.matches(Set{{"spec.nodeName", "n2"}, {"status.phase", "Running"}}));
}

TEST(FieldSelector, EmptyTextSelectsEverything) {
  EXPECT_EQ(Selector::parse(""), Selector::everything());
  EXPECT_EQ(Selector::parse(",,"), Selector::everything());
  EXPECT_EQ(Selector::parse("=,!=,=="), Selector::everything());
  EXPECT_TRUE(Selector::everything().matches(Set{}));
  EXPECT_TRUE(Selector::everything().matches_everything());
}

TEST(FieldSelector, KeepsWhiteSpaceAsPartOfTheTexts) {
  EXPECT_EQ(Selector::parse("a = b").requirements(),
            (std::vector<Requirement>{{"a ", Operator::kEquals, " b"}}));
}

TEST(FieldSelector, DividesATermAtTheFirstOperator) {
  EXPECT_EQ(Selector::parse("a!b=c").requirements(),
            (std::vector<Requirement>{{"a!b", Operator::kEquals, "c"}}));
  EXPECT_EQ(Selector::parse("a=!b").requirements(),
            (std::vector<Requirement>{{"a", Operator::kEquals, "!b"}}));
  EXPECT_EQ(Selector::parse("=b").requirements(),
            (std::vector<Requirement>{{"", Operator::kEquals, "b"}}));
}

TEST(FieldSelector, ReadsEscapedValues) {
  const Selector selector = Selector::parse(R"(a=x\,y\=z\\,b=c)");

  EXPECT_EQ(selector.requirements(),
            (std::vector<Requirement>{{"a", Operator::kEquals, R"(x,y=z\)"},
                                      {"b", Operator::kEquals, "c"}}));
  EXPECT_EQ(selector.to_string(), R"(a=x\,y\=z\\,b=c)");
}

TEST(FieldSelector, WritesTermsInTheOrderOfTheirTexts) {
  EXPECT_EQ(Selector::parse("c=3,a==1,b!=2,").to_string(), "a=1,b!=2,c=3");
}

TEST(FieldSelector, RejectsMalformedText) {
  for (const std::string_view text : {"a", "a,b=c", "!a", "a=b=c", "a===b", "a!==b", R"(a=\)",
                                      R"(a=b\c)", R"(a=\n)", R"(a\,b)", R"(a=b\,c=d)"}) {
    EXPECT_THROW((void)Selector::parse(text), std::invalid_argument) << text;
  }
}

TEST(FieldSelector, DoesNotUnescapeNames) {
  EXPECT_EQ(Selector::parse(R"(a\=b)").requirements(),
            (std::vector<Requirement>{{R"(a\)", Operator::kEquals, "b"}}));
}

TEST(FieldSelector, NamesTheInvalidTerm) {
  EXPECT_EQ(error_of("a=b,cd"),
            R"(field selector "a=b,cd": at offset 4: the term "cd" has none of =, ==, !=)");
  EXPECT_EQ(
      error_of("a=b=c"),
      R"(field selector "a=b=c": at offset 0: the term "a=b=c" has a value that has a ',' or )"
      R"('=' without a '\' before it)");
  EXPECT_EQ(
      error_of(R"(a=\)"),
      R"(field selector "a=\": at offset 0: the term "a=\" has a value that ends with a '\')");
}

TEST(FieldSelector, NothingSelectsNothing) {
  const Selector nothing = Selector::nothing();

  EXPECT_FALSE(nothing.matches(Set{}));
  EXPECT_TRUE(nothing.matches_nothing());
  EXPECT_FALSE(nothing.matches_everything());
  EXPECT_EQ(nothing.to_string(), "");
  EXPECT_EQ(nothing.requires_exact("a"), std::nullopt);
  EXPECT_NE(nothing, Selector::everything());
}

TEST(FieldSelector, ReturnsTheExactValueOfAField) {
  const Selector selector = Selector::parse("a=1,b!=2,c!=3,c=4");

  EXPECT_EQ(selector.requires_exact("a"), "1");
  EXPECT_EQ(selector.requires_exact("b"), std::nullopt);
  EXPECT_EQ(selector.requires_exact("c"), "4");
  EXPECT_EQ(selector.requires_exact("d"), std::nullopt);
}

TEST(FieldSelector, IsMadeOfOneTerm) {
  EXPECT_EQ(Selector::one_term_equal("a", "b,c").to_string(), R"(a=b\,c)");
  EXPECT_EQ(Selector::one_term_not_equal("a", "b").to_string(), "a!=b");
  EXPECT_TRUE(Selector::one_term_equal("a", "b").matches(Set{{"a", "b"}}));
  EXPECT_FALSE(Selector::one_term_not_equal("a", "b").matches(Set{{"a", "b"}}));
}

TEST(FieldSelector, IsMadeOfOtherSelectors) {
  const Selector one = Selector::one_term_equal("b", "1");
  const Selector two = Selector::parse("a=2,c!=3");

  EXPECT_EQ(Selector::all_of({one, Selector::everything(), two}).to_string(), "b=1,a=2,c!=3");
  EXPECT_EQ(Selector::all_of({}), Selector::everything());
  EXPECT_EQ(Selector::all_of({one, Selector::nothing()}), Selector::nothing());
}

TEST(FieldSelector, IsMadeFromASet) {
  EXPECT_EQ(Selector::from_set(Set{{"b", "2"}, {"a", "x=y"}}).to_string(), R"(a=x\=y,b=2)");
  EXPECT_EQ(Selector::from_set(Set{}), Selector::everything());
}

TEST(FieldEscape, ReadsBackWhatItWrites) {
  for (const std::string_view value :
       {"", "a", ",", "=", "\\", "a,b=c\\d", "\\,", "\\\\", "\xC3\xA4=", "\xFF,"}) {
    EXPECT_EQ(unescape(escape(value)), value);
  }
  EXPECT_EQ(escape(R"(a\b,c=d)"), R"(a\\b\,c\=d)");
}

TEST(FieldEscape, RejectsBareAndUnknownEscapes) {
  for (const std::string_view text : {",", "=", "\\", "a\\", "\\a", "\\\\\\", "a,b"}) {
    EXPECT_THROW((void)unescape(text), std::invalid_argument) << text;
  }
}

TEST(FieldSelector, ArbitraryTextNeverCrashesAndReadsBack) {
  constexpr std::string_view kAlphabet = "ab\\,=! \xFF";
  std::mt19937_64 random{13};  // NOLINT: the same texts on every run
  int understood = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string text;
    for (auto left = random() % 10; left > 0; --left)
      text += kAlphabet[random() % kAlphabet.size()];
    try {
      const Selector selector = Selector::parse(text);
      ++understood;
      const Selector again = Selector::parse(selector.to_string());
      ASSERT_EQ(again.requirements().size(), selector.requirements().size()) << text;
    } catch (const std::invalid_argument&) {
      continue;
    }
  }
  EXPECT_GT(understood, 1000);
}

TEST(FieldSelector, LongTextsAreHarmless) {
  std::string terms;
  for (int i = 0; i < 100'000; ++i) terms += "a=b,";

  EXPECT_EQ(Selector::parse(terms).requirements().size(), 100'000U);
  EXPECT_EQ(Selector::parse(std::string(1'000'000, ',')), Selector::everything());
  EXPECT_LT(error_of(std::string(1'000'000, 'a')).size(), 400U);
}

}  // namespace
}  // namespace kube::field_selectors
