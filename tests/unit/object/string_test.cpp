// SPDX-License-Identifier: Apache-2.0
#include <kube/object/string.hpp>

#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace kube {
namespace {

/// Returns whether the text is stored inline in the eight bytes of the handle.
bool is_inline(const String& text) {
  const auto* handle = reinterpret_cast<const char*>(&text);
  return text.data() >= handle && text.data() < handle + sizeof(String);
}

TEST(String, TakesEightBytes) {
  static_assert(sizeof(String) == 8);
  static_assert(sizeof(OptionalString) == 8);
  static_assert(sizeof(Bytes) == 8);
}

TEST(String, KeepsUpToSevenBytesInTheHandle) {
  for (std::size_t size = 1; size <= 7; ++size) {
    const std::string letters = std::string{"abc\xe2\x82\xac\xff"}.substr(0, size);
    const String text{letters};

    EXPECT_EQ(text.size(), size);
    EXPECT_EQ(text, letters);
    EXPECT_TRUE(is_inline(text)) << size;
  }
}

TEST(String, KeepsLongerTextOnTheHeap) {
  for (const std::size_t size : {std::size_t{8}, std::size_t{9}, std::size_t{100'000}}) {
    const String text{std::string(size, 'x')};

    EXPECT_EQ(text.size(), size);
    EXPECT_EQ(text, std::string(size, 'x'));
    EXPECT_FALSE(is_inline(text)) << size;
  }
}

TEST(String, IsEmptyWhenMadeFromNothing) {
  const String none;
  const String empty{""};
  const String from_view{std::string_view{}};

  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none, empty);
  EXPECT_EQ(none, from_view);
  EXPECT_EQ(none.str(), "");
}

TEST(String, HoldsAnyBytes) {
  const std::string zeros = std::string{'a', '\0', 'b', '\0'} + " long enough";

  const String text{zeros};

  EXPECT_EQ(text.size(), 16U);
  EXPECT_EQ(text.view(), zeros);
}

TEST(String, CopyOwnsItsText) {
  auto* original = new String{"longer than the handle"};
  const String copy = *original;
  delete original;

  EXPECT_EQ(copy, "longer than the handle");
}

TEST(String, MoveLeavesTheSourceEmpty) {
  String from{"longer than the handle"};
  const char* const text = from.data();

  const String to = std::move(from);

  EXPECT_EQ(to.data(), text);
  EXPECT_TRUE(from.empty());  // NOLINT: what a moved-from string is, is the question
}

TEST(String, AssignmentReplacesLongByShortAndBack) {
  String text{"longer than the handle"};

  text = "short";
  EXPECT_EQ(text, "short");
  text = std::string(50, 'y');
  EXPECT_EQ(text, std::string(50, 'y'));
  text.clear();
  EXPECT_TRUE(text.empty());
}

TEST(String, SurvivesAssignmentToItself) {
  String text{"longer than the handle"};
  const String& same = text;

  text = same;
  EXPECT_EQ(text, "longer than the handle");
  text = text.view().substr(7);
  EXPECT_EQ(text, "than the handle");
}

TEST(String, ComparesAndOrdersAsText) {
  EXPECT_EQ(String{"abc"}, String{"abc"});
  EXPECT_EQ(String{"abc"}, std::string{"abc"});
  EXPECT_EQ(String{"abc"}, std::string_view{"abc"});
  EXPECT_NE(String{"abc"}, String{"abd"});
  EXPECT_NE(String{"abc"}, "ab");
  EXPECT_LT(String{"Zebra"}, String{"apple"});
  EXPECT_LT(String{"short"}, String{"shorter than the handle"});
  EXPECT_GT(String{"\xc3\xa4"}, String{"z"});
}

TEST(String, ComparesAndOrdersWithEveryFormOfText) {
  const String text{"m"};
  const std::string string{"m"};
  const std::string_view view{"m"};
  const char* const pointer = "m";
  const Bytes bytes{"m"};

  EXPECT_TRUE(text == "m" && "m" == text);
  EXPECT_TRUE(text == string && string == text);
  EXPECT_TRUE(text == view && view == text);
  EXPECT_TRUE(text == pointer && pointer == text);
  EXPECT_TRUE(text == bytes && bytes == text);
  EXPECT_TRUE(text != "x" && "x" != text && text != std::string{"x"} && std::string{"x"} != text);
  EXPECT_TRUE(text < "n" && "l" < text && text >= "m" && "m" <= text);
  EXPECT_TRUE(text < std::string{"n"} && std::string{"l"} < text && text <= string);
  EXPECT_TRUE(text < std::string_view{"n"} && std::string_view{"l"} < text && text >= view);
  EXPECT_TRUE((text <=> pointer) == 0);
}

TEST(String, JoinsWithEveryFormOfText) {
  const String name{"web-0"};
  const String space{"a namespace with a long name"};
  const std::string string{"s"};
  const char* const pointer = "p";

  EXPECT_EQ("pod " + name, "pod web-0");
  EXPECT_EQ(name + "x", "web-0x");
  EXPECT_EQ(name + pointer, "web-0p");
  EXPECT_EQ(name + string, "web-0s");
  EXPECT_EQ(string + name, "sweb-0");
  EXPECT_EQ(name + std::string_view{"v"}, "web-0v");
  EXPECT_EQ(std::string_view{"v"} + name, "vweb-0");
  EXPECT_EQ(name + name, "web-0web-0");
  EXPECT_EQ(name + '/', "web-0/");
  EXPECT_EQ('/' + name, "/web-0");
  EXPECT_EQ("pod " + space + '/' + name + " is here",
            std::string{"pod "} + space.str() + "/web-0 is here");
  EXPECT_EQ(String{} + String{}, "");
  static_assert(std::is_same_v<decltype(name + name), std::string>);
}

TEST(String, AppendsToTheMemoryOfAChain) {
  std::string start;
  start.reserve(200);
  start = "pod ";
  const char* const memory = start.data();

  const std::string joined = std::move(start) + String{"longer than the handle"};

  EXPECT_EQ(joined.data(), memory);
  EXPECT_EQ(joined, "pod longer than the handle");
}

TEST(String, ConvertsToStandardStringsWithoutACall) {
  const Ref<String> name = freeze(String{"longer than the handle"});

  const std::string copied = *name;
  const std::string in_parentheses(*name);
  const std::string in_braces{*name};
  std::string assigned;
  assigned = *name;
  assigned += *name;
  const std::string_view view = *name;
  const std::optional<std::string> optional = *name;
  const std::vector<std::string> list{*name, *name};
  std::map<std::string, int> counts;
  ++counts[*name];

  EXPECT_EQ(view.data(), name->data());
  EXPECT_NE(copied.data(), name->data());
  EXPECT_EQ(copied, "longer than the handle");
  EXPECT_EQ(in_parentheses, copied);
  EXPECT_EQ(in_braces, copied);
  EXPECT_EQ(assigned, copied + copied);
  EXPECT_EQ(optional, copied);
  EXPECT_EQ(list, (std::vector<std::string>{copied, copied}));
  EXPECT_EQ(counts.at(copied), 1);
}

TEST(String, ConvertsToTheOtherTypesOfObjects) {
  const String text{"longer than the handle"};

  const String copy = text;
  const OptionalString optional = text;
  const Bytes bytes{text};
  const Value value = text;

  EXPECT_EQ(copy, text);
  EXPECT_EQ(optional, text);
  EXPECT_EQ(bytes, text);
  EXPECT_EQ(value.as_string(), text);
}

TEST(String, HashesAndPrintsAsItsText) {
  std::ostringstream out;
  out << String{"longer than the handle"};

  EXPECT_EQ(out.str(), "longer than the handle");
  EXPECT_EQ(std::hash<String>{}(String{"abc"}), std::hash<std::string_view>{}("abc"));
  const std::unordered_set<String> set{String{"a"}, String{"b"}, String{"a"}};
  EXPECT_EQ(set.size(), 2U);
}

TEST(String, CopyOfFrozenTextOutlivesItsBlock) {
  Ref<String> frozen = freeze(String{"longer than the handle"});
  const String copy = *frozen;
  const std::string_view in_block = frozen->view();

  EXPECT_NE(copy.data(), in_block.data());
  frozen.reset();
  EXPECT_EQ(copy, "longer than the handle");
}

TEST(OptionalString, TellsUnsetFromEmpty) {
  const OptionalString unset;
  const OptionalString empty{""};
  const OptionalString from_empty_string{String{}};

  EXPECT_FALSE(unset.has_value());
  EXPECT_TRUE(empty.has_value());
  EXPECT_TRUE(from_empty_string.has_value());
  EXPECT_NE(unset, empty);
  EXPECT_EQ(empty, from_empty_string);
  EXPECT_EQ(empty, "");
  EXPECT_FALSE(unset == "");
}

TEST(OptionalString, KeepsTheDifferenceInCopiesAndMoves) {
  const OptionalString empty{""};

  OptionalString copy = empty;
  EXPECT_TRUE(copy.has_value());
  const OptionalString moved = std::move(copy);
  EXPECT_TRUE(moved.has_value());
  OptionalString assigned{"longer than the handle"};
  assigned = empty;
  EXPECT_TRUE(assigned.has_value());
  EXPECT_EQ(assigned, "");
  assigned = std::nullopt;
  EXPECT_FALSE(assigned.has_value());
}

TEST(OptionalString, KeepsTheDifferenceWhenFrozen) {
  EXPECT_TRUE(freeze(OptionalString{""})->has_value());
  EXPECT_FALSE(freeze(OptionalString{})->has_value());
}

TEST(OptionalString, ComparesWithEveryFormOfText) {
  const OptionalString text{"m"};

  EXPECT_TRUE(text == "m" && "m" == text && text != "x");
  EXPECT_TRUE(text == std::string{"m"} && std::string{"m"} == text);
  EXPECT_TRUE(text == std::string_view{"m"} && std::string_view{"m"} == text);
  EXPECT_TRUE(text == String{"m"} && String{"m"} == text);
  EXPECT_TRUE(text != std::nullopt && OptionalString{} == std::nullopt);
}

TEST(OptionalString, GivesTheFallbackOnlyWhenUnset) {
  EXPECT_EQ(OptionalString{}.value_or("fallback"), "fallback");
  EXPECT_EQ(OptionalString{""}.value_or("fallback"), "");
  EXPECT_EQ(OptionalString{"set"}.value_or("fallback"), "set");
}

TEST(OptionalString, ResetMakesItUnset) {
  OptionalString text{"longer than the handle"};

  text.reset();

  EXPECT_FALSE(text);
}

TEST(Bytes, HoldsBinaryData) {
  const std::string content = std::string{'\xff', '\0', '\x80'} + " and more of it";

  const Bytes bytes{content};
  const Bytes copy = bytes;

  EXPECT_EQ(bytes.view(), content);
  EXPECT_EQ(copy, bytes);
  EXPECT_EQ(bytes.size(), content.size());
  EXPECT_NE(bytes, Bytes{"something else"});
  EXPECT_TRUE(Bytes{}.empty());
}

}  // namespace
}  // namespace kube
