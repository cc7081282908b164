// SPDX-License-Identifier: Apache-2.0
// Compares with recorded results of the CEL environment of kube-apiserver v1.36 for several hundred
// expressions; see tests/fixtures/cel/README.md.
#include "testkit/cel/program.hpp"
#include "testkit/cel/schema_type.hpp"

#include <kube/codec/json.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace kube::testkit::cel {
namespace {

/// Compares one line of the recording.
void compare(const Value& recorded, const TypePtr& type, const Value& self) {
  const std::string expression{recorded["expr"].as_string()};
  SCOPED_TRACE(expression);
  const Program program{expression, {{"self", type}, {"oldSelf", type}}};
  if (recorded["issues"].is_string()) {
    EXPECT_EQ(program.issues(), recorded["issues"].as_string());
    return;
  }
  ASSERT_EQ(program.issues(), "");
  ASSERT_TRUE(program.missing().empty());

  const Outcome outcome =
      program.run([&](std::string_view) { return from_document(self, type.get()); });

  if (recorded["error"].is_string()) {
    ASSERT_TRUE(outcome.value.is_error()) << to_literal(outcome.value);
    EXPECT_EQ(outcome.value.message(), recorded["error"].as_string());
    return;
  }
  EXPECT_EQ(to_literal(outcome.value), recorded["value"].as_string());
  EXPECT_EQ(to_string(program.type()), recorded["type"].as_string());
}

// CE-1, CE-2, CE-3
TEST(Expression, ReturnsTheResultsOfTheRealServer) {
  std::ifstream file{KUBECXX_CEL_FIXTURES "/recorded.jsonl"};
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  const auto setting = decode_json<Value>(line);
  const TypePtr type = type_of_schema((*setting)["schema"], false, "selfType");
  std::size_t count = 0;

  while (std::getline(file, line)) {
    compare(*decode_json<Value>(line), type, (*setting)["self"]);
    ++count;
  }

  EXPECT_GT(count, 500U);
}

}  // namespace
}  // namespace kube::testkit::cel
