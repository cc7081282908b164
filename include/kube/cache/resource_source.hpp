// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/list_watch.hpp>
#include <kube/client/resource_core.hpp>

#include <functional>
#include <memory>
#include <stop_token>

namespace kube::detail {

/// The type-erased form of ResourceListWatch.
class ResourceSource final : public AnyListWatch {
 public:
  using Tweak = std::function<void(ListOptions& options)>;

  ResourceSource(ResourceCore resource, Tweak tweak);

  ListMetadata list(const ListOptions& options, const std::function<void(ObjectRef)>& on_item,
                    std::stop_token stop) override;
  std::unique_ptr<AnyWatchStream> watch(const ListOptions& options, std::stop_token stop) override;
  [[nodiscard]] bool supports_watch_list() const override { return true; }
  /// Returns a non-blocking source of the same resource. It may outlive this object.
  [[nodiscard]] std::shared_ptr<AsyncListWatch> async_form() const override;
  /// Returns the logger of the client.
  [[nodiscard]] const Logger& log() const noexcept;
  /// Returns the options after applying `tweak`, which may be null.
  [[nodiscard]] static ListOptions tweaked(ListOptions options, const Tweak& tweak);

 private:
  const ResourceCore resource_;
  const Tweak tweak_;
};

}  // namespace kube::detail
