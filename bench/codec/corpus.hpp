// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "population.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kube::bench {

/// The encoded pods of a population in memory shared with the process that created them. They are
/// not on the heap, so neither they nor their creation affect the measured process.
class Corpus {
 public:
  Corpus(const PopulationOptions& population, Format format);
  Corpus(const Corpus&) = delete;
  Corpus& operator=(const Corpus&) = delete;
  ~Corpus();

  /// Replaces the documents with those after `round` updates. Throws std::runtime_error.
  void fill(unsigned round);

  [[nodiscard]] std::size_t size() const noexcept { return population_.pods; }
  [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept {
    return {text_ + ends_[index], ends_[index + 1] - ends_[index]};
  }
  [[nodiscard]] double mean_size() const noexcept {
    return static_cast<double>(ends_[size()]) / static_cast<double>(size());
  }

 private:
  void make(unsigned round) const;

  PopulationOptions population_;
  Format format_;
  std::size_t room_;
  char* text_;
  std::uint64_t* ends_;
};

}  // namespace kube::bench
