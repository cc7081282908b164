// SPDX-License-Identifier: Apache-2.0
#include "testkit/server/manifests.hpp"

#include <kube/base/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace kube::testkit::detail {
namespace {

std::string name(const Manifests& manifests, std::size_t index) {
  return std::string{manifests.object(index)->get_string("metadata.name").value_or("?")};
}

TEST(Manifests, SplitsAJsonListWhoseKindComesLast) {
  Manifests manifests;

  manifests.add(R"({"items":[{"kind":"Pod","metadata":{"name":"a"}},{"kind":)"
                R"("CustomResourceDefinition","metadata":{"name":"b"}}],"kind":"List"})",
                "x.json");

  ASSERT_EQ(manifests.size(), 2U);
  EXPECT_EQ(name(manifests, 0), "a");
  EXPECT_FALSE(manifests.is_definition(0));
  EXPECT_TRUE(manifests.is_definition(1));
  EXPECT_EQ(manifests.origin(1), "x.json");
}

TEST(Manifests, KeepsAnObjectWithItemsThatIsNotAList) {
  Manifests manifests;

  manifests.add(R"({"kind":"Basket","metadata":{"name":"a"},"items":[{"egg":1}]})", "x");
  manifests.add(R"({"kind":"AllowList","metadata":{"name":"b"}})", "x");
  manifests.add(R"({"kind":"List","items":[]})", "x");

  ASSERT_EQ(manifests.size(), 2U);
  EXPECT_EQ(name(manifests, 0), "a");
  EXPECT_EQ(name(manifests, 1), "b");
}

TEST(Manifests, ReadsYamlInFlowStyle) {
  Manifests manifests;

  manifests.add("{kind: Pod, metadata: {name: a}}", "x");

  ASSERT_EQ(manifests.size(), 1U);
  EXPECT_EQ(name(manifests, 0), "a");
}

TEST(Manifests, KeepsThreeDashesInsideOfATextTogether) {
  Manifests manifests;

  manifests.add(
      "---\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  t: |\n    x\n    ---\n    y\n---\n# "
      "nothing\n"
      "--- \nkind: Pod\nmetadata: {name: b}\n",
      "x");

  ASSERT_EQ(manifests.size(), 2U);
  EXPECT_EQ(manifests.object(0)->get_string("data.t"), "x\n---\ny\n");
  EXPECT_EQ(name(manifests, 1), "b");
}

TEST(Manifests, ReportsTheLineOfAnErrorInALaterDocument) {
  Manifests manifests;

  try {
    manifests.add("kind: Pod\nmetadata: {name: a}\n---\nkind: Pod\nmetadata: [\n", "x.yaml");
    FAIL() << "an unterminated list was accepted";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("x.yaml: ")) << text;
    EXPECT_NE(text.find("line 6"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace kube::testkit::detail
