// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pod_template.hpp"

#include <kube/api/core/v1.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kube::bench {

struct PopulationOptions {
  std::size_t pods = 50'000;
  std::size_t templates = 400;  ///< ReplicaSets, with an equal number of pods each
  std::size_t nodes = 1'000;
  std::uint64_t seed = 1;
  bool managed_fields = true;
};

/// The pods of a cluster, in the order in which an API server lists them. The same options give the
/// same pods, bit for bit.
///
/// Values that are unique in a cluster are unique here: uid, resourceVersion, times, addresses,
/// container ids, and the random suffixes of names and of the service account volume. Other values
/// repeat as in a real cluster: within a ReplicaSet, and some of them (default tolerations, the
/// service account volume's sources) everywhere.
/// Thread safety: none.
class Population {
 public:
  explicit Population(PopulationOptions options = {});

  [[nodiscard]] std::size_t size() const noexcept { return identities_.size(); }
  [[nodiscard]] const PopulationOptions& options() const noexcept { return options_; }
  /// Creates pod number `index`. Cheap if it has the same template as the previous one.
  [[nodiscard]] core::v1::Pod pod(std::size_t index) const;
  /// Creates pod number `index` after `round` status updates.
  [[nodiscard]] core::v1::Pod pod(std::size_t index, unsigned round) const;

 private:
  struct Identity {
    std::string name_space;
    std::string name;
    std::size_t template_index = 0;
    std::size_t number = 0;  ///< in the order of creation
  };

  PopulationOptions options_;
  std::vector<Identity> identities_;
  mutable PodTemplate last_template_;
  mutable std::size_t last_template_index_ = SIZE_MAX;
};

/// Applies a status update of the kubelet: a new resourceVersion and new times; containers that
/// have restarted before restart once more. The pod's size stays about the same.
void advance(core::v1::Pod& pod, unsigned round);
[[nodiscard]] core::v1::Pod next_version(const core::v1::Pod& pod, unsigned round);

enum class Format { kProtobuf, kJson };

/// Encodes the pod as in a list of a server: a bare protobuf message, or JSON.
[[nodiscard]] std::string encode(const core::v1::Pod& pod, Format format);

/// Encodes all pods. `round` 0 is the initial list, others are all pods after that many updates.
[[nodiscard]] std::vector<std::string> encode_all(const Population& population, Format format,
                                                  unsigned round = 0);

/// Returns 0 to count - 1, shuffled.
[[nodiscard]] std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed);

/// Returns the mean size in bytes.
[[nodiscard]] double mean_size(const std::vector<std::string>& documents);

}  // namespace kube::bench
