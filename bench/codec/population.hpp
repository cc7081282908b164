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
/// What is unique in a cluster is unique here: uid, resourceVersion, times, addresses, container ids,
/// and the random suffixes of names and of the service account volume. The rest repeats as it would:
/// within a ReplicaSet, and some of it (default tolerations, the service account volume's sources)
/// everywhere.
/// Thread safety: none.
class Population {
 public:
  explicit Population(PopulationOptions options = {});

  [[nodiscard]] std::size_t size() const noexcept { return identities_.size(); }
  [[nodiscard]] const PopulationOptions& options() const noexcept { return options_; }
  /// Pod number `index`, made on request. Cheap if its template is that of the last one.
  [[nodiscard]] core::v1::Pod pod(std::size_t index) const;
  /// Pod number `index` after `round` status updates.
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

/// A status update by the kubelet: a new resourceVersion and new times; containers that have restarted
/// before restart once more. The pod's size stays about the same.
void advance(core::v1::Pod& pod, unsigned round);
[[nodiscard]] core::v1::Pod next_version(const core::v1::Pod& pod, unsigned round);

enum class Format { kProtobuf, kJson };

/// The pod as a server would send it in a list: a bare protobuf message, or JSON.
[[nodiscard]] std::string encode(const core::v1::Pod& pod, Format format);

/// All pods, encoded. `round` 0 is the initial list, others are all pods after so many updates.
[[nodiscard]] std::vector<std::string> encode_all(const Population& population, Format format,
                                                  unsigned round = 0);

/// 0 to count - 1, shuffled.
[[nodiscard]] std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed);

/// Mean size in bytes.
[[nodiscard]] double mean_size(const std::vector<std::string>& documents);

}  // namespace kube::bench
