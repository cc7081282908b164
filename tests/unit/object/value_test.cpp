// SPDX-License-Identifier: Apache-2.0
#include <kube/object/value.hpp>

#include <kube/object/ref.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {
namespace {

using Kind = Value::Kind;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

Value pod() {
  return Value::object(
      {{"metadata",
        Value::object({{"name", "web-0"},
                       {"labels", Value::object({{"app.kubernetes.io/name", "web"}, {"a", ""}})}})},
       {"spec",
        Value::object({{"replicas", 3},
                       {"ratio", 0.5},
                       {"paused", false},
                       {"nothing", nullptr},
                       {"containers", Value::array({Value::object({{"image", "nginx"}}),
                                                    Value::object({{"image", "envoy"}})})},
                       {"matrix", Value::array({Value::array({1, 2}), Value::array()})}})}});
}

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const ValueError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Value, KnowsItsKind) {
  EXPECT_EQ(Value{}.kind(), Kind::kAbsent);
  EXPECT_EQ(Value{nullptr}.kind(), Kind::kNull);
  EXPECT_EQ(Value{true}.kind(), Kind::kBool);
  EXPECT_EQ(Value{1}.kind(), Kind::kInteger);
  EXPECT_EQ(Value{1U}.kind(), Kind::kInteger);
  EXPECT_EQ(Value{kMost}.kind(), Kind::kInteger);
  EXPECT_EQ(Value{1.5}.kind(), Kind::kDouble);
  EXPECT_EQ(Value{""}.kind(), Kind::kString);
  EXPECT_EQ(Value{"short"}.kind(), Kind::kString);
  EXPECT_EQ(Value{std::string(100, 'x')}.kind(), Kind::kString);
  EXPECT_EQ(Value{String{"text"}}.kind(), Kind::kString);
  EXPECT_EQ(Value::array().kind(), Kind::kArray);
  EXPECT_EQ(Value::array({1}).kind(), Kind::kArray);
  EXPECT_EQ(Value::object().kind(), Kind::kObject);
  EXPECT_EQ(Value::object({{"a", 1}}).kind(), Kind::kObject);
}

TEST(Value, NamesKindsInMessages) {
  EXPECT_EQ(to_string(Kind::kAbsent), "nothing");
  EXPECT_EQ(to_string(Kind::kNull), "null");
  EXPECT_EQ(to_string(Kind::kBool), "boolean");
  EXPECT_EQ(to_string(Kind::kInteger), "integer");
  EXPECT_EQ(to_string(Kind::kDouble), "number");
  EXPECT_EQ(to_string(Kind::kString), "string");
  EXPECT_EQ(to_string(Kind::kArray), "array");
  EXPECT_EQ(to_string(Kind::kObject), "object");
}

TEST(Value, ReturnsTheValueItWasMadeFrom) {
  EXPECT_TRUE(Value{true}.as_bool());
  EXPECT_FALSE(Value{false}.as_bool());
  EXPECT_EQ(Value{-5}.as_integer(), -5);
  EXPECT_EQ(Value{0.1}.as_double(), 0.1);
  EXPECT_EQ(Value{"text"}.as_string(), "text");
  EXPECT_EQ(Value{std::string(100, 'x')}.as_string(), std::string(100, 'x'));
  EXPECT_EQ(Value::array({1, 2}).as_array().size(), 2U);
  EXPECT_EQ(Value::object({{"a", 1}}).as_object().at("a").as_integer(), 1);
}

TEST(Value, HoldsEveryInteger) {
  constexpr std::int64_t kSmall = std::int64_t{1} << 55;
  for (const std::int64_t number :
       {std::int64_t{0}, std::int64_t{-1}, kSmall - 1, kSmall, kSmall + 1, -kSmall, -kSmall - 1,
        kMost, kLeast, kMost - 1, kLeast + 1}) {
    const Value value = Value::integer(number);
    const Value copy = value;

    EXPECT_EQ(value.kind(), Kind::kInteger);
    EXPECT_EQ(value.as_integer(), number);
    EXPECT_EQ(copy, value);
    EXPECT_EQ(freeze(value)->as_integer(), number);
  }
}

