// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "async_list_watch.hpp"

#include <kube/cache/resource_source.hpp>
#include <kube/client/resource_core.hpp>

#include <memory>

namespace kube::detail {

/// The polled (non-blocking) form of ResourceSource.
class AsyncResourceSource final : public AsyncListWatch {
 public:
  AsyncResourceSource(ResourceCore resource, ResourceSource::Tweak tweak)
      : resource_(std::move(resource)), tweak_(std::move(tweak)) {}

  [[nodiscard]] std::unique_ptr<AsyncList> start_list(const ListOptions& options,
                                                      Poller poller) override;
  [[nodiscard]] std::unique_ptr<AsyncWatch> start_watch(const ListOptions& options,
                                                        Poller poller) override;
  [[nodiscard]] bool supports_watch_list() const override { return true; }
  [[nodiscard]] std::shared_ptr<Runtime> runtime() const override;

 private:
  const ResourceCore resource_;
  const ResourceSource::Tweak tweak_;
};

}  // namespace kube::detail
