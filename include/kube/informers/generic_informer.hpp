// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/api/labels.hpp>
#include <kube/cache/handler_registration.hpp>
#include <kube/cache/shared_informer.hpp>
#include <kube/informers/any_object.hpp>
#include <kube/informers/factory_core.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {

/// What EventHandler is, for objects of any type.
struct GenericEventHandler {
  std::function<void(const AnyObject& now, bool in_initial_list)> on_add = {};
  std::function<void(const AnyObject& before, const AnyObject& now)> on_update = {};
  /// `last` may be null; see Deleted.
  std::function<void(const AnyObject& last, const ObjectKey& key, bool final_state_known)>
      on_delete = {};
};

/// Reads objects of any type from a cache, of one namespace or of all. See Lister.
class GenericLister {
 public:
  /// By "namespace/name"; in one namespace, or of cluster-scoped objects, by name. Null if absent. Braces are an
  /// ObjectKey: `find({"default", "web-0"})`.
  template <std::convertible_to<std::string_view> Key>
  [[nodiscard]] AnyObject find(const Key& key) const {
    return find_text(key);
  }
  [[nodiscard]] AnyObject find(const ObjectKey& key) const;
  /// The same; throws ApiError (not found) if there is none.
  template <std::convertible_to<std::string_view> Key>
  [[nodiscard]] AnyObject get(const Key& key) const {
    return found(find(key), std::string{std::string_view{key}});
  }
  [[nodiscard]] AnyObject get(const ObjectKey& key) const { return found(find(key), key.str()); }
  [[nodiscard]] std::vector<AnyObject> list(const labels::Selector& selector = {}) const;
  /// The empty namespace means all.
  [[nodiscard]] GenericLister in_namespace(std::string_view space) const {
    return GenericLister(store_, *access_, resource_, space);
  }

 private:
  friend struct detail::Inside;
  [[nodiscard]] AnyObject find_text(std::string_view key) const;
  [[nodiscard]] AnyObject found(AnyObject object, const std::string& key) const;
  GenericLister(std::shared_ptr<detail::IndexerCore> store, const detail::ObjectAccess& access,
                GroupResource resource, std::string_view space = {})
      : store_(std::move(store)),
        access_(&access),
        resource_(std::move(resource)),
        namespace_(space) {}

  std::shared_ptr<detail::IndexerCore> store_;
  const detail::ObjectAccess* access_;
  GroupResource resource_;
  std::string namespace_;
};

/// An informer of a factory whose objects are of a type that is known at run time only.
///
/// Thread safety: any method from any thread. Copies are the same informer.
class GenericInformer {
 public:
  [[nodiscard]] const GroupVersionResource& resource() const noexcept { return resource_; }
  [[nodiscard]] GenericLister lister() const {
    return detail::Inside::make<GenericLister>(core_->store(), *access_,
                                               resource_.group_resource());
  }
  /// As SharedIndexInformer::add_event_handler().
  HandlerRegistration add_event_handler(GenericEventHandler handler, HandlerOptions options = {});
  [[nodiscard]] bool has_synced() const { return core_->synced().done(); }
  [[nodiscard]] const DoneSignal& synced() const noexcept { return core_->synced(); }
  /// The same informer with its type. Throws std::bad_cast if it is another one.
  template <typename T>
  [[nodiscard]] SharedIndexInformer<T> as() const {
    if (access_->type != &type_of<T>()) throw std::bad_cast();
    return detail::Inside::make<SharedIndexInformer<T>>(core_);
  }

 private:
  friend struct detail::Inside;
  GenericInformer(detail::FactoryCore::Informer core, const detail::ObjectAccess& access,
                  GroupVersionResource resource)
      : core_(std::move(core)), access_(&access), resource_(std::move(resource)) {}

  detail::FactoryCore::Informer core_;
  const detail::ObjectAccess* access_;
  GroupVersionResource resource_;
};

namespace detail {
[[nodiscard]] GenericInformer generic_informer(const std::shared_ptr<FactoryCore>& factory,
                                               const GroupVersionResource& resource);
}  // namespace detail
}  // namespace kube
