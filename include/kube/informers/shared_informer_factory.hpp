// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/chain.hpp>
#include <kube/informers/generic_informer.hpp>
#include <kube/informers/informer_factory.hpp>
#include <kube/informers/resource_informer.hpp>

#include <functional>
#include <string>
#include <utility>

namespace kube {

/// Typed informers, one per type, shared by a whole program.
///
///   kube::SharedInformerFactory factory{client, {.resync = 30s}};
///   auto pods = factory.core().v1().pods();              // or factory.resource<core::v1::Pod>()
///   pods.informer().add_event_handler({.on_add = ...});
///   factory.start(stop);
///   factory.wait_for_cache_sync(stop).or_throw();
///   for (const auto& pod : pods.lister().in_namespace("shop").list()) ...
///
/// Include the header of the types (<kube/api/core/v1.hpp>) to use the resources of core(), apps(),
/// ... See InformerFactory for starting and stopping.
class SharedInformerFactory : public InformerFactory, public chain::Groups<SharedInformerFactory> {
 public:
  /// The namespace parameter of chain::Groups: none. See FactoryOptions and Lister::in_namespace().
  struct Namespace {};

  /// Creates a factory without informers.
  explicit SharedInformerFactory(Client client, FactoryOptions options = {});

  using chain::Groups<SharedInformerFactory>::resource;  // the group resource.k8s.io
  /// Returns access to the informer of T: an API type, the type of a custom resource, or a slim
  /// type with only some of their fields.
  template <typename T>
  [[nodiscard]] ResourceInformer<T> resource(Namespace /*none*/ = {}) const {
    return detail::Inside::make<ResourceInformer<T>>(
        informers(), key_of<T>(), maker<T>({}),
        GroupResource{std::string{T::kube_resource.group}, std::string{T::kube_resource.singular}});
  }
  /// Short for resource<T>().informer().
  template <typename T>
  SharedIndexInformer<T> informer() const {
    return resource<T>().informer();
  }
  /// Short for resource<T>().lister().
  template <typename T>
  [[nodiscard]] Lister<T> lister() const {
    return resource<T>().lister();
  }
  /// Sets the options for the informer of T. Throws std::logic_error if the informer exists
  /// already.
  template <typename T>
  void configure(TypeOptions<T> options) {
    informers()->configure(key_of<T>(), maker<T>(std::move(options)));
  }
  /// Returns the informer of T. If there is none yet, `make(client, resync)` makes it.
  template <typename T>
  [[nodiscard]] SharedIndexInformer<T> informer_for(
      const std::function<SharedIndexInformer<T>(const Client& client, Clock::Duration resync)>&
          make) const {
    return detail::Inside::make<SharedIndexInformer<T>>(informers()->informer(
        key_of<T>(), [&] { return detail::Inside::core(make(client(), options().resync)); }));
  }
  /// Returns the informer of a built-in resource by name; the same informer as that of its type.
  /// Throws std::invalid_argument if there is no such resource.
  [[nodiscard]] GenericInformer for_resource(const GroupVersionResource& resource) const;
  /// Stops one informer and removes it from the factory: a later request for the type makes a new
  /// one, which must be started. The returned signal is set when the informer has ended. May be
  /// called by handlers.
  template <typename T>
  DoneSignal stop_informer() {
    return informers()->stop_informer(key_of<T>());
  }

 private:
  [[nodiscard]] const std::shared_ptr<detail::FactoryCore>& informers() const noexcept {
    return detail::Inside::core(static_cast<const InformerFactory&>(*this));
  }
  template <typename T>
  static detail::InformerKey key_of() {
    constexpr const ResourceInfo& kInfo = T::kube_resource;
    return {&type_of<T>(),
            {std::string{kInfo.group}, std::string{kInfo.version}, std::string{kInfo.plural}}};
  }
  template <typename T>
  [[nodiscard]] detail::FactoryCore::Make maker(TypeOptions<T> own) const {
    const std::string& ns = own.namespace_ ? *own.namespace_ : options().namespace_;
    detail::ResourceCore source =
        detail::Inside::resource_core(client(), T::kube_resource, type_of<T>(), ns);
    return detail::informer_maker<T>(*informers(), key_of<T>(), std::move(source), std::move(own));
  }
};

}  // namespace kube
