// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace kube::chaos {

/// An order-independent digest of a set of objects: their number, and a sum of hashes.
class Digest {
 public:
  void add(std::string_view space, std::string_view name, std::string_view version) {
    ++count_;
    sum_ += std::hash<std::string>{}(fmt::format("{}/{}@{}", space, name, version));
  }
  [[nodiscard]] std::string text() const { return fmt::format("{} objects {:016x}", count_, sum_); }

 private:
  std::size_t count_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace kube::chaos