// Regression: such a number became negative. As in a decoded document, it becomes a double.
TEST(Value, HoldsUnsignedNumbersBeyondTheIntegers) {
  const Value value{std::numeric_limits<std::uint64_t>::max()};

  EXPECT_EQ(value.kind(), Kind::kDouble);
  EXPECT_EQ(value.as_double(), 0x1p64);
  EXPECT_EQ(Value{std::uint64_t{1} << 62}.as_integer(), std::int64_t{1} << 62);
}

TEST(Value, TakesWholeDoublesForIntegers) {
  EXPECT_EQ(Value{3.0}.as_integer(), 3);
  EXPECT_EQ(Value{-3.0}.as_integer(), -3);
  EXPECT_EQ(Value{7}.as_double(), 7.0);
  EXPECT_EQ(message_of([] { static_cast<void>(Value{3.5}.as_integer()); }),
            "expected integer, found number");
  EXPECT_EQ(message_of([] { static_cast<void>(Value{1e300}.as_integer()); }),
            "expected integer, found number");
  EXPECT_EQ(message_of([] { static_cast<void>(Value{std::nan("")}.as_integer()); }),
            "expected integer, found number");
}

TEST(Value, GettersNameTheActualKind) {
  EXPECT_EQ(message_of([] { static_cast<void>(Value{"x"}.as_bool()); }),
            "expected boolean, found string");
  EXPECT_EQ(message_of([] { static_cast<void>(Value{true}.as_integer()); }),
            "expected integer, found boolean");
  EXPECT_EQ(message_of([] { static_cast<void>(Value{nullptr}.as_double()); }),
            "expected number, found null");
  EXPECT_EQ(message_of([] { static_cast<void>(Value{1}.as_string()); }),
            "expected string, found integer");
  EXPECT_EQ(message_of([] { static_cast<void>(Value::object().as_array()); }),
            "expected array, found object");
  EXPECT_EQ(message_of([] { static_cast<void>(Value::array().as_object()); }),
            "expected object, found array");
  EXPECT_EQ(message_of([] { static_cast<void>(Value{}.as_string()); }),
            "expected string, found nothing");
}

TEST(Value, FindsTheValueAtAPath) {
  const Value document = pod();

  EXPECT_EQ(document.find("")->kind(), Kind::kObject);
  EXPECT_EQ(document.find("metadata.name")->as_string(), "web-0");
  EXPECT_EQ(document.find("metadata.labels['app.kubernetes.io/name']")->as_string(), "web");
  EXPECT_EQ(document.find("['metadata']['name']")->as_string(), "web-0");
  EXPECT_EQ(document.find("spec.containers[1].image")->as_string(), "envoy");
  EXPECT_EQ(document.find("spec.matrix[0][1]")->as_integer(), 2);
  EXPECT_EQ(Value::array({1, 2}).find("[1]")->as_integer(), 2);
}

TEST(Value, FindsNothingAtMissingPaths) {
  const Value document = pod();

  EXPECT_EQ(document.find("status"), nullptr);
  EXPECT_EQ(document.find("status.phase"), nullptr);
  EXPECT_EQ(document.find("metadata.name.first"), nullptr);
  EXPECT_EQ(document.find("spec.containers[2]"), nullptr);
  EXPECT_EQ(document.find("spec.containers[999999999]"), nullptr);
  EXPECT_EQ(document.find("spec.containers.image"), nullptr);
  EXPECT_EQ(document.find("spec[0]"), nullptr);
  EXPECT_EQ(document.find("spec.matrix[1][0]"), nullptr);
  EXPECT_EQ(Value{}.find("a"), nullptr);
}

