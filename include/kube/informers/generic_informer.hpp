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

/// EventHandler for objects of any type.
struct GenericEventHandler {
  std::function<void(const AnyObject& now, bool in_initial_list)> on_add = {};
  std::function<void(const AnyObject& before, const AnyObject& now)> on_update = {};
  /// `last` may be null; see Deleted.
  std::function<void(const AnyObject& last, const ObjectKey& key, bool final_state_known)>
      on_delete = {};
};

/// Reads objects of any type from a cache, in one namespace or in all. See Lister.
class GenericLister {
 public:
  /// Finds an object by "namespace/name", or by name alone in one namespace and for cluster-scoped
  /// objects. Returns null if absent. Braces make an ObjectKey: `find({"default", "web-0"})`.
  template <std::convertible_to<std::string_view> Key>
  [[nodiscard]] AnyObject find(const Key& key) const {
    return find_text(key);
  }
  /// Finds an object by namespace and name. Returns null if absent.
  [[nodiscard]] AnyObject find(const ObjectKey& key) const;
  /// find() that throws ApiError (not found) if the object is absent.
  template <std::convertible_to<std::string_view> Key>
  [[nodiscard]] AnyObject get(const Key& key) const {
    return found(find(key), std::string{std::string_view{key}});
  }
  /// find() that throws ApiError (not found) if the object is absent.
  [[nodiscard]] AnyObject get(const ObjectKey& key) const { return found(find(key), key.str()); }
  /// Returns the objects whose labels match.
  [[nodiscard]] std::vector<AnyObject> list(const labels::Selector& selector = {}) const;
  /// Returns a lister for one namespace; an empty one means all.
  [[nodiscard]] GenericLister in_namespace(std::string_view ns) const {
    return GenericLister(store_, *access_, resource_, ns);
  }

 private:
  friend struct detail::Inside;
  [[nodiscard]] AnyObject find_text(std::string_view key) const;
  [[nodiscard]] AnyObject found(AnyObject object, const std::string& key) const;
  GenericLister(std::shared_ptr<detail::IndexerCore> store, const detail::ObjectAccess& access,
                GroupResource resource, std::string_view ns = {})
      : store_(std::move(store)),
        access_(&access),
        resource_(std::move(resource)),
        namespace_(ns) {}

  std::shared_ptr<detail::IndexerCore> store_;
  const detail::ObjectAccess* access_;
  GroupResource resource_;
  std::string namespace_;
};

/// An informer of a factory whose object type is known only at run time.
///
/// Thread safety: any method from any thread. Copies refer to the same informer.
class GenericInformer {
 public:
  /// The resource whose objects are cached.
  [[nodiscard]] const GroupVersionResource& resource() const noexcept { return resource_; }
  /// Returns a lister of the cache.
  [[nodiscard]] GenericLister lister() const {
    return detail::Inside::make<GenericLister>(core_->store(), *access_,
                                               resource_.group_resource());
  }
  /// See SharedIndexInformer::add_event_handler().
  HandlerRegistration add_event_handler(GenericEventHandler handler, HandlerOptions options = {});
  /// True once the initial list is in the cache.
  [[nodiscard]] bool has_synced() const { return core_->synced().done(); }
  /// Signalled when the initial list is in the cache.
  [[nodiscard]] const DoneSignal& synced() const noexcept { return core_->synced(); }
  /// Returns the same informer with its type. Throws std::bad_cast if its type is not T.
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
