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

/// The reflector behind Reflector, which writes straight into a store.
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

/// Keeps a store equal to what a source has: lists, watches, and starts again when a watch ends, with growing
/// pauses where the source has trouble.
///
/// It asks for the version it has seen last, so that it never goes back in time; if the server has forgotten
/// it, for the newest state. A list keeps the stored block of each object that has not changed.
/// Thread safety: run() once, in one thread; the rest from any.
template <typename T>
class Reflector {
 public:
  Reflector(const std::shared_ptr<ListWatch<T>>& source, Indexer<T>& store,
            ReflectorOptions options = {})
      : core_(detail::kObjectAccess<T>, std::make_shared<detail::ErasedListWatch<T>>(source),
              detail::Inside::core(store), detail::with_log_of(source, std::move(options))) {}

  /// Returns soon after a stop is requested. Throws nothing: what fails is reported and tried again.
  void run(std::stop_token stop) noexcept { core_.run(std::move(stop)); }
  /// The version that was read last; empty before the first list. The store may lag behind a little.
  [[nodiscard]] std::string last_sync_resource_version() const { return core_.last_version(); }
  /// Why the last round failed; empty if none has since the last list.
  [[nodiscard]] std::string last_error() const { return core_.last_error(); }

 private:
  detail::StoreReflector core_;
};

}  // namespace kube
