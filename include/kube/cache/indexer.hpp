// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/index_function.hpp>
#include <kube/cache/indexer_view.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {

/// A set of objects in memory, found by key or through indexes (client-go: Indexer). IndexerView
/// has the methods for reading. Copies refer to the same set.
///
/// Thread safety: any method from any thread; writers wait for each other.
template <typename T>
class Indexer : public IndexerView<T> {
 public:
  /// `indexers` are named indexes besides the built-in one of namespaces; an entry called
  /// kNamespaceIndex is ignored.
  explicit Indexer(const Indexers<T>& indexers = {}, IndexerOptions options = {})
      : Indexer(
            std::make_shared<detail::IndexerCore>(detail::kObjectAccess<T>, std::move(options))) {
    Indexers<T> own = indexers;
    own.erase(std::string{kNamespaceIndex});
    add_indexers(own);
  }

  /// Stores `object` in place of the one with the same key. Throws KeyError if it has no name.
  void upsert(const Ref<T>& object) { write({.object = detail::ObjectRef::from(object)}); }
  /// Removes the object with the key of `last`. The version of `last` becomes that of the store.
  void erase(const Ref<T>& last) {
    write({.object = detail::ObjectRef::from(last), .erase = true});
  }
  void erase(const ObjectKey& key) { write({.erase = true, .key = key.str()}); }
  /// Replaces the whole content atomically: a reader sees either the old set or the new one.
  /// Objects stored with the same version are kept. Throws KeyError if an object has no name; all
  /// others are stored nevertheless.
  void replace(const std::vector<Ref<T>>& objects, std::string_view resource_version) {
    std::vector<detail::ObjectRef> content;
    for (const Ref<T>& object : objects) content.push_back(detail::ObjectRef::from(object));
    std::vector<detail::StoreResult> results;
    std::vector<detail::ObjectRef> removed;
    this->core_->replace(content, resource_version, results, removed);
    for (const detail::StoreResult& result : results) check(result);
  }
  /// Adds indexes over all objects, stored ones included. Throws std::invalid_argument, with
  /// nothing added, if one exists already.
  void add_indexers(const Indexers<T>& indexers) {
    std::vector<std::pair<std::string, detail::IndexerCore::IndexFunction>> added;
    for (const auto& [name, function] : indexers) {
      added.emplace_back(name, detail::Inside::core(function));
    }
    this->core_->add_indexes(added);
  }

 private:
  friend struct detail::Inside;
  explicit Indexer(std::shared_ptr<detail::IndexerCore> core) : IndexerView<T>(std::move(core)) {}

  static void check(const detail::StoreResult& result) {
    if (!result.error.empty()) throw KeyError(result.error);
  }
  void write(detail::StoreChange change) {
    std::vector<detail::StoreResult> results;
    this->core_->apply({std::move(change)}, results);
    check(results.front());
  }
};

/// Turns an index function into a key function. That one throws KeyError unless there is exactly
/// one value.
template <typename T>
[[nodiscard]] std::function<std::string(const T&)> index_to_key(IndexFunction<T> function) {
  return [function = std::move(function)](const T& object) {
    std::vector<std::string> values = function(object);
    if (values.size() == 1) return std::move(values.front());
    throw KeyError(values.empty() ? "the index function gave no value for the key"
                                  : "the index function gave more than one value for the key");
  };
}

}  // namespace kube
