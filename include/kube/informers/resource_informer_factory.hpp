// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/meta/v1.hpp>
#include <kube/informers/informer_factory.hpp>
#include <kube/informers/resource_informer.hpp>
#include <kube/object/value.hpp>

#include <concepts>
#include <utility>

namespace kube {

/// Informers of resources known only by name, such as custom resources. Names are not checked: an
/// informer of a resource that does not exist fails to list, and retries.
///
/// T is Value (whole objects) or meta::v1::PartialObjectMetadata (only metadata). See
/// InformerFactory for starting and stopping.
template <typename T>
requires std::same_as<T, Value> || std::same_as<T, meta::v1::PartialObjectMetadata>
class ResourceInformerFactory : public InformerFactory {
 public:
  /// `each` applies to all informers of the factory.
  explicit ResourceInformerFactory(Client client, FactoryOptions options = {},
                                   TypeOptions<T> each = {})
      : InformerFactory(std::move(client), std::move(options)), each_(std::move(each)) {}

  /// Returns access to the informer of a resource.
  [[nodiscard]] ResourceInformer<T> for_resource(const GroupVersionResource& resource) const {
    return detail::Inside::make<ResourceInformer<T>>(
        informers(), key_of(resource), maker(resource, each_), resource.group_resource());
  }
  /// Sets the options for the informer of one resource. Throws std::logic_error if the informer
  /// exists already.
  void configure(const GroupVersionResource& resource, TypeOptions<T> options) {
    informers()->configure(key_of(resource), maker(resource, std::move(options)));
  }
  /// See SharedInformerFactory::stop_informer().
  DoneSignal stop_informer(const GroupVersionResource& resource) {
    return informers()->stop_informer(key_of(resource));
  }

 private:
  [[nodiscard]] const std::shared_ptr<detail::FactoryCore>& informers() const noexcept {
    return detail::Inside::core(static_cast<const InformerFactory&>(*this));
  }
  static detail::InformerKey key_of(const GroupVersionResource& resource) {
    return {&type_of<T>(), resource};
  }
  [[nodiscard]] detail::FactoryCore::Make maker(const GroupVersionResource& resource,
                                                TypeOptions<T> own) const {
    const std::string& ns = own.namespace_ ? *own.namespace_ : options().namespace_;
    detail::ResourceCore source = [&] {
      if constexpr (std::same_as<T, Value>) {
        return detail::Inside::core(client().dynamic(resource, ns));
      } else {
        return detail::Inside::core(client().metadata(resource, ns));
      }
    }();
    return detail::informer_maker<T>(*informers(), key_of(resource), std::move(source),
                                     std::move(own));
  }

  const TypeOptions<T> each_;
};

/// Informers of whole objects; client-go's dynamicinformer.
using DynamicInformerFactory = ResourceInformerFactory<Value>;
/// Informers of metadata only; client-go's metadatainformer.
using MetadataInformerFactory = ResourceInformerFactory<meta::v1::PartialObjectMetadata>;

}  // namespace kube
