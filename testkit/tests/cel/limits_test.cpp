// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/program.hpp"

#include <kube/codec/json.hpp>

#include <gtest/gtest.h>

#include <string>

namespace kube::testkit::cel {
namespace {

constexpr const char* kExceeded = "operation cancelled: actual cost limit exceeded";

Val run(const std::string& expression, const Value& self = {}) {
  const Program program{expression, {{"self", simple_type(TypeKind::kDyn)}}};
  EXPECT_EQ(program.issues(), "") << expression;
  if (!program.issues().empty()) return {};
  return program.run([&](std::string_view) { return from_document(self, nullptr); }).value;
}

void expect_exceeded(const std::string& expression, const Value& self = {}) {
  const Val value = run(expression, self);
  ASSERT_TRUE(value.is_error()) << to_literal(value).substr(0, 100);
  EXPECT_EQ(value.message(), kExceeded);
}

// CE-4
TEST(ExpressionLimits, AbortExpensiveLoops) {
  expect_exceeded("lists.range(1000000000).size() > 0");
  expect_exceeded("lists.range(2000).all(a, lists.range(2000).all(b, a + b >= 0))");
}

// CE-4: the real server's cost model charges little for equality, even of large values.
TEST(ExpressionLimits, AbortComparisonsOfLargeValues) {
  Value big = Value::array();
  for (int i = 0; i < 2000; ++i) big.push_back(Value::array({1, 2, 3, 4, 5}));
  const Value self = Value::object({{"big", std::move(big)}});

  expect_exceeded("lists.range(10000).all(i, self.big == self.big)", self);
}

// CE-4
TEST(ExpressionLimits, AbortStringsThatGrowTooLong) {
  const Value self{std::string(100'000, 'a')};

  expect_exceeded("self.replace('', self).size() > 0", self);
  expect_exceeded("self.split('').map(x, self).join('').size() > 0", self);
}

// CE-4: the expression takes exponential time in a backtracking matcher.
TEST(ExpressionLimits, AbortSlowRegexSearches) {
  const Val value =
      run("self.matches('^(([a-z])+.)+[A-Z]([a-z])+$')", Value{std::string(200, 'a')});

  ASSERT_TRUE(value.is_error() || value.is<bool>());
  if (value.is_error()) {
    EXPECT_EQ(value.message(), kExceeded);
  } else {
    EXPECT_FALSE(value.get<bool>());
  }
}

// CE-4
TEST(ExpressionLimits, RejectDeepAndLongExpressions) {
  const auto issues = [](const std::string& expression) {
    return Program{expression, {}}.issues();
  };
  std::string sum = "1";
  for (int i = 0; i < 300; ++i) sum += "+1";
  std::string fields = "dyn(1)";
  for (int i = 0; i < 300; ++i) fields += ".a";

  EXPECT_EQ(issues(sum), "ERROR: <input>:-1:0: max recursion depth exceeded");
  EXPECT_EQ(issues(fields), "ERROR: <input>:-1:0: max recursion depth exceeded");
  EXPECT_EQ(issues(std::string(260, '(') + "1" + std::string(260, ')')),
            "ERROR: <input>:-1:0: expression recursion limit exceeded: 250");
  EXPECT_EQ(issues('\'' + std::string(100'001, 'a') + '\''),
            "ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100003, limit "
            "100000");
  std::string many = "true";
  for (int i = 0; i < 1000; ++i) many += " && true";
  EXPECT_EQ(issues(many), "");
}

// CE-5
TEST(Expression, ReportsUnimplementedFunctions) {
  const Variables variables{{"authorizer", simple_type(TypeKind::kDyn)}};

  const Program access{"authorizer.group('').resource('pods').check('get').allowed()", variables};
  const Program zone{"timestamp(0).getHours('Europe/Berlin') == 1", variables};
  const Program message{"google.protobuf.Int32Value{value: 1} == 1", variables};

  EXPECT_EQ(access.issues(), "");
  ASSERT_FALSE(access.missing().empty());
  EXPECT_EQ(access.missing().front(), "group");
  ASSERT_EQ(zone.missing().size(), 1U);
  EXPECT_EQ(zone.missing().front(), "getHours('Europe/Berlin')");
  ASSERT_EQ(message.missing().size(), 1U);
}

// CE-5: a function that the real server does not have, either, is an error.
TEST(Expression, RefusesFunctionsThatDoNotExist) {
  const Program program{"math.greatest(1, 2) == 2", {}};

  EXPECT_TRUE(program.missing().empty());
  EXPECT_NE(program.issues().find("undeclared reference to 'greatest'"), std::string::npos);
}

}  // namespace
}  // namespace kube::testkit::cel
