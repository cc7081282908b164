// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/object_key.hpp>
#include <kube/cache/indexer.hpp>

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {

/// A store that passes its complete content to a function after each successful write.
///
/// Thread safety: any method from any thread; two concurrent writes may pass the same content
/// twice.
template <typename T>
class UndeltaStore {
 public:
  /// Receives all objects of the store.
  using Push = std::function<void(const std::vector<Ref<T>>& all)>;

  explicit UndeltaStore(Push push) : push_(std::move(push)) {}

  /// Stores `object` in place of the one with the same key. Throws KeyError if it has no name;
  /// nothing is passed on then.
  void upsert(const Ref<T>& object) {
    store_.upsert(object);
    push();
  }
  void erase(const ObjectKey& key) {
    store_.erase(key);
    push();
  }
  /// Replaces the whole content; see Indexer::replace().
  void replace(const std::vector<Ref<T>>& objects, std::string_view resource_version) {
    store_.replace(objects, resource_version);
    push();
  }
  [[nodiscard]] const IndexerView<T>& store() const noexcept { return store_; }

 private:
  void push() { push_(store_.list()); }

  Indexer<T> store_;
  const Push push_;
};

}  // namespace kube
