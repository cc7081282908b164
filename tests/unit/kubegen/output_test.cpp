// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include "packages.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace kube::gen {
namespace {

namespace fs = std::filesystem;

class WriteFiles : public testing::Test {
 protected:
  WriteFiles() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~WriteFiles() override { fs::remove_all(folder_); }

  std::string read(const std::string& name) const {
    std::ifstream in{folder_ / name};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  fs::path folder_ =
      fs::temp_directory_path() /
      (std::string{"kubegen_"} + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(WriteFiles, DoesNotTouchUnchangedFiles) {
  const fs::path file = folder_ / "a.hpp";
  write_files({{file, "content"}});
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours{1};
  fs::last_write_time(file, long_ago);

  write_files({{file, "content"}});
  EXPECT_EQ(fs::last_write_time(file), long_ago);

  write_files({{file, "another"}});
  EXPECT_NE(fs::last_write_time(file), long_ago);
  EXPECT_EQ(read("a.hpp"), "another");
}

TEST_F(WriteFiles, WritesAllOrNone) {
  std::ofstream{folder_ / "in_the_way"} << "a file";

  EXPECT_THROW(write_files({{folder_ / "a.hpp", "a"}, {folder_ / "in_the_way" / "b.hpp", "b"}}),
               std::runtime_error);

  EXPECT_FALSE(fs::exists(folder_ / "a.hpp"));
  EXPECT_EQ(std::distance(fs::directory_iterator{folder_}, fs::directory_iterator{}), 1);
}

TEST(NamespaceProblem, AcceptsIdentifiers) {
  EXPECT_EQ(namespace_problem("acme"), "");
  EXPECT_EQ(namespace_problem("acme::api::v2"), "");
  EXPECT_EQ(namespace_problem("kube::acme"), "");
}

TEST(NamespaceProblem, RejectsInvalidAndShadowingNames) {
  for (const char* text : {"", "::acme", "acme::", "a:b", "acme {", "class", "3d", "std",
                           "acme::kube", "_acme", "ac__me", "a\nb"}) {
    EXPECT_NE(namespace_problem(text), "") << text;
  }
}

}  // namespace
}  // namespace kube::gen
