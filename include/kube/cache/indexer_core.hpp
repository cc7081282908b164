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

/// An object without a name: nothing can be stored under no key.
class KeyError : public Error {
 public:
  using Error::Error;
};

/// The name of the index that every Indexer has: one value, the object's namespace.
inline constexpr std::string_view kNamespaceIndex = "namespace";

/// How an Indexer works. Any field may be left out.
struct IndexerOptions {
  /// Keeps an index of all labels, about 9 bytes per label, so that lists by selector need not look at
  /// every object.
  bool label_index = true;
  bool namespace_index = true;
  /// Hears of an index function that threw (CacheError::Place::kIndex): the object is stored, but found under no value
  /// of that index. Called by the thread that writes; its exceptions are swallowed. A std::bad_alloc is not taken for
  /// an error of the function: the write fails, and an informer repeats it.
  std::function<void(const CacheError& error)> on_error = nullptr;
  /// Measures the timeouts of wait_for_version(). Must outlive the Indexer.
  Clock* clock = &system_clock();
};

namespace detail {

struct StoreState;

/// The parts of "namespace/name", cut at the first slash; views into `key`.
struct KeyParts {
  std::string_view namespace_;
  std::string_view name;
  static KeyParts of(std::string_view key) noexcept;
};

void sort_keys(std::vector<std::string>& keys);

/// All objects of a store in one state, which never changes. See Snapshot.
class StoreSnapshot {
 public:
  /// Gets each object; false ends the visit.
  using See = std::function<bool(const ObjectRef& object)>;

  StoreSnapshot() = default;
  explicit StoreSnapshot(std::shared_ptr<const StoreState> state) : state_(std::move(state)) {}

  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] const std::string& resource_version() const noexcept;
  /// Grows with each change of the store.
  [[nodiscard]] std::uint64_t sequence() const noexcept;
  [[nodiscard]] ObjectRef find(std::string_view space, std::string_view name) const;
  void for_each(const See& see) const;
  /// Visits at most `limit` objects from place `first` on. Returns where to go on, also if `see` has ended the visit; 0 if
  /// all were seen.
  [[nodiscard]] std::uint32_t for_some(std::uint32_t first, std::size_t limit,
                                       const See& see) const;
  /// Objects of a namespace (empty: of all) that the selector matches.
  void select(std::string_view space, const labels::Selector& selector, const See& see) const;
  /// Throws std::out_of_range if there is no index of that name.
  void by_index(std::string_view index, std::string_view value, const See& see) const;
  /// Each object that has one of the values, once. Throws as by_index.
  void by_any(std::string_view index, const std::vector<std::string>& values, const See& see) const;
  [[nodiscard]] std::vector<std::string> index_values(std::string_view index) const;
  [[nodiscard]] std::vector<std::string> index_names() const;
  /// Heap memory of the store itself, without the objects.
  [[nodiscard]] std::size_t overhead_bytes() const noexcept;

 private:
  std::shared_ptr<const StoreState> state_;
};

/// One write to a store.
struct StoreChange {
  ObjectRef object = {};
  bool erase = false;
  /// Of an erasure: what it is about is not the object's last state, so its version means nothing.
  bool tombstone = false;
  /// Of an erasure without an object.
  std::string key = {};
};

/// What a write met.
struct StoreResult {
  ObjectRef before = {};   ///< what was stored under the key, or null
  bool unchanged = false;  ///< the same version was stored already, and stays
  std::string error = {};  ///< why it was not carried out; empty if it was
};

/// The store behind Indexer. One state after the other is published as a whole; writers queue up at a
/// mutex, readers take a reference to the newest state and share nothing with writers from there on.
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

  // What these throw (std::bad_alloc) leaves the store as it was.

  /// Carries out all changes at once: readers see none or all of them. Returns the sequence number reached.
  std::uint64_t apply(const std::vector<StoreChange>& changes, std::vector<StoreResult>& results);
  /// Makes `objects` the whole content. `removed` gets what was not among them.
  std::uint64_t replace(const std::vector<ObjectRef>& objects, std::string_view version,
                        std::vector<StoreResult>& results, std::vector<ObjectRef>& removed);
  /// Declares the content to be that of `version`.
  void set_version(std::string_view version);
  /// Throws std::invalid_argument, with nothing added, if there is an index of such a name.
  void add_indexes(const std::vector<std::pair<std::string, IndexFunction>>& indexes);
  /// Asks an index function. Throws std::out_of_range, and what the function throws.
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

  mutable std::mutex mutex_;  // held for a moment only, never while reading or writing content
  std::shared_ptr<const Functions> functions_;  // guarded by mutex_
  mutable std::size_t waiting_ = 0;             // guarded by mutex_
  mutable Condition reached_;                   // told of a new state if somebody waits
};

}  // namespace detail
}  // namespace kube