TEST(Value, RefusesMalformedPaths) {
  const Value document = pod();
  const std::vector<std::pair<std::string, std::string>> cases{
      {".a", "path \".a\": expected a key at position 0"},
      {"a.", "path \"a.\": expected a key at position 2"},
      {"a..b", "path \"a..b\": expected a key at position 2"},
      {"a[", "path \"a[\": bracket is not closed at position 1"},
      {"a[1", "path \"a[1\": bracket is not closed at position 1"},
      {"a['b", "path \"a['b\": bracket is not closed at position 1"},
      {"a['b]", "path \"a['b]\": bracket is not closed at position 1"},
      {"a[]", "path \"a[]\": expected an index or a quoted key at position 2"},
      {"a[b]", "path \"a[b]\": expected an index or a quoted key at position 2"},
      {"a[-1]", "path \"a[-1]\": expected an index or a quoted key at position 2"},
      {"a[1234567890]", "path \"a[1234567890]\": expected an index or a quoted key at position 2"},
      {"a[0]b", "path \"a[0]b\": expected '.' or '[' at position 4"},
      {"a['b']c", "path \"a['b']c\": expected '.' or '[' at position 6"},
  };
  for (const auto& [path, expected] : cases) {
    EXPECT_EQ(message_of([&] { static_cast<void>(document.find(path)); }), expected);
  }
}

TEST(Value, SplitsPathsIntoSteps) {
  const std::vector<PathStep> steps = parse_path("a.b[3]['c.d'][''].e");

  ASSERT_EQ(steps.size(), 6U);
  EXPECT_EQ(steps[0].key, "a");
  EXPECT_EQ(steps[1].key, "b");
  EXPECT_TRUE(steps[2].is_index);
  EXPECT_EQ(steps[2].index, 3U);
  EXPECT_EQ(steps[3].key, "c.d");
  EXPECT_FALSE(steps[3].is_index);
  EXPECT_EQ(steps[4].key, "");
  EXPECT_FALSE(steps[4].is_index);
  EXPECT_EQ(steps[5].key, "e");
  EXPECT_TRUE(parse_path("").empty());
}

TEST(Value, TypedGettersReadThroughPaths) {
  const Value document = pod();

  EXPECT_EQ(document.get_integer("spec.replicas"), 3);
  EXPECT_EQ(document.get_double("spec.ratio"), 0.5);
  EXPECT_EQ(document.get_double("spec.replicas"), 3.0);
  EXPECT_EQ(document.get_bool("spec.paused"), false);
  EXPECT_EQ(document.get_string("metadata.name"), "web-0");
  EXPECT_EQ(document.get_array("spec.containers").size(), 2U);
  EXPECT_EQ(document.get_object("metadata.labels").size(), 2U);
}

TEST(Value, TypedGettersReturnNothingForAbsentOrNull) {
  const Value document = pod();
  for (const std::string_view path : {"spec.nothing", "spec.unknown", "a.b.c", "spec.matrix[7]"}) {
    EXPECT_EQ(document.get_integer(path), std::nullopt) << path;
    EXPECT_EQ(document.get_double(path), std::nullopt) << path;
    EXPECT_EQ(document.get_bool(path), std::nullopt) << path;
    EXPECT_EQ(document.get_string(path), std::nullopt) << path;
    EXPECT_TRUE(document.get_array(path).empty()) << path;
    EXPECT_TRUE(document.get_object(path).empty()) << path;
  }
}

