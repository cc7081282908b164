// SPDX-License-Identifier: Apache-2.0
#include "population.hpp"

#include "random.hpp"

#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace kube::bench {
namespace {

using namespace core::v1;

constexpr std::uint64_t kPodStream = std::uint64_t{1} << 40;
constexpr std::uint64_t kNodeStream = std::uint64_t{1} << 41;

std::string with_address(std::string_view text, std::string_view address) {
  std::string result{text};
  for (std::size_t at = 0; (at = result.find(kAddressGap, at)) != std::string::npos;) {
    result.replace(at, kAddressGap.size(), address);
    at += address.size();
  }
  return result;
}

void add_manager(Pod& pod, std::string_view manager, std::string_view subresource, Time time,
                 std::string_view fields) {
  auto& entry = pod.metadata.managed_fields.emplace_back();
  entry.manager = manager;
  entry.operation = "Update";
  entry.api_version = "v1";
  entry.time = time;
  entry.fields_type = "FieldsV1";
  entry.fields_v1 = FieldsV1{fields};
  entry.subresource = subresource;
}

// Adds the termination of a container's previous run.
void add_last_state(ContainerStatus& status, std::int64_t started, std::int64_t finished,
                    Random& random) {
  auto& last = status.last_state.terminated.emplace();
  last.exit_code = random.chance(50) ? 137 : 1;
  last.reason = last.exit_code == 137 ? "OOMKilled" : "Error";
  last.started_at = Time::from_unix(started);
  last.finished_at = Time::from_unix(finished);
  last.container_id = "containerd://" + random.hex(64);
}

void fill_token_volume(Pod& pod, const std::string& volume) {
  for (Volume& candidate : pod.spec.volumes) {
    if (candidate.name == kTokenVolume) candidate.name = volume;
  }
  for (Container& container : pod.spec.containers) {
    for (VolumeMount& mount : container.volume_mounts) {
      if (mount.name == kTokenVolume) mount.name = volume;
    }
  }
  for (ContainerStatus& status : pod.status.container_statuses) {
    for (VolumeMountStatus& mount : status.volume_mounts) {
      if (mount.name == kTokenVolume) mount.name = volume;
    }
  }
}

// Sets the times of a pod's start, a few seconds apart, and the ids of its containers.
std::int64_t fill_history(Pod& pod, std::int64_t created, Random& random) {
  auto& status = pod.status;
  const std::int64_t network = created + random.between(1, 3);
  const std::int64_t running = network + random.between(1, 5);
  const std::int64_t ready = running + random.between(2, 40);
  const std::int64_t moments[] = {network, created, ready, ready, created};
  for (std::size_t i = 0; i < status.conditions.size(); ++i) {
    status.conditions[i].last_transition_time = Time::from_unix(moments[i]);
  }
  status.start_time = Time::from_unix(created);
  std::int64_t last_change = ready;
  for (ContainerStatus& container : status.container_statuses) {
    std::int64_t started = running;
    container.container_id = "containerd://" + random.hex(64);
    if (random.chance(15)) {
      const std::int64_t failed = ready + random.between(600, 500'000);
      add_last_state(container, running, failed, random);
      started = failed + random.between(1, 2);
      container.restart_count = static_cast<std::int32_t>(random.between(1, 9));
      last_change = std::max(last_change, started + 10);
    }
    container.state.running->started_at = Time::from_unix(started);
  }
  return last_change;
}

}  // namespace

Population::Population(PopulationOptions options) : options_(options) {
  options_.templates = std::max<std::size_t>(1, std::min(options_.templates, options_.pods));
  identities_.reserve(options_.pods);
  for (std::size_t t = 0; t < options_.templates; ++t) {
    const std::string name_space = template_namespace(options_.seed, t);
    const std::string replica_set = template_replica_set(options_.seed, t);
    Random random{options_.seed, t * 4};
    std::set<std::string> suffixes;
    // Pod number n belongs to template n modulo the number of templates.
    for (std::size_t n = t; n < options_.pods; n += options_.templates) {
      auto suffix = random.suffix(5);
      while (!suffixes.insert(suffix).second) suffix = random.suffix(5);
      identities_.push_back({name_space, fmt::format("{}-{}", replica_set, suffix), t, n});
    }
  }
  std::ranges::sort(identities_, {}, [](const Identity& identity) {
    return std::tie(identity.name_space, identity.name);
  });
}

Pod Population::pod(std::size_t index) const {
  const Identity& identity = identities_.at(index);
  if (last_template_index_ != identity.template_index) {
    last_template_ = make_template(options_.seed, identity.template_index);
    last_template_index_ = identity.template_index;
  }
  const PodTemplate& model = last_template_;
  const std::size_t node = identity.number % options_.nodes;
  const std::size_t on_node = identity.number / options_.nodes;
  Random node_random{options_.seed, kNodeStream + node};
  Random random{options_.seed, kPodStream + identity.number};
  // A /24 per node, as in typical clusters; beyond 250 pods per node the next network.
  const std::string address = fmt::format("10.{}.{}.{}", 244 - 16 * (on_node / 250) + node / 256,
                                          node % 256, 2 + on_node % 250);
  const std::string host_address = fmt::format("10.0.{}.{}", node / 250, 4 + node % 250);
  const std::int64_t created = model.created + random.between(5, 20 * 86'400);

  Pod pod = model.pod;
  auto& metadata = pod.metadata;
  metadata.name = identity.name;
  metadata.uid = random.uuid();
  metadata.resource_version =
      std::to_string(2'000'000'000 + identity.number * 977 + random.below(977));
  metadata.generation = 1;
  metadata.creation_timestamp = Time::from_unix(created);
  if (!model.network_fields.empty()) {
    metadata.annotations["cni.projectcalico.org/containerID"] = random.hex(64);
    metadata.annotations["cni.projectcalico.org/podIP"] = address + "/32";
    metadata.annotations["cni.projectcalico.org/podIPs"] = address + "/32";
  }
  pod.spec.node_name =
      fmt::format("pool-{}-{}-{}", node % 7, node_random.hex(8), node_random.suffix(4));
  fill_token_volume(pod, std::string{kTokenVolume} + random.suffix(5));
  pod.status.host_ip = host_address;
  pod.status.host_ips.emplace_back().ip = host_address;
  pod.status.pod_ip = address;
  pod.status.pod_ips.emplace_back().ip = address;
  const std::int64_t last_change = fill_history(pod, created, random);
  if (options_.managed_fields) {
    add_manager(pod, "kube-controller-manager", "", Time::from_unix(created), model.spec_fields);
    if (!model.network_fields.empty()) {
      add_manager(pod, "calico", "status", Time::from_unix(created + 1), model.network_fields);
    }
    add_manager(pod, "kubelet", "status", Time::from_unix(last_change),
                with_address(model.status_fields, address));
  }
  return pod;
}

Pod Population::pod(std::size_t index, unsigned round) const {
  Pod result = pod(index);
  for (unsigned r = 1; r <= round; ++r) advance(result, r);
  return result;
}

void advance(Pod& next, unsigned round) {
  const std::uint64_t version = std::stoull(next.metadata.resource_version.str());
  Random random{version, round};
  // The increment exceeds the distance of any two pods of a population, so that all versions
  // differ.
  next.metadata.resource_version = std::to_string(version + 1'000'000'000);
  const std::int64_t now =
      next.status.conditions[2].last_transition_time.unix_seconds() + random.between(600, 90'000);
  for (auto& condition : next.status.conditions) {
    if (condition.type == "Ready" || condition.type == "ContainersReady") {
      condition.last_transition_time = Time::from_unix(now);
    }
  }
  for (ContainerStatus& container : next.status.container_statuses) {
    if (container.restart_count == 0) continue;
    const std::string before = container.container_id.str();
    const std::int64_t started = container.state.running->started_at.unix_seconds();
    add_last_state(container, started, std::max(started + 1, now - 30), random);
    container.last_state.terminated->container_id = before;
    container.container_id = "containerd://" + random.hex(64);
    container.state.running->started_at = Time::from_unix(std::max(started + 2, now - 20));
    ++container.restart_count;
  }
  for (auto& entry : next.metadata.managed_fields) {
    if (entry.manager == "kubelet") entry.time = Time::from_unix(now);
  }
}

Pod next_version(const Pod& pod, unsigned round) {
  Pod next = pod;
  advance(next, round);
  return next;
}

std::string encode(const Pod& pod, Format format) {
  return format == Format::kProtobuf ? encode_protobuf_message(pod) : encode_json(pod);
}

std::vector<std::string> encode_all(const Population& population, Format format, unsigned round) {
  std::vector<std::string> documents;
  documents.reserve(population.size());
  for (std::size_t i = 0; i < population.size(); ++i) {
    documents.push_back(encode(population.pod(i, round), format));
    documents.back().shrink_to_fit();
  }
  return documents;
}

std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random{seed};
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

double mean_size(const std::vector<std::string>& documents) {
  std::size_t total = 0;
  for (const std::string& document : documents) total += document.size();
  return documents.empty() ? 0 : static_cast<double>(total) / static_cast<double>(documents.size());
}

}  // namespace kube::bench
