// SPDX-License-Identifier: Apache-2.0
#include <kube/object/operations.hpp>

#include <kube/object/ref.hpp>

#include "unit/object/described.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace kube {
namespace {

using test::Everything;
using test::filled;
using testing::ElementsAre;
using testing::IsSupersetOf;

template <typename T>
std::vector<std::string> paths(const T& object) {
  std::vector<std::string> found;
  visit(object, [&](std::string_view path, const Type&, const std::byte*) {
    found.emplace_back(path);
    return true;
  });
  return found;
}

TEST(Visit, NamesEveryPartInOrder) {
  test::Part part{.name = "a", .count = 1, .next = {}};
  part.next.ensure().name = "b";

  // The box and its content have the same path.
  EXPECT_THAT(paths(part), ElementsAre("", "name", "count", "next", "next", "next.name",
                                       "next.count", "next.next"));
}

TEST(Visit, GoesThroughListsMapsAndValues) {
  const Ref<Everything> all = freeze(filled());

  EXPECT_THAT(paths(*all),
              IsSupersetOf({"flag", "part.next.name", "texts[0]", "texts[2]", "parts[1].next.count",
                            "table[1][0]", "labels['app']", "partsByName['two'].next.name",
                            "groups['admins'][1]", "flags['on']", "any['list'][3]", "any['empty']",
                            "delays[1]"}));
}

TEST(Visit, GivesTheTypeAndPlaceOfEachPart) {
  const Everything all = filled();
  std::vector<std::string> texts;

  visit(all, [&](std::string_view, const Type& type, const std::byte* value) {
    if (type.kind == Kind::kString) texts.push_back(reinterpret_cast<const String*>(value)->str());
    return true;
  });

  EXPECT_THAT(texts, IsSupersetOf({all.text.str(), all.texts[1].str(), all.parts[1].name.str(),
                                   all.labels.at("tier").str(), all.table[1][0].str()}));
}

TEST(Visit, SkipsPartsThatTheVisitorDeclines) {
  std::vector<std::string> found;

  visit(filled(), [&](std::string_view path, const Type& type, const std::byte*) {
    found.emplace_back(path);
    return path.empty() || type.kind != Kind::kStruct;
  });

  EXPECT_EQ(std::count(found.begin(), found.end(), "part"), 1);
  EXPECT_EQ(std::count(found.begin(), found.end(), "parts[0]"), 1);
  EXPECT_TRUE(std::none_of(found.begin(), found.end(), [](const std::string& path) {
    return path.starts_with("part.") || path.starts_with("parts[0].");
  }));
}

TEST(Visit, StopsAtOnceIfTheRootIsDeclined) {
  int seen = 0;

  visit(filled(), [&](std::string_view, const Type&, const std::byte*) {
    ++seen;
    return false;
  });

  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace kube
