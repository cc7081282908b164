// SPDX-License-Identifier: Apache-2.0
#include "testkit/defaults/builtin_defaults.hpp"

#include <string>
#include <unordered_map>

#include "testkit/kinds/kind_rules.hpp"

namespace kube::testkit::detail {

namespace {

using DefaultsByResource = std::unordered_map<std::string, const KindDefaults*>;

DefaultsByResource all_defaults() {
  DefaultsByResource all;
  for (const auto& defaults : {core_defaults(), workload_defaults(), network_defaults(),
                               storage_defaults(), device_defaults(), server_defaults()}) {
    for (const KindDefaults& kind : defaults) all.emplace(kind.resource, &kind);
  }
  return all;
}

}  // namespace

void apply_builtin_defaults(const Resource& resource, Value& object) {
  static const DefaultsByResource kAll = all_defaults();
  const auto found = kAll.find(resource.id());
  if (found != kAll.end()) found->second->apply(resource, object);
}

}  // namespace kube::testkit::detail
