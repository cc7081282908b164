// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "population.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace kube::bench {

/// A cache of pods in one object model: a slot for each pod, in which new versions replace old
/// ones.
class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  virtual void put(std::size_t index, std::string_view document) = 0;
  /// The model's own statistics about its memory; may be empty.
  [[nodiscard]] virtual std::string note() const { return {}; }
};

struct ModelInfo {
  std::string_view name;
  Format format = Format::kProtobuf;  ///< input format
  bool is_whole = true;               ///< holds all of a pod, not only some fields
  bool is_ours = false;
  std::function<std::unique_ptr<Model>(std::size_t pods)> make;
};

/// All models, this library's first.
[[nodiscard]] std::span<const ModelInfo> all_models();

}  // namespace kube::bench
