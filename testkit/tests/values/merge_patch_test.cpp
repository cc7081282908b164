// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/merge_patch.hpp"

#include "values.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace kube::testkit::detail {
namespace {

using test::json;
using test::status_of;
using test::text;

std::string merged(std::string_view target, std::string_view patch) {
  return text(merge_patch(json(target), json(patch)));
}

/// Returns the patch that turns `from` into `to`, which has no nulls.
Value difference(const Value& from, const Value& to) {
  Value patch = Value::object();
  for (const auto& [key, value] : from.as_object()) {
    const Value* other = to.as_object().find(key.view());
    if (other == nullptr) {
      patch[key.view()] = nullptr;
    } else if (value.is_object() && other->is_object()) {
      patch[key.view()] = difference(value, *other);
    } else if (!(value == *other)) {
      patch[key.view()] = *other;
    }
  }
  for (const auto& [key, value] : to.as_object()) {
    if (!from.as_object().contains(key.view())) patch[key.view()] = value;
  }
  return patch;
}

// PA-3
TEST(MergePatch, FollowsTheExamplesOfTheRfc) {
  EXPECT_EQ(merged(R"({"a":"b"})", R"({"a":"c"})"), R"({"a":"c"})");
  EXPECT_EQ(merged(R"({"a":"b"})", R"({"b":"c"})"), R"({"a":"b","b":"c"})");
  EXPECT_EQ(merged(R"({"a":"b","b":"c"})", R"({"a":null})"), R"({"b":"c"})");
  EXPECT_EQ(merged(R"({"a":["b"]})", R"({"a":"c"})"), R"({"a":"c"})");
  EXPECT_EQ(merged(R"({"a":"c"})", R"({"a":["b"]})"), R"({"a":["b"]})");
  EXPECT_EQ(merged(R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})"), R"({"a":{"b":"d"}})");
  EXPECT_EQ(merged(R"({"a":[{"b":"c"}]})", R"({"a":[1]})"), R"({"a":[1]})");
  EXPECT_EQ(merged(R"({"e":null})", R"({"a":1})"), R"({"a":1,"e":null})");
  EXPECT_EQ(merged(R"({})", R"({"a":{"bb":{"ccc":null}}})"), R"({"a":{"bb":{}}})");
}

// PA-3
TEST(MergePatch, DropsNullsInNewValuesAndLists) {
  EXPECT_EQ(merged(R"({})", R"({"a":[{"b":null,"c":1},null]})"), R"({"a":[{"c":1},null]})");
}

// PA-3
TEST(MergePatch, RejectsAnythingButAnObject) {
  for (const char* patch : {"[]", "1", "\"x\"", "null"}) {
    EXPECT_EQ(status_of([&] { merged("{}", patch); }).code, 400) << patch;
  }
}

TEST(MergePatch, OfADifferenceRestoresTheOther) {
  std::mt19937 random{42};
  for (int i = 0; i < 2000; ++i) {
    Value from = Value::object({{"r", test::random_value(random, 4)}, {"s", 1}});
    Value to = Value::object({{"r", test::random_value(random, 4)}, {"t", 2}});
    EXPECT_EQ(text(merge_patch(from, difference(from, to))), text(to));
  }
}

TEST(MergePatch, OfManyNewMembersTakesLinearTime) {
  Value patch = Value::object();
  for (int i = 0; i < 100'000; ++i) patch["k" + std::to_string(1'000'000 + i)] = i;
  const auto start = std::chrono::steady_clock::now();

  const Value result = merge_patch(json(R"({"a":1,"z":2})"), patch);

  EXPECT_EQ(result.size(), 100'002u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds{10});
}

}  // namespace
}  // namespace kube::testkit::detail
