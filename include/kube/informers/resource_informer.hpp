// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/lister.hpp>
#include <kube/cache/shared_informer.hpp>
#include <kube/informers/factory_core.hpp>

#include <memory>
#include <utility>

namespace kube {

/// Access to the informer of one resource in a factory. Calling informer() or lister() adds the
/// informer to the factory, so that the next start() starts it. Until then this object has no
/// effect.
///
/// Thread safety: any method from any thread. It may outlive the factory, whose caches remain
/// readable.
template <typename T>
class ResourceInformer {
 public:
  /// Returns the informer, shared by all users of the factory.
  SharedIndexInformer<T> informer() const {
    return detail::Inside::make<SharedIndexInformer<T>>(factory_->informer(key_, make_));
  }
  /// Returns a lister of the informer's cache.
  [[nodiscard]] Lister<T> lister() const { return {informer().indexer(), named_in_errors_}; }
  /// The resource of the informer.
  [[nodiscard]] const GroupVersionResource& resource() const noexcept { return key_.resource; }

 private:
  friend struct detail::Inside;
  ResourceInformer(std::shared_ptr<detail::FactoryCore> factory, detail::InformerKey key,
                   detail::FactoryCore::Make make, GroupResource named_in_errors)
      : factory_(std::move(factory)),
        key_(std::move(key)),
        make_(std::move(make)),
        named_in_errors_(std::move(named_in_errors)) {}

  std::shared_ptr<detail::FactoryCore> factory_;
  detail::InformerKey key_;
  detail::FactoryCore::Make make_;
  GroupResource named_in_errors_;
};

namespace detail {

/// Returns the function with which a factory makes the informer of a resource.
template <typename T>
[[nodiscard]] FactoryCore::Make informer_maker(FactoryCore& factory, InformerKey key,
                                               ResourceCore resource, TypeOptions<T> options) {
  return [&factory, key = std::move(key), resource = std::move(resource),
          options = std::move(options)]() -> FactoryCore::Informer {
    auto made = Inside::make<SharedIndexInformer<T>>(
        factory.make({.key = key,
                      .access = &kObjectAccess<T>,
                      .resource = resource,
                      .resync = options.resync,
                      .tweak_list_options = options.tweak_list_options,
                      .projection = options.projection,
                      .indexer = {.label_index = options.label_index,
                                  .namespace_index = options.namespace_index},
                      .queue_kind = options.queue_kind}));
    made.add_indexers(options.indexers);
    made.set_transform(options.transform);
    return Inside::core(made);
  };
}

}  // namespace detail
}  // namespace kube
