// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/object_key.hpp>
#include <kube/base/inside.hpp>
#include <kube/cache/indexer_core.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {

/// All objects of an Indexer at one moment. It is immutable and costs one reference. It keeps all
/// of its objects alive, so do not keep it for long.
///
/// The order of results is unspecified unless documented.
/// Thread safety: any method from any thread.
template <typename T>
class Snapshot {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return core_.size(); }
  /// Returns the resourceVersion of this state; empty before the first list.
  [[nodiscard]] const std::string& resource_version() const noexcept {
    return core_.resource_version();
  }
  /// Returns the object, or null.
  [[nodiscard]] Ref<T> find(std::string_view space, std::string_view name) const {
    return core_.find(space, name).template to<T>();
  }
  [[nodiscard]] Ref<T> find(const ObjectKey& key) const { return find(key.namespace_, key.name); }
  /// Finds by "namespace/name" or "name", the form used by events and queues. Takes any text.
  /// Braces make an ObjectKey instead: `find({"default", "web-0"})`.
  template <std::convertible_to<std::string_view> Key>
  [[nodiscard]] Ref<T> find(const Key& key) const {
    const auto parts = detail::KeyParts::of(key);
    return find(parts.namespace_, parts.name);
  }
  [[nodiscard]] std::vector<Ref<T>> list() const {
    std::vector<Ref<T>> found;
    found.reserve(size());
    core_.for_each(collect(found));
    return found;
  }
  /// Returns the objects of a namespace (empty: of all) that match `selector`, using the label
  /// index.
  [[nodiscard]] std::vector<Ref<T>> list(std::string_view space,
                                         const labels::Selector& selector = {}) const {
    std::vector<Ref<T>> found;
    core_.select(space, selector, collect(found));
    return found;
  }
  [[nodiscard]] std::vector<std::string> keys() const {
    std::vector<std::string> found;
    core_.for_each(collect_keys(found));
    return found;
  }
  /// Calls `see(const T&)` for each object, without copying it or touching its reference count.
  template <typename See>
  void for_each(See see) const {
    core_.for_each([&](const detail::ObjectRef& object) {
      see(object.template as<T>());
      return true;
    });
  }
  /// Calls `see(const T&)` for each object of a namespace (empty: of all) that matches `selector`.
  template <typename See>
  void for_each(std::string_view space, const labels::Selector& selector, See see) const {
    core_.select(space, selector, [&](const detail::ObjectRef& object) {
      see(object.template as<T>());
      return true;
    });
  }
  /// Returns the objects that index `name` files under `value`. Throws std::out_of_range if there
  /// is no such index.
  [[nodiscard]] std::vector<Ref<T>> by_index(std::string_view name, std::string_view value) const {
    std::vector<Ref<T>> found;
    core_.by_index(name, value, collect(found));
    return found;
  }
  /// Returns the keys of the objects that by_index() returns, ascending.
  [[nodiscard]] std::vector<std::string> index_keys(std::string_view name,
                                                    std::string_view value) const {
    std::vector<std::string> found;
    core_.by_index(name, value, collect_keys(found));
    detail::sort_keys(found);
    return found;
  }
  /// Returns the objects that the index files under at least one of `values`, each once.
  [[nodiscard]] std::vector<Ref<T>> by_any(std::string_view name,
                                           const std::vector<std::string>& values) const {
    std::vector<Ref<T>> found;
    core_.by_any(name, values, collect(found));
    return found;
  }
  /// Returns the values under which an index has objects now, ascending; empty if there is no such
  /// index.
  [[nodiscard]] std::vector<std::string> index_values(std::string_view name) const {
    return core_.index_values(name);
  }
  [[nodiscard]] std::vector<std::string> index_names() const { return core_.index_names(); }
  /// Returns the heap memory of the store itself, without the objects.
  [[nodiscard]] std::size_t overhead_bytes() const noexcept { return core_.overhead_bytes(); }

 private:
  static detail::StoreSnapshot::See collect(std::vector<Ref<T>>& found) {
    return [&found](const detail::ObjectRef& object) {
      found.push_back(object.template to<T>());
      return true;
    };
  }
  static detail::StoreSnapshot::See collect_keys(std::vector<std::string>& found) {
    return [&found](const detail::ObjectRef& object) {
      found.push_back(detail::kObjectAccess<T>.key(object.get()));
      return true;
    };
  }

  friend struct detail::Inside;
  explicit Snapshot(detail::StoreSnapshot core) : core_(std::move(core)) {}

  detail::StoreSnapshot core_;
};

}  // namespace kube
