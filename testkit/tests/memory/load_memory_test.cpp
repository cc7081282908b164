// SPDX-License-Identifier: Apache-2.0
#include "failing_new.hpp"

#include <kube/testkit/api_server.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iterator>
#include <string>

namespace kube::testkit {
namespace {

/// Returns `count` pods of about 400 bytes each, as JSON, joined by `separator`.
std::string pods(int count, std::string_view separator) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    if (i > 0) text += separator;
    fmt::format_to(
        std::back_inserter(text),
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"web-{}","namespace":)"
        R"("default","labels":{{"app":"web","track":"stable"}}}},"spec":{{"nodeName":"a",)"
        R"("containers":[{{"name":"c","image":"registry.example.com/web:1","env":[)"
        R"({{"name":"A","value":"1"}},{{"name":"B","value":"2"}},{{"name":"C","value":"3"}})"
        R"(],"ports":[{{"containerPort":80,"protocol":"TCP"}}]}}]}},"status":{{"phase":)"
        R"("Running","podIP":"10.0.0.1"}}}})",
        i);
  }
  return text;
}

// The text of a list, its parse and its objects once were in memory together: 50 times the size of
// the file.
TEST(ApiServerMemory, LoadsAListInASmallMultipleOfItsSize) {
  ApiServer server;
  const std::string text = R"({"kind":"List","apiVersion":"v1","items":[)" + pods(2000, ",") + "]}";

  const PeakMemory peak;
  EXPECT_EQ(server.load_yaml(text), 2000U);

  EXPECT_LT(peak.bytes(), 8 * text.size());
}

TEST(ApiServerMemory, LoadsYamlDocumentsInASmallMultipleOfTheirSize) {
  ApiServer server;
  const std::string text = pods(2000, "\n---\n");

  const PeakMemory peak;
  EXPECT_EQ(server.load_yaml(text), 2000U);

  EXPECT_LT(peak.bytes(), 8 * text.size());
}

}  // namespace
}  // namespace kube::testkit
