// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "delta_processor.hpp"

#include <kube/cache/controller.hpp>
#include <kube/cache/delta_queue_core.hpp>
#include <kube/cache/shared_informer_core.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <string_view>

/// Completes the settings of both kinds of informers.
namespace kube::detail {

using OnCacheError = std::function<void(const CacheError& error)>;

/// Calls `on_error`, if set. Swallows its exceptions, and a lack of memory for the CacheError.
void tell_error(const OnCacheError& on_error, CacheError::Place place, std::string_view name,
                std::string_view key, const std::exception& error) noexcept;

/// Fills in derived settings: names, the clock, log and metrics of all parts, and the error
/// callback of the index.
[[nodiscard]] InformerSettings completed(InformerSettings settings, const ObjectAccess& access);

[[nodiscard]] std::shared_ptr<DeltaQueueCore> make_queue(const InformerSettings& settings,
                                                         const ObjectAccess& access,
                                                         std::shared_ptr<IndexerCore> store);

/// Returns a callback that passes errors of processing, lists and watches to `settings.on_error`;
/// empty if that is empty.
[[nodiscard]] std::function<void(const std::exception& error)> error_teller(
    const InformerSettings& settings, CacheError::Place place);

/// Parts of CacheControllerHooks. `processor` must outlive the returned functions.
[[nodiscard]] decltype(CacheControllerHooks::process) process_hook(DeltaProcessor& processor);
[[nodiscard]] decltype(CacheControllerHooks::go_on) go_on_hook(DeltaProcessor& processor);

}  // namespace kube::detail
