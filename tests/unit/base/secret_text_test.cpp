// SPDX-License-Identifier: Apache-2.0
#include <kube/base/secret_text.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace kube {
namespace {

constexpr std::string_view kSecret = "hunter2-hunter2-hunter2-hunter2";

/// Storage for one object that can be inspected after the object is destroyed.
template <typename T>
struct Room {
  alignas(T) std::byte bytes[sizeof(T)] = {};

  template <typename... Args>
  T& make(Args&&... args) {
    return *new (bytes) T(std::forward<Args>(args)...);
  }
  [[nodiscard]] bool has(std::string_view text) const {
    const auto* begin = reinterpret_cast<const char*>(bytes);
    return std::string_view{begin, sizeof(bytes)}.find(text) != std::string_view::npos;
  }
};

TEST(SecretText, OverwritesAllMemoryOfAText) {
  std::string text{kSecret};
  text.resize(4);  // the rest stays behind the end
  const char* memory = text.data();
  const std::size_t capacity = text.capacity();
  wipe(text);

  ASSERT_EQ(text.data(), memory);
  EXPECT_TRUE(text.empty());
  EXPECT_TRUE(std::all_of(memory, memory + capacity, [](char c) { return c == 0; }));
}

TEST(SecretText, LeavesNothingOfAShortSecretInTheObjectsThatHadIt) {
  Room<SecretText> first;
  Room<SecretText> second;
  SecretText& from = first.make("hunter2");
  SecretText& to = second.make(std::move(from));
  EXPECT_EQ(to, "hunter2");
  EXPECT_FALSE(first.has("unter2"));
  from = std::move(to);
  EXPECT_EQ(from, "hunter2");
  EXPECT_FALSE(second.has("unter2"));
  std::destroy_at(&from);
  std::destroy_at(&to);

  EXPECT_FALSE(first.has("unter2"));
}

TEST(SecretText, IsSetAndComparedLikeAnyText) {
  SecretText secret;
  EXPECT_TRUE(secret.empty());
  secret = std::string{kSecret};
  EXPECT_EQ(secret, kSecret);
  const SecretText copy = secret;
  EXPECT_EQ(copy, secret);
  secret = "another";
  EXPECT_NE(copy, secret);
  EXPECT_EQ("Bearer " + copy, "Bearer " + std::string{kSecret});
}

TEST(SecretText, GrowsToAnySize) {
  SecretText secret;
  std::string expected;
  for (int i = 0; i < 100; ++i) {
    secret.grow(kSecret);
    expected += kSecret;
  }
  EXPECT_EQ(secret, expected);
}

}  // namespace
}  // namespace kube
