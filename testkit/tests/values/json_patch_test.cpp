// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/json_patch.hpp"

#include "values.hpp"

#include <gtest/gtest.h>

namespace kube::testkit::detail {
namespace {

using test::json;
using test::status_of;
using test::text;

std::string patched(std::string_view document, std::string_view patch) {
  return text(json_patch(json(document), json(patch)));
}

int code(std::string_view document, std::string_view patch) {
  return status_of([&] { patched(document, patch); }).code;
}

// PA-3
TEST(JsonPatch, AddsRemovesAndReplaces) {
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"add","path":"/b","value":{"c":[1]}}])"),
            R"({"a":1,"b":{"c":[1]}})");
  EXPECT_EQ(patched(R"({"a":[1,2]})", R"([{"op":"add","path":"/a/1","value":9}])"),
            R"({"a":[1,9,2]})");
  EXPECT_EQ(patched(R"({"a":[1,2]})", R"([{"op":"add","path":"/a/2","value":9}])"),
            R"({"a":[1,2,9]})");
  EXPECT_EQ(patched(R"({"a":[1,2]})", R"([{"op":"add","path":"/a/-","value":9}])"),
            R"({"a":[1,2,9]})");
  EXPECT_EQ(patched(R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])"), R"({"b":2})");
  EXPECT_EQ(patched(R"({"a":[1,2,3]})", R"([{"op":"remove","path":"/a/0"}])"), R"({"a":[2,3]})");
  EXPECT_EQ(patched(R"({"a":[1,2]})", R"([{"op":"replace","path":"/a/1","value":"x"}])"),
            R"({"a":[1,"x"]})");
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"replace","path":"","value":{"b":2}}])"), R"({"b":2})");
}

// PA-3
TEST(JsonPatch, MovesCopiesAndTests) {
  EXPECT_EQ(patched(R"({"a":{"b":1},"c":[]})", R"([{"op":"move","from":"/a/b","path":"/c/0"}])"),
            R"({"a":{},"c":[1]})");
  EXPECT_EQ(patched(R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a","path":"/c"}])"),
            R"({"a":{"b":1},"c":{"b":1}})");
  EXPECT_EQ(patched(R"({"a":{"b":1}})", R"([{"op":"test","path":"/a","value":{"b":1}}])"),
            R"({"a":{"b":1}})");
  EXPECT_EQ(code(R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])"), 422);
}

// PA-3
TEST(JsonPatch, UnescapesPointers) {
  EXPECT_EQ(
      patched(R"({"a/b":1,"m~n":2})",
              R"([{"op":"remove","path":"/a~1b"},{"op":"replace","path":"/m~0n","value":3}])"),
      R"({"m~n":3})");
  EXPECT_EQ(patched(R"({"~1":1})", R"([{"op":"remove","path":"/~01"}])"), "{}");
}

// PA-3: deviations of the real server from the RFC
TEST(JsonPatch, DeviatesFromTheRfcLikeTheServer) {
  EXPECT_EQ(patched(R"({"a":[1,2,3]})", R"([{"op":"remove","path":"/a/-1"}])"), R"({"a":[1,2]})");
  EXPECT_EQ(patched(R"({"a":{}})", R"([{"op":"replace","path":"/a/new","value":1}])"),
            R"({"a":{"new":1}})");
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"test","path":"/missing","value":null}])"),
            R"({"a":1})");
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"copy","from":"/missing","path":"/b"}])"),
            R"({"a":1,"b":null})");
}

