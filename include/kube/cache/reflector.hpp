// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/indexer.hpp>
#include <kube/cache/list_watch.hpp>
#include <kube/cache/reflector_options.hpp>

#include <memory>
#include <stop_token>
#include <string>
#include <utility>

namespace kube {
namespace detail {

template <typename T>
[[nodiscard]] ReflectorOptions with_log_of(const std::shared_ptr<ListWatch<T>>& source,
                                           ReflectorOptions options) {
  options.log = log_for(source, options.log);
  return options;
}

/// The type-erased reflector behind Reflector, which writes directly into a store.
class StoreReflector {
 public:
  StoreReflector(const ObjectAccess& access, const std::shared_ptr<AnyListWatch>& source,
                 std::shared_ptr<IndexerCore> store, ReflectorOptions options);
  ~StoreReflector();

  void run(std::stop_token stop) noexcept;
  [[nodiscard]] std::string last_version() const;
  [[nodiscard]] std::string last_error() const;

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace detail

/// Keeps a store equal to its source: lists, watches, and starts again when a watch ends, with
/// exponential back-off after failures.
///
/// It resumes from the version seen last, so that it never goes back in time. If the server no
/// longer has that version, it asks for the newest state. A list keeps the stored block of each
/// object that has not changed.
/// Thread safety: run() once, in one thread; the rest from any.
template <typename T>
class Reflector {
 public:
  /// Fills `store` from `source` once run() is called.
  Reflector(const std::shared_ptr<ListWatch<T>>& source, Indexer<T>& store,
            ReflectorOptions options = {})
      : core_(detail::kObjectAccess<T>, std::make_shared<detail::ErasedListWatch<T>>(source),
              detail::Inside::core(store), detail::with_log_of(source, std::move(options))) {}

  /// Runs until a stop is requested. Does not throw: failures are reported and retried.
  void run(std::stop_token stop) noexcept { core_.run(std::move(stop)); }
  /// Returns the version that was read last; empty before the first list. The store may lag behind
  /// a little.
  [[nodiscard]] std::string last_sync_resource_version() const { return core_.last_version(); }
  /// Returns why the last round failed; empty if none has failed since the last list.
  [[nodiscard]] std::string last_error() const { return core_.last_error(); }

 private:
  detail::StoreReflector core_;
};

}  // namespace kube
