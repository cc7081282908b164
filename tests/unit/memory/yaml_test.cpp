// SPDX-License-Identifier: Apache-2.0
// OB-7. The memory used for YAML is proportional to the text.
#include <kube/codec/error.hpp>
#include <kube/codec/yaml.hpp>

#include "support/allocations.hpp"
#include "unit/codec/samples.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <ctime>
#include <string>

namespace kube {
namespace {

using test::times;

constexpr std::size_t kMiB = std::size_t{1} << 20;
/// The parser keeps the tokens of a flow collection until its end: about a hundred bytes per comma.
constexpr std::size_t kBytesPerByte = 400;

/// Returns the peak memory of reading `yaml`, whether it is accepted or not.
std::size_t peak_of(const std::string& yaml) {
  const std::size_t before = test::live_bytes();
  test::reset_peak();
  try {
    static_cast<void>(decode_yaml_documents(yaml));
  } catch (const CodecError&) {
    // Rejected before the limit.
  }
  return test::peak_bytes() - before;
}

void expect_in_proportion(const std::string& yaml) {
  EXPECT_LT(peak_of(yaml), 8 * kMiB + kBytesPerByte * yaml.size())
      << yaml.size() << " bytes: " << yaml.substr(0, 60);
}

std::string refusal(const std::string& yaml) {
  return test::error_of([&] { return decode_yaml_documents(yaml); });
}

// Regression: the number of values was limited, but not their bytes: two gigabytes from a hundred
// kilobytes.
TEST(YamlMemory, IsBoundedWhenAliasesRepeatLongText) {
  const std::string text = "a: &a " + std::string(60'000, 'x') + "\n";
  const std::string list = text + "b: [" + times(20'000, "*a,") + "*a]\n";
  const std::string map = text + "b: {" + [] {
    std::string members;
    for (int i = 0; i < 8000; ++i) members += "k" + std::to_string(i) + ": *a, ";
    return members;
  }() + "z: 1}\n";

  EXPECT_NE(refusal(list).find("aliases repeat more than"), std::string::npos) << refusal(list);
  EXPECT_NE(refusal(map).find("aliases repeat more than"), std::string::npos) << refusal(map);
  expect_in_proportion(list);
  expect_in_proportion(map);
}

TEST(YamlMemory, IsBoundedWhenKeysAreAliases) {
  std::string yaml = "- &a " + std::string(60'000, 'x') + "\n";
  for (int i = 0; i < 8000; ++i) yaml += "- {*a : 1}\n";

  EXPECT_NE(refusal(yaml).find("aliases repeat more than"), std::string::npos) << refusal(yaml);
  expect_in_proportion(yaml);
}

TEST(YamlMemory, IsBoundedWhenMergeKeysRepeatMembers) {
  std::string yaml = "- &a {k: " + std::string(60'000, 'x') + "}\n";
  for (int i = 0; i < 8000; ++i) yaml += "- {<<: *a}\n";
  std::string chain = "- &a0 {k: v}\n";
  for (int i = 1; i < 4000; ++i) {
    const std::string number = std::to_string(i);
    chain += "- &a" + number + " {<<: *a" + std::to_string(i - 1) + ", k" + number + ": v}\n";
  }

  EXPECT_NE(refusal(yaml).find("aliases repeat more than"), std::string::npos) << refusal(yaml);
  EXPECT_NE(refusal(chain), "nothing was thrown");
  expect_in_proportion(yaml);
  expect_in_proportion(chain);
}

TEST(YamlMemory, IsBoundedForAllDocumentsTogether) {
  const std::string document =
      "a: &a " + std::string(500, 'x') + "\nb: [" + times(400, "*a,") + "*a]\n---\n";

  EXPECT_NE(refusal(times(2000, document)), "nothing was thrown");
  expect_in_proportion(times(2000, document));
}

TEST(YamlMemory, IsBoundedWhenAnchorsStandInEachOther) {
  expect_in_proportion(times(190, "&a [") + std::string(200'000, 'x') + times(190, "]") + "\n");
  std::string nested;
  for (int i = 0; i < 190; ++i) nested += "&a" + std::to_string(i) + " [*b,";
  expect_in_proportion("- &b " + std::string(2000, 'x') + "\n- " + nested + times(190, "]") + "\n");
}

TEST(YamlMemory, IsBoundedForDeepAndForLongCollections) {
  for (const std::string& yaml :
       {std::string(100'000, '['), times(100'000, "{a: "), times(100'000, "- "),
        times(100'000, "? "), "[" + times(200'000, "x,") + "x]", "[" + times(200'000, "{},") + "1]",
        "{" + times(100'000, "a: 1, ") + "}", times(200'000, "- x\n"), std::string(400'000, '\n'),
        std::string(400'000, ' '), "a: \"" + std::string(400'000, 'x'), times(50'000, "---\n"),
        times(50'000, "&a "), times(50'000, "!a "),
        "%TAG ! " + std::string(100'000, 'x') + "\n---\n" + times(20'000, "- !a b\n")}) {
    expect_in_proportion(yaml);
  }
}

// Regression: the path of each value was written out, which took time and memory proportional to
// the key for each element.
TEST(YamlMemory, IsBoundedForManyElementsUnderALongKey) {
  const std::string yaml =
      "? " + std::string(500'000, 'k') + "\n: [" + times(200'000, "1,") + "1]\n";

  const std::clock_t before = std::clock();
  expect_in_proportion(yaml);
  const double cpu_seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;

  EXPECT_LT(cpu_seconds, 20);  // about one; it took minutes before
}

TEST(YamlMemory, LetsOrdinaryAliasesPass) {
  std::string yaml = "base: &base {image: \"registry.example.com/team/app:v1\", env: [" +
                     times(50, "{name: NAME, value: some value},") + "]}\nservices:\n";
  for (int i = 0; i < 50; ++i) yaml += "  s" + std::to_string(i) + ":\n    <<: *base\n    n: 1\n";

  EXPECT_EQ(decode_yaml_documents(yaml).at(0)->get_object("services").size(), 50U);
}

}  // namespace
}  // namespace kube