TEST(Value, TypedGettersNameThePathAndTheActualKind) {
  const Value document = pod();

  EXPECT_EQ(message_of([&] { static_cast<void>(document.get_integer("metadata.name")); }),
            "metadata.name: expected integer, found string");
  EXPECT_EQ(message_of([&] { static_cast<void>(document.get_bool("spec.replicas")); }),
            "spec.replicas: expected boolean, found integer");
  EXPECT_EQ(message_of([&] { static_cast<void>(document.get_string("spec.containers[0]")); }),
            "spec.containers[0]: expected string, found object");
  EXPECT_EQ(message_of([&] { static_cast<void>(document.get_double("spec.paused")); }),
            "spec.paused: expected number, found boolean");
  EXPECT_EQ(message_of([&] { static_cast<void>(document.get_array("metadata.labels")); }),
            "metadata.labels: expected array, found object");
  EXPECT_EQ(message_of([&] { static_cast<void>(document.get_object("spec.containers")); }),
            "spec.containers: expected object, found array");
  EXPECT_EQ(message_of([&] { static_cast<void>(document.get_integer("spec.ratio")); }),
            "spec.ratio: expected integer, found number");
}

TEST(Value, ReadingBySubscriptNeverInserts) {
  const Value document = pod();

  EXPECT_EQ(document["spec"]["replicas"].as_integer(), 3);
  EXPECT_EQ(document["spec"]["containers"][1]["image"].as_string(), "envoy");
  EXPECT_TRUE(document["status"].is_absent());
  EXPECT_TRUE(document["status"]["conditions"][3]["type"].is_absent());
  EXPECT_TRUE(document["spec"]["containers"][2].is_absent());
  EXPECT_TRUE(document["spec"]["containers"][-1].is_absent());
  EXPECT_TRUE(document["metadata"]["name"]["x"].is_absent());
  EXPECT_EQ(document, pod());
}

// The literal 0 is both a null pointer and an index.
TEST(Value, ReadsTheFirstElementOfAMutableArray) {
  Value list = Value::array({"first", "second"});

  EXPECT_EQ(list[0].as_string(), "first");
  EXPECT_EQ(list[1].as_string(), "second");
  EXPECT_TRUE(list[2].is_absent());
  EXPECT_EQ(std::as_const(list)[0].as_string(), "first");
}

TEST(Value, HasASizeIfItIsAContainer) {
  EXPECT_EQ(Value::array({1, 2, 3}).size(), 3U);
  EXPECT_EQ(Value::object({{"a", 1}}).size(), 1U);
  EXPECT_EQ(Value::array().size(), 0U);
  EXPECT_EQ(Value{"text"}.size(), 0U);
  EXPECT_EQ(Value{2.5}.size(), 0U);
  EXPECT_EQ(Value{}.size(), 0U);
}

TEST(Value, IsBuiltByWritingToIt) {
  Value document;

  document["metadata"]["name"] = "web";
  document["metadata"]["labels"]["app"] = "web";
  document["spec"]["replicas"] = 3;
  document["spec"]["list"].push_back("a");
  document["spec"]["list"].push_back(Value::object({{"b", nullptr}}));

  EXPECT_EQ(document,
            Value::object(
                {{"metadata",
                  Value::object({{"name", "web"}, {"labels", Value::object({{"app", "web"}})}})},
                 {"spec", Value::object(
                              {{"replicas", 3},
                               {"list", Value::array({"a", Value::object({{"b", nullptr}})})}})}}));
}

TEST(Value, NullBecomesAContainerWhenWrittenTo) {
  Value object{nullptr};
  Value array{nullptr};

  object["a"] = 1;
  array.push_back(1);

  EXPECT_EQ(object, Value::object({{"a", 1}}));
  EXPECT_EQ(array, Value::array({1}));
}

TEST(Value, RejectsWritesIntoScalars) {
  Value text{"text"};
  Value array = Value::array();
  Value object = Value::object();

  EXPECT_EQ(message_of([&] { text["a"] = 1; }), "expected object, found string");
  EXPECT_EQ(message_of([&] { array["a"] = 1; }), "expected object, found array");
  EXPECT_EQ(message_of([&] { object.push_back(1); }), "expected array, found object");
  EXPECT_EQ(text.as_string(), "text");
}

