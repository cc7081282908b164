// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/pod_addresses.hpp"

#include <fmt/format.h>

#include <functional>
#include <string_view>

namespace kube::testkit::detail {

using core::v1::Pod;

std::string PodAddresses::take(const ClusterAccess& cluster, const Pod& pod) {
  constexpr std::size_t kHosts = 254;
  constexpr std::size_t kAll = kHosts * 256;
  if (!filled_) {
    for (const Ref<Pod>& one : cluster.list<Pod>()) {
      if (!one->status.pod_ip.empty()) holders_[one->status.pod_ip.str()] = key_of(*one);
    }
    filled_ = true;
  }
  const std::size_t first = std::hash<std::string_view>{}(pod.metadata.uid.view());
  std::string address;
  for (std::size_t i = 0; i < kAll; ++i) {
    const std::size_t number = (first % kAll + i) % kAll;
    address = fmt::format("10.244.{}.{}", number / kHosts, number % kHosts + 1);
    if (!is_taken(cluster, address)) break;
  }
  holders_[address] = key_of(pod);
  return address;
}

bool PodAddresses::is_taken(const ClusterAccess& cluster, const std::string& address) const {
  const auto found = holders_.find(address);
  if (found == holders_.end()) return false;
  const Ref<Pod> holder = cluster.find<Pod>(found->second.namespace_, found->second.name);
  return holder && holder->status.pod_ip == address;
}

}  // namespace kube::testkit::detail
