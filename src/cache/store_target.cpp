// SPDX-License-Identifier: Apache-2.0
#include "store_target.hpp"

namespace kube::detail {

void StoreTarget::replace(std::vector<ObjectRef> objects, std::string version) {
  std::vector<StoreResult> results;
  std::vector<ObjectRef> removed;
  store_->replace(objects, version, results, removed);
}

void StoreTarget::apply(StoreChange change) {
  std::vector<StoreResult> results;
  store_->apply({std::move(change)}, results);
  if (!results.front().error.empty()) throw KeyError(results.front().error);
}

}  // namespace kube::detail
