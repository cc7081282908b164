// SPDX-License-Identifier: Apache-2.0
#include "testkit/cluster/addresses.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <utility>

#include "testkit/requests/failures.hpp"
#include "testkit/rest/metadata.hpp"

namespace kube::testkit::detail {

namespace {

/// The size of 10.96.0.0/12, without addresses that end in 0 or 255.
constexpr std::size_t kAddresses = std::size_t{16} * 256 * 254;

std::string address_at(std::size_t index) {
  return fmt::format("10.{}.{}.{}", 96 + index % 16, (index >> 4) % 256,
                     1 + (index / (std::size_t{16} * 256)) % 254);
}

/// Returns whether the address can be allocated from 10.96.0.0/12, whose first and last address are
/// not used.
bool is_in_range(const std::string& address) {
  in_addr bytes{};
  if (::inet_pton(AF_INET, address.c_str(), &bytes) != 1) return false;
  constexpr std::uint32_t kFirst = (10U << 24U) + (96U << 16U);
  constexpr std::uint32_t kSize = 1U << 20U;
  const std::uint32_t index = ntohl(bytes.s_addr) - kFirst;
  return index > 0 && index < kSize - 1;
}

std::string address_of(const Value& service) {
  return std::string{service.get_string("spec.clusterIP").value_or("")};
}

std::unordered_set<std::string> taken_addresses(Store& store) {
  std::unordered_set<std::string> taken;
  for (const auto& [key, object] : store.list(store.collection({"", "services"}), {}).objects) {
    taken.insert(object.field_text("spec.clusterIP"));
  }
  return taken;
}

}  // namespace

void choose_cluster_address(Store& store, Value& service) {
  const Value& spec = std::as_const(service)["spec"];
  if (!spec.is_object() || spec["type"] == Value{"ExternalName"} || !address_of(service).empty() ||
      spec["clusterIPs"].size() > 0) {
    return;
  }
  const std::unordered_set<std::string> taken = taken_addresses(store);
  // There is no network, so any free address works; the uid spreads them.
  const std::size_t start = std::hash<std::string>{}(metadata_text(service, "uid"));
  for (std::size_t i = 0; i < kAddresses; ++i) {
    std::string address = address_at((start + i) % kAddresses);
    if (taken.contains(address)) continue;
    service["spec"]["clusterIP"] = std::move(address);
    return;
  }
  throw internal_error("failed to allocate a serviceIP: range is full");
}

void check_cluster_address(Store& store, const Value& service, bool dry_run) {
  const std::string address = address_of(service);
  if (address.empty() || address == "None") return;
  const auto refuse = [&](const char* field, const std::string& why) {
    throw invalid({"", "Service"}, metadata_text(service, "name"),
                  invalid_value(field, service["spec"]["clusterIPs"], why));
  };
  if (address.find(':') != std::string::npos) {
    refuse("spec.clusterIPs[0]", "IPv6 is not configured on this cluster");
  }
  const auto fail = [&](const std::string& why) {
    refuse("spec.clusterIPs", fmt::format("failed to allocate IP {}: {}", address, why));
  };
  if (dry_run) {
    if (is_in_range(address)) return;
    fail(
        fmt::format("the provided IP ({}) is not in the valid range. The range of valid IPs is "
                    "10.96.0.0/12",
                    address));
  }
  if (taken_addresses(store).contains(address)) fail("provided IP is already allocated");
  if (!is_in_range(address)) fail("the provided network does not match the current range");
}

}  // namespace kube::testkit::detail