TEST(Value, WritesAtAPath) {
  Value document;

  document.at_path("spec.containers[0].image") = "nginx";
  document.at_path("spec.containers[1].image") = "envoy";
  document.at_path("spec.containers[0].image") = "nginx:2";
  document.at_path("metadata.labels['a.b/c']") = "x";

  EXPECT_EQ(document.get_string("spec.containers[0].image"), "nginx:2");
  EXPECT_EQ(document.get_array("spec.containers").size(), 2U);
  EXPECT_EQ(document.get_string("metadata.labels['a.b/c']"), "x");
  EXPECT_EQ(message_of([&] { document.at_path("spec.containers[5].image"); }),
            "spec.containers[5].image: the array has only 2 elements");
}

TEST(Value, EditsDeepInsideOfACopy) {
  const Ref<Value> cached = freeze(pod());
  Value mine = *cached;

  mine["spec"]["replicas"] = 5;
  mine.at_path("spec.containers[1].image") = std::string(50, 'i');
  mine["spec"].erase("ratio");

  EXPECT_EQ(*cached, pod());
  EXPECT_EQ(mine.get_integer("spec.replicas"), 5);
  EXPECT_EQ(mine.get_string("spec.containers[1].image"), std::string(50, 'i'));
  EXPECT_EQ(mine.find("spec.ratio"), nullptr);
}

TEST(Value, CopiesAreIndependent) {
  Value one = pod();
  Value two = one;

  one["metadata"]["name"] = "one";
  two["metadata"]["name"] = "two";

  EXPECT_EQ(one.get_string("metadata.name"), "one");
  EXPECT_EQ(two.get_string("metadata.name"), "two");
}

TEST(Value, ErasesMembers) {
  Value document = pod();

  EXPECT_TRUE(document.erase("spec"));
  EXPECT_FALSE(document.erase("spec"));
  EXPECT_EQ(document.size(), 1U);
  EXPECT_FALSE(Value{"text"}.erase("a"));
  EXPECT_FALSE(Value{}.erase("a"));
}

// The old content owns the new content, which must be moved out before the old one is destroyed.
TEST(Value, CanBeAssignedFromAPartOfItself) {
  Value document = pod();

  document = std::move(document["spec"]);
  EXPECT_EQ(document.get_integer("replicas"), 3);
  document = document["containers"];
  EXPECT_EQ(document.size(), 2U);
  document.push_back(document);
  EXPECT_EQ(document.size(), 3U);
  EXPECT_EQ(document[2].size(), 2U);
}

TEST(Value, KeepsTheKindOfEmptyContainers) {
  const Value array = Value::array();
  const Value object = Value::object();
  const Value empty{""};

  for (int i = 0; i < 2; ++i) {
    const Value a = i == 0 ? Value{array} : Value{*freeze(array)};
    const Value o = i == 0 ? Value{object} : Value{*freeze(object)};
    const Value e = i == 0 ? Value{empty} : Value{*freeze(empty)};

    EXPECT_TRUE(a.is_array());
    EXPECT_TRUE(o.is_object());
    EXPECT_TRUE(e.is_string());
  }
  EXPECT_NE(array, object);
  EXPECT_NE(array, empty);
  EXPECT_NE(object, Value{nullptr});
  EXPECT_NE(Value{}, Value{nullptr});
}

TEST(Value, ComparesNumbersByAmount) {
  EXPECT_EQ(Value{1}, Value{1.0});
  EXPECT_EQ(Value{1.0}, Value{1});
  EXPECT_NE(Value{1}, Value{1.5});
  EXPECT_NE(Value{1}, Value{true});
  EXPECT_NE(Value{1}, Value{"1"});
  EXPECT_EQ(Value::array({1, Value::object({{"a", 2.0}})}),
            Value::array({1.0, Value::object({{"a", 2}})}));
  EXPECT_NE(Value::integer(kMost), Value::integer(kMost - 1));
}

TEST(Value, ResetMakesItAbsent) {
  Value document = pod();

  document.reset();

  EXPECT_TRUE(document.is_absent());
  EXPECT_EQ(document, Value{});
}

}  // namespace
}  // namespace kube
