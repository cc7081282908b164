// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/delta.hpp>
#include <kube/cache/indexer_core.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kube::detail {

/// Writes the objects and changes of a reflector directly into a store.
class StoreTarget final : public ReflectorTarget {
 public:
  explicit StoreTarget(std::shared_ptr<IndexerCore> store) : store_(std::move(store)) {}
  void add(ObjectRef object) override { apply({.object = std::move(object)}); }
  void update(ObjectRef object) override { add(std::move(object)); }
  void erase(ObjectRef last) override { apply({.object = std::move(last), .erase = true}); }
  void replace(std::vector<ObjectRef> objects, std::string version) override;
  void resync(std::shared_ptr<const ResyncRequest> /*request*/) override {}
  void bookmark(std::string version) override { store_->set_version(version); }
  [[nodiscard]] ObjectRef known(const void* object) const override { return store_->find(object); }

 private:
  void apply(StoreChange change);

  const std::shared_ptr<IndexerCore> store_;
};

}  // namespace kube::detail
