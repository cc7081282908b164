// SPDX-License-Identifier: Apache-2.0
#include "kube/api/labels.hpp"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kube::labels {
namespace {

using Set = std::map<std::string, std::string, std::less<>>;

/// A map with the interface of the object model: find() returns a pointer or null.
class PointerMap {
 public:
  PointerMap(std::initializer_list<std::pair<std::string, std::string>> entries)
      : entries_(entries) {}

  [[nodiscard]] const std::string* find(std::string_view key) const {
    for (const auto& [name, value] : entries_) {
      if (name == key) return &value;
    }
    return nullptr;
  }

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

/// A map like PointerMap, with views.
struct ViewMap {
  [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const {
    if (key == "app") return "web";
    return std::nullopt;
  }
};

bool selects(std::string_view selector, const Set& labels) {
  return Selector::parse(selector).matches(labels);
}

std::string error_of(std::string_view selector) {
  try {
    return "no error: " + Selector::parse(selector).to_string();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

std::vector<std::string> values_of(std::string_view selector) {
  const Selector parsed = Selector::parse(selector);
  return parsed.requirements().at(0).values;
}

TEST(LabelSelector, EmptyTextSelectsEverything) {
  for (const std::string_view text : {"", " ", "\t\r\n "}) {
    EXPECT_EQ(Selector::parse(text), Selector::everything());
  }
  EXPECT_TRUE(selects("", {}));
  EXPECT_TRUE(selects("", {{"a", "b"}}));
}

TEST(LabelSelector, SelectsByEquality) {
  EXPECT_TRUE(selects("app=web", {{"app", "web"}, {"tier", "front"}}));
  EXPECT_TRUE(selects("app==web", {{"app", "web"}}));
  EXPECT_FALSE(selects("app=web", {{"app", "db"}}));
  EXPECT_FALSE(selects("app=web", {}));
  EXPECT_TRUE(selects("app=", {{"app", ""}}));
  EXPECT_FALSE(selects("app=", {}));
}

TEST(LabelSelector, SelectsByInequalityAlsoWhereTheLabelIsAbsent) {
  EXPECT_TRUE(selects("app!=web", {{"app", "db"}}));
  EXPECT_TRUE(selects("app!=web", {}));
  EXPECT_FALSE(selects("app!=web", {{"app", "web"}}));
  EXPECT_FALSE(selects("app!=", {{"app", ""}}));
}

TEST(LabelSelector, SelectsBySets) {
  EXPECT_TRUE(selects("app in (web,db)", {{"app", "db"}}));
  EXPECT_FALSE(selects("app in (web,db)", {{"app", "cache"}}));
  EXPECT_FALSE(selects("app in (web,db)", {}));
  EXPECT_TRUE(selects("app notin (web,db)", {{"app", "cache"}}));
  EXPECT_TRUE(selects("app notin (web,db)", {}));
  EXPECT_FALSE(selects("app notin (web,db)", {{"app", "web"}}));
}

TEST(LabelSelector, SelectsByPresence) {
  EXPECT_TRUE(selects("app", {{"app", ""}}));
  EXPECT_FALSE(selects("app", {}));
  EXPECT_TRUE(selects("!app", {}));
  EXPECT_FALSE(selects("!app", {{"app", ""}}));
}

TEST(LabelSelector, SelectsByIntegers) {
  EXPECT_TRUE(selects("cores>4", {{"cores", "5"}}));
  EXPECT_FALSE(selects("cores>4", {{"cores", "4"}}));
  EXPECT_TRUE(selects("cores<4", {{"cores", "-3"}}));
  EXPECT_TRUE(selects("cores<4", {{"cores", "+3"}}));
  EXPECT_FALSE(selects("cores<4", {{"cores", "many"}}));
  EXPECT_FALSE(selects("cores<4", {{"cores", ""}}));
  EXPECT_FALSE(selects("cores<4", {{"cores", "+-3"}}));
  EXPECT_FALSE(selects("cores<4", {{"cores", "-99999999999999999999"}}));
  EXPECT_FALSE(selects("cores<4", {}));
}

TEST(LabelSelector, RequiresAllRequirements) {
  const Selector selector = Selector::parse("app=web,tier in (front),!legacy");

  EXPECT_TRUE(selector.matches(Set{{"app", "web"}, {"tier", "front"}}));
  EXPECT_FALSE(selector.matches(Set{{"app", "web"}, {"tier", "back"}}));
  EXPECT_FALSE(selector.matches(Set{{"app", "web"}, {"tier", "front"}, {"legacy", ""}}));
}

TEST(LabelSelector, IgnoresWhiteSpaceBetweenParts) {
  const Selector expected = Selector::parse("a=b,c in (d,e),!f,g");

  EXPECT_EQ(Selector::parse(" a\t= b ,\nc in( d , e ) , ! f\r, g "), expected);
  EXPECT_EQ(Selector::parse("a = b,c in(d,e),!f,g"), expected);
}

TEST(LabelSelector, ReadsEmptyValuesOfSets) {
  using Values = std::vector<std::string>;
  EXPECT_EQ(values_of("a in ()"), (Values{""}));
  EXPECT_EQ(values_of("a notin ()"), (Values{""}));
  EXPECT_EQ(values_of("a in (,)"), (Values{""}));
  EXPECT_EQ(values_of("a in (b,)"), (Values{"", "b"}));
  EXPECT_EQ(values_of("a in (,b)"), (Values{"", "b"}));
  EXPECT_EQ(values_of("a in (c,,b)"), (Values{"", "b", "c"}));
  EXPECT_EQ(values_of("a in (c,b,c)"), (Values{"b", "c"}));
  EXPECT_EQ(values_of("a=,b"), (Values{""}));
}

TEST(LabelSelector, LetsOperatorsBeKeysAndValues) {
  EXPECT_EQ(Selector::parse("in in (in,notin)").to_string(), "in in (in,notin)");
  EXPECT_EQ(Selector::parse("notin").to_string(), "notin");
  EXPECT_EQ(Selector::parse("!in").to_string(), "!in");
  EXPECT_EQ(Selector::parse("in=notin").to_string(), "in=notin");
}

TEST(LabelSelector, WritesRequirementsSortedByKeyAndValuesSorted) {
  EXPECT_EQ(Selector::parse("z=1,b notin (y,x),a,!c,d==2,e!=3,f>4,g<5").to_string(),
            "a,b notin (x,y),!c,d==2,e!=3,f>4,g<5,z=1");
  EXPECT_EQ(Selector::parse("x in ()").to_string(), "x in ()");
  EXPECT_EQ(Selector::parse("x=").to_string(), "x=");
}

TEST(LabelSelector, KeepsTheOrderOfRequirementsOnOneKey) {
  EXPECT_EQ(Selector::parse("b,a!=2,a=1").to_string(), "a!=2,a=1,b");
}

TEST(LabelSelector, ReadsItsOwnText) {
  for (const std::string_view text : {"a", "!a", "a=b", "a==b", "a!=b", "a>1", "a<1", "a in (b,c)",
                                      "a notin ()", "example.com/a=b,x in (,y)"}) {
    EXPECT_EQ(Selector::parse(text).to_string(), text);
  }
}

TEST(LabelSelector, RejectsMalformedText) {
  for (const std::string_view text :
       {",",    "a,",     ",a",      "a,,b",   "a b",    "a=b c", "a=b=c",   "a===b",
        "a!b",  "a=!b",   "!a=b",    "!",      "!!a",    "=",     "=a",      "!=a",
        "a in", "a in b", "a in (",  "a in(b", "in (b)", "a (b)", "(a)",     "a)",
        "a>",   "a>b",    "a<1.5",   "a>-1",   "a><1",   "a=>1",  "a=(b)",   "-a",
        "a-=b", "a=b-",   "a/b/c=d", "a in(,", "a is b", "a in)", "a notin", "a notin b"}) {
    EXPECT_THROW((void)Selector::parse(text), std::invalid_argument) << text;
  }
  for (const std::string_view text : {"a in (b c)", "a in (b))", "a in (b,=)", "a in ((b)",
                                      "a in (b, c d)", "a>9223372036854775808"}) {
    EXPECT_THROW((void)Selector::parse(text), std::invalid_argument) << text;
  }
  EXPECT_THROW((void)Selector::parse(std::string_view("a\0", 2)), std::invalid_argument);
  EXPECT_THROW((void)Selector::parse("a=" + std::string(64, 'b')), std::invalid_argument);
  EXPECT_THROW((void)Selector::parse(std::string(64, 'a')), std::invalid_argument);
}

TEST(LabelSelector, NamesThePositionOfASyntaxError) {
  EXPECT_EQ(error_of("a in (b"),
            R"(label selector "a in (b": at offset 7: expected ',' or ')', found the end)");
  EXPECT_EQ(error_of("a,=b"),
            R"(label selector "a,=b": at offset 2: expected a label key or '!', found "=")");
  EXPECT_EQ(error_of("a b"),
            R"(label selector "a b": at offset 2: expected one of =, ==, !=, <, >, in, notin, or )"
            R"(',', found "b")");
  EXPECT_EQ(
      error_of("a=b, /c"),
      R"(label selector "a=b, /c": at offset 5: the label key "/c" must have a prefix before )"
      R"(the '/')");
  EXPECT_EQ(error_of("a > b"),
            R"(label selector "a > b": at offset 4: the value "b" must be an integer)");
}

TEST(LabelSelector, NothingSelectsNothing) {
  const Selector nothing = Selector::nothing();

  EXPECT_FALSE(nothing.matches(Set{}));
  EXPECT_FALSE(nothing.matches(Set{{"a", "b"}}));
  EXPECT_TRUE(nothing.matches_nothing());
  EXPECT_FALSE(nothing.matches_everything());
  EXPECT_EQ(nothing.to_string(), "");
  EXPECT_EQ(nothing.requires_exact("a"), std::nullopt);
  EXPECT_NE(nothing, Selector::everything());
  EXPECT_EQ(nothing.with({"a", Operator::kExists, {}}), nothing);
}

TEST(LabelSelector, EverythingSelectsEverything) {
  EXPECT_TRUE(Selector::everything().matches_everything());
  EXPECT_FALSE(Selector::everything().matches_nothing());
  EXPECT_EQ(Selector{}, Selector::everything());
  EXPECT_FALSE(Selector::parse("a").matches_everything());
}

TEST(LabelSelector, ReturnsTheExactValueOfAKey) {
  const Selector selector =
      Selector::parse("a=1,b==2,c in (3),d in (4,5),e!=6,f,g=7,g!=8,h!=9,h=9");

  EXPECT_EQ(selector.requires_exact("a"), "1");
  EXPECT_EQ(selector.requires_exact("b"), "2");
  EXPECT_EQ(selector.requires_exact("c"), "3");
  EXPECT_EQ(selector.requires_exact("d"), std::nullopt);
  EXPECT_EQ(selector.requires_exact("e"), std::nullopt);
  EXPECT_EQ(selector.requires_exact("f"), std::nullopt);
  EXPECT_EQ(selector.requires_exact("g"), "7");
  EXPECT_EQ(selector.requires_exact("h"), std::nullopt);
  EXPECT_EQ(selector.requires_exact("z"), std::nullopt);
}

TEST(LabelSelector, IsMadeFromASet) {
  const std::unordered_map<std::string, std::string> set{{"tier", "front"}, {"app", "web"}};

  const Selector selector = Selector::from_set(set);

  EXPECT_EQ(selector.to_string(), "app=web,tier=front");
  EXPECT_TRUE(selector.matches(set));
  EXPECT_EQ(Selector::from_valid_set(set), selector);
  EXPECT_EQ(Selector::from_set(Set{}), Selector::everything());
}

TEST(LabelSelector, ChecksASetUnlessItIsKnownToBeValid) {
  const Set set{{"app", "a,b"}};

  EXPECT_THROW((void)Selector::from_set(set), std::invalid_argument);
  EXPECT_TRUE(Selector::from_valid_set(set).matches(set));
}

TEST(LabelSelector, GrowsByRequirements) {
  const Selector base = Selector::parse("b=1");

  const Selector grown =
      base.with({"c", Operator::kIn, {"y", "x"}}).with({"a", Operator::kExists, {}});

  EXPECT_EQ(grown.to_string(), "a,b=1,c in (x,y)");
  EXPECT_EQ(base.to_string(), "b=1");
  EXPECT_THROW((void)base.with({"c", Operator::kIn, {}}), std::invalid_argument);
}

TEST(LabelSelector, IsMadeFromRequirements) {
  const Selector selector({{"b", Operator::kEquals, {"1"}}, {"a", Operator::kDoesNotExist, {}}});

  EXPECT_EQ(selector, Selector::parse("!a,b=1"));
  EXPECT_THROW(Selector({{"a", Operator::kEquals, {}}}), std::invalid_argument);
}

TEST(LabelSelector, MatchesMapsOfSeveralKinds) {
  const Selector selector = Selector::parse("app=web,!legacy");

  EXPECT_TRUE(selector.matches(PointerMap{{"app", "web"}}));
  EXPECT_FALSE(selector.matches(PointerMap{{"app", "web"}, {"legacy", "yes"}}));
  EXPECT_TRUE(selector.matches(ViewMap{}));
  EXPECT_TRUE(selector.matches(std::map<std::string, std::string>{{"app", "web"}}));
  EXPECT_TRUE(selector.matches(std::unordered_map<std::string, std::string>{{"app", "web"}}));
  EXPECT_FALSE(selector.matches(std::map<std::string, std::string>{}));
}

TEST(LabelRequirement, ChecksTheNumberOfValues) {
  using enum Operator;
  for (const Operator op : {kIn, kNotIn}) {
    EXPECT_THROW(validate({"a", op, {}}), std::invalid_argument);
    EXPECT_NO_THROW(validate({"a", op, {"1"}}));
    EXPECT_NO_THROW(validate({"a", op, {"1", ""}}));
  }
  for (const Operator op : {kEquals, kDoubleEquals, kNotEquals, kGreaterThan, kLessThan}) {
    EXPECT_THROW(validate({"a", op, {}}), std::invalid_argument);
    EXPECT_NO_THROW(validate({"a", op, {"1"}}));
    EXPECT_THROW(validate({"a", op, {"1", "2"}}), std::invalid_argument);
  }
  for (const Operator op : {kExists, kDoesNotExist}) {
    EXPECT_NO_THROW(validate({"a", op, {}}));
    EXPECT_THROW(validate({"a", op, {"1"}}), std::invalid_argument);
  }
}

TEST(LabelRequirement, ChecksKeyAndValues) {
  EXPECT_THROW(validate({"", Operator::kExists, {}}), std::invalid_argument);
  EXPECT_THROW(validate({"a b", Operator::kExists, {}}), std::invalid_argument);
  EXPECT_THROW(validate({"a", Operator::kIn, {"b", "c d"}}), std::invalid_argument);
  EXPECT_THROW(validate({"a", Operator::kGreaterThan, {"b"}}), std::invalid_argument);
  EXPECT_THROW(validate({"a", Operator::kLessThan, {""}}), std::invalid_argument);
  EXPECT_NO_THROW(validate({"example.com/a", Operator::kIn, {"B_c.d-e"}}));
}

TEST(LabelRequirement, ExplainsWhatIsWrong) {
  try {
    validate({"a", Operator::kNotIn, {}});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string_view(error.what()),
              R"(label requirement on "a": the operator 'notin' needs at least one value)");
  }
}

TEST(LabelRequirement, DoesNotMatchWhereItIsInvalid) {
  EXPECT_FALSE((Requirement{"a", Operator::kGreaterThan, {}}.matches("1")));
  EXPECT_FALSE((Requirement{"a", Operator::kLessThan, {"x"}}.matches("1")));
}

TEST(LabelSelector, ArbitraryTextNeverCrashesAndReadsBack) {
  constexpr std::array<std::string_view, 16> kParts{
      "a", "b", "in", "notin", "(", ")", ",", "=", "==", "!", "!=", ">", "<", "1", " ", "\xFF"};
  std::mt19937_64 random{11};  // NOLINT: the same texts on every run
  int understood = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string text;
    for (auto left = random() % 12; left > 0; --left) text += kParts[random() % kParts.size()];
    try {
      const Selector selector = Selector::parse(text);
      ++understood;
      ASSERT_EQ(Selector::parse(selector.to_string()), selector) << text;
    } catch (const std::invalid_argument&) {
      continue;
    }
  }
  EXPECT_GT(understood, 1000);
}

TEST(LabelSelector, LongTextsAreHarmless) {
  std::string set = "a in (";
  for (int i = 0; i < 200'000; ++i) set += "b,";

  EXPECT_EQ(Selector::parse(set + ")").to_string(), "a in (,b)");
  EXPECT_LT(error_of(set).size(), 300U);
  EXPECT_LT(error_of(std::string(1'000'000, '!')).size(), 300U);
  EXPECT_LT(error_of(std::string(1'000'000, 'a')).size(), 400U);
}

}  // namespace
}  // namespace kube::labels
