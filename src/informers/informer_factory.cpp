// SPDX-License-Identifier: Apache-2.0
#include <kube/informers/informer_factory.hpp>

#include <kube/informers/shared_informer_factory.hpp>

#include <utility>

namespace kube {

InformerFactory::InformerFactory(Client client, FactoryOptions options)
    : core_(std::make_shared<detail::FactoryCore>(std::move(client), std::move(options))) {}
InformerFactory::~InformerFactory() { detail::FactoryCore::end(core_); }

CacheSync InformerFactory::wait_for_cache_sync(std::stop_token stop,
                                               std::optional<Clock::Duration> timeout) {
  return core_->wait_for_cache_sync(std::move(stop), timeout);
}

SharedInformerFactory::SharedInformerFactory(Client client, FactoryOptions options)
    : InformerFactory(std::move(client), std::move(options)) {}

GenericInformer SharedInformerFactory::for_resource(const GroupVersionResource& resource) const {
  return detail::generic_informer(informers(), resource);
}

}  // namespace kube