// PA-3
TEST(JsonPatch, DoesNotNameTheFailedOperation) {
  for (const char* patch : {
           R"([{"op":"remove","path":"/missing"}])",
           R"([{"op":"remove","path":"/list/7"}])",
           R"([{"op":"add","path":"/list/3","value":1}])",
           R"([{"op":"add","path":"/list/x","value":1}])",
           R"([{"op":"add","path":"/missing/x","value":1}])",
           R"([{"op":"add","path":"/text/x","value":1}])",
           R"([{"op":"add","path":"","value":1}])",
           R"([{"op":"replace","path":"/list/2","value":1}])",
           R"([{"op":"replace","path":"","value":1}])",
           R"([{"op":"move","from":"/missing","path":"/x"}])",
           R"([{"op":"move","path":"/x"}])",
           R"([{"op":"copy","from":"","path":"/x"}])",
           R"([{"op":"move","from":"","path":"/x"}])",
           R"([{"op":"copy","from":"/list","path":""}])",
           R"([{"op":"copy","from":"/list/9","path":"/x"}])",
           R"([{"op":"move","from":"/list","path":"/list/0"}])",
           R"([{"op":"fly","path":"/x"}])",
           R"([{"path":"/x"}])",
           R"([{"op":"add"}])",
           R"([{"op":"add","path":7}])",
           R"([{}])",
       }) {
    const auto status = status_of([&] { patched(R"({"list":[1,2],"text":"t"})", patch); });
    EXPECT_EQ(status.code, 422) << patch;
    EXPECT_EQ(status.reason, "Invalid");
    EXPECT_EQ(status.message, "the server rejected our request due to an error in our request");
  }
}

// PA-3
TEST(JsonPatch, RejectsAnythingButAListOfOperations) {
  EXPECT_EQ(code("{}", R"({"op":"add"})"), 400);
  EXPECT_EQ(code("{}", R"([1])"), 400);
  EXPECT_EQ(patched("{}", "null"), "{}");
  EXPECT_EQ(patched("{}", "[]"), "{}");
}

// PA-3
TEST(JsonPatch, LimitsTheNumberOfOperations) {
  Value patch = Value::array();
  for (int i = 0; i < 10'000; ++i) patch.push_back(json(R"({"op":"test","path":"/a","value":1})"));
  EXPECT_EQ(text(json_patch(json(R"({"a":1})"), patch)), R"({"a":1})");

  patch.push_back(json(R"({"op":"test","path":"/a","value":1})"));

  const auto status = status_of([&] { static_cast<void>(json_patch(json(R"({"a":1})"), patch)); });
  EXPECT_EQ(status.code, 413);
  EXPECT_EQ(status.reason, "RequestEntityTooLarge");
  EXPECT_EQ(status.message,
            "Request entity too large: The allowed maximum operations in a JSON patch is 10000, "
            "got 10001");
}

// PA-3: a copy bomb doubles the document with every operation
TEST(JsonPatch, LimitsBytesAddedByCopies) {
  Value patch = Value::array();
  for (int i = 0; i < 60; ++i) patch.push_back(json(R"({"op":"copy","from":"/a","path":"/a/-"})"));
  EXPECT_EQ(status_of([&] { static_cast<void>(json_patch(json(R"({"a":[1]})"), patch)); }).code,
            422);
}

TEST(JsonPatch, LimitsTheDepthOfTheResult) {
  Value patch = Value::array();
  std::string path = "/a";
  for (int i = 0; i < 300; ++i) {
    patch.push_back(Value::object({{"op", "add"}, {"path", path}, {"value", Value::object()}}));
    path += "/a";
  }
  EXPECT_EQ(status_of([&] { static_cast<void>(json_patch(json("{}"), patch)); }).code, 422);

  // Nested moves do not increase the depth, however many there are.
  Value moves = Value::array();
  for (int i = 0; i < 1000; ++i) {
    moves.push_back(json(R"({"op":"move","from":"/a","path":"/b/a"})"));
    moves.push_back(json(R"({"op":"move","from":"/b/a","path":"/a"})"));
  }
  EXPECT_EQ(text(json_patch(json(R"({"a":1,"b":{}})"), moves)), R"({"a":1,"b":{}})");
}

}  // namespace
}  // namespace kube::testkit::detail
