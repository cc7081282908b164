// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/labels.hpp>
#include <kube/base/clock.hpp>
#include <kube/base/condition.hpp>
#include <kube/base/error.hpp>
#include <kube/cache/cache_error.hpp>
#include <kube/cache/object_access.hpp>
#include <kube/cache/published.hpp>
#include <kube/object/object_ref.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {

/// An object has no name, so it has no key to be stored under.
class KeyError : public Error {
 public:
  using Error::Error;
};

/// Name of the built-in index whose value is the object's namespace.
inline constexpr std::string_view kNamespaceIndex = "namespace";

/// Settings of an Indexer. Any field may be left out.
struct IndexerOptions {
  /// Keeps an index of all labels (about 9 bytes per label), so that a list by selector need not
  /// scan every object.
  bool label_index = true;
  /// Keeps an index of namespaces, so that a list of one namespace need not scan every object.
  bool namespace_index = true;
  /// Receives exceptions of index functions (CacheError::Place::kIndex). The object is stored, but
  /// no value of that index finds it. Called by the writing thread; its exceptions are swallowed. A
  /// std::bad_alloc is not reported here: the write fails, and an informer repeats it.
  std::function<void(const CacheError& error)> on_error = nullptr;
  /// Measures the timeouts of wait_for_version(). Must outlive the Indexer.
  Clock* clock = &system_clock();
};

namespace detail {

struct StoreState;

/// The two parts of "namespace/name", split at the first slash. Views into `key`.
struct KeyParts {
  std::string_view namespace_;
  std::string_view name;
  static KeyParts of(std::string_view key) noexcept;
};

void sort_keys(std::vector<std::string>& keys);

/// All objects of a store in one immutable state. See Snapshot.
class StoreSnapshot {
 public:
  /// Visitor of objects; returns false to end the visit.
  using See = std::function<bool(const ObjectRef& object)>;

  StoreSnapshot() = default;
  explicit StoreSnapshot(std::shared_ptr<const StoreState> state) : state_(std::move(state)) {}

  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] const std::string& resource_version() const noexcept;
  /// Returns a number that grows with each change of the store.
  [[nodiscard]] std::uint64_t sequence() const noexcept;
  [[nodiscard]] ObjectRef find(std::string_view space, std::string_view name) const;
  void for_each(const See& see) const;
  /// Visits at most `limit` objects, beginning with slot `first`. Returns the slot to continue
  /// with, also if `see` has ended the visit; 0 if there are no more.
  [[nodiscard]] std::uint32_t for_some(std::uint32_t first, std::size_t limit,
                                       const See& see) const;
  /// Visits the objects of a namespace (empty: of all) that match the selector.
  void select(std::string_view space, const labels::Selector& selector, const See& see) const;
  /// Visits the objects that the index files under `value`. Throws std::out_of_range if there is no
  /// index of that name.
  void by_index(std::string_view index, std::string_view value, const See& see) const;
  /// Visits each object that has at least one of the values, once. Throws as by_index().
  void by_any(std::string_view index, const std::vector<std::string>& values, const See& see) const;
  [[nodiscard]] std::vector<std::string> index_values(std::string_view index) const;
  [[nodiscard]] std::vector<std::string> index_names() const;
  /// Returns the heap memory of the store itself, without the objects.
  [[nodiscard]] std::size_t overhead_bytes() const noexcept;

 private:
  std::shared_ptr<const StoreState> state_;
};

/// One write to a store.
struct StoreChange {
  ObjectRef object = {};
  bool erase = false;
  /// For an erasure: `object` is not the final state, so its version does not become the store's.
  bool tombstone = false;
  /// For an erasure without an object.
  std::string key = {};
};

/// Result of one write.
struct StoreResult {
  ObjectRef before = {};   ///< the object stored under the key before, or null
  bool unchanged = false;  ///< the same version was already stored, and was kept
  std::string error = {};  ///< why the write failed; empty if it succeeded
};

/// The store behind Indexer; see docs/cache-engine.md. Each write publishes a new immutable state.
/// Writers serialise on a mutex. Readers take a reference to the newest state, and share nothing
/// else with writers.
class IndexerCore {
 public:
  using IndexFunction = std::function<std::vector<std::string>(const void* object)>;

  explicit IndexerCore(const ObjectAccess& access, IndexerOptions options = {});
  IndexerCore(const IndexerCore&) = delete;
  IndexerCore& operator=(const IndexerCore&) = delete;
  ~IndexerCore();

  [[nodiscard]] StoreSnapshot snapshot() const;
  [[nodiscard]] ObjectRef find(std::string_view space, std::string_view name) const;
  [[nodiscard]] ObjectRef find(const void* example) const {
    return find(access_.namespace_(example), access_.name(example));
  }
  [[nodiscard]] const ObjectAccess& access() const noexcept { return access_; }

  // These throw std::bad_alloc, and leave the store unchanged then.

  /// Applies all changes atomically: readers see none or all of them. Returns the new sequence
  /// number.
  std::uint64_t apply(const std::vector<StoreChange>& changes, std::vector<StoreResult>& results);
  /// Replaces the whole content by `objects`. `removed` receives the objects that were not among
  /// them.
  std::uint64_t replace(const std::vector<ObjectRef>& objects, std::string_view version,
                        std::vector<StoreResult>& results, std::vector<ObjectRef>& removed);
  /// Sets the version of the content.
  void set_version(std::string_view version);
  /// Throws std::invalid_argument, with nothing added, if an index of such a name exists.
  void add_indexes(const std::vector<std::pair<std::string, IndexFunction>>& indexes);
  /// Calls an index function. Throws std::out_of_range if there is none, and the function's
  /// exceptions.
  [[nodiscard]] std::vector<std::string> index_values_of(std::string_view index,
                                                         const void* example) const;
  [[nodiscard]] bool wait_for_version(std::string_view version,
                                      std::optional<Clock::Duration> timeout,
                                      std::stop_token stop) const;

 private:
  struct NamedFunction {
    std::string name;
    IndexFunction function;
  };
  using Functions = std::vector<NamedFunction>;
  class Writer;

  using State = std::shared_ptr<const StoreState>;

  [[nodiscard]] static State empty_state(const ObjectAccess& access, const IndexerOptions& options);
  [[nodiscard]] State state() const { return *state_.read(); }
  [[nodiscard]] std::shared_ptr<const Functions> functions() const;
  void publish(State next);

  const ObjectAccess& access_;
  const IndexerOptions options_;
  std::unique_ptr<Writer> writer_;
  Published<State> state_;  // published by writers, under their mutex

  mutable std::mutex mutex_;  // held only briefly, never while content is read or written
  std::shared_ptr<const Functions> functions_;  // guarded by mutex_
  mutable std::size_t waiting_ = 0;             // guarded by mutex_
  mutable Condition reached_;                   // notified of a new state if waiting_ is not 0
};

}  // namespace detail
}  // namespace kube
