// SPDX-License-Identifier: Apache-2.0
#include <kube/base/error.hpp>
#include <kube/controller/identity.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace kube {
namespace {

using ::testing::MatchesRegex;

// LE-14
TEST(Identity, IsTheHostNameAndARandomUuid) {
  const std::string identity = make_identity();
  const std::size_t split = identity.rfind('_');
  ASSERT_NE(split, std::string::npos);
  EXPECT_EQ(identity.substr(0, split), host_name());
  EXPECT_THAT(identity.substr(split + 1),
              MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_NE(make_identity(), identity);
}

// LE-14
TEST(Identity, KnowsTheNamespaceOfThePodAndFailsOutsideOfACluster) {
  const std::string file = ::testing::TempDir() + "namespace";
  std::ofstream{file} << "team-a\n";
  EXPECT_EQ(pod_namespace(file), "team-a");
  std::remove(file.c_str());
  EXPECT_THROW((void)pod_namespace(file), Error);
}

}  // namespace
}  // namespace kube
