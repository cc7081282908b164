// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "list_operation.hpp"

#include "engine/polling.hpp"
#include <kube/base/clock.hpp>
#include <kube/client/options.hpp>
#include <kube/client/resource_core.hpp>
#include <kube/codec/list_metadata.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

namespace kube::detail {

/// Fetches all pages of a LIST. See ResourceCore::list_all() and engine/polling.hpp.
class ListAllOperation {
 public:
  using OnItem = ResourceCore::OnItem;

  ListAllOperation(ResourceCore resource, ListOptions options, PagerOptions pager, Poller poller);
  ListAllOperation(const ListAllOperation&) = delete;
  ListAllOperation& operator=(const ListAllOperation&) = delete;

  /// See ListOperation::poll(). Throws like ResourceCore::list_all().
  [[nodiscard]] Poll poll(const OnItem& on_item, const std::function<void()>& on_restart,
                          std::size_t budget);
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept {
    return page_ ? page_->wake_at() : Clock::TimePoint::max();
  }
  /// Valid once ready.
  [[nodiscard]] const ListMetadata& metadata() const noexcept { return *metadata_; }
  [[nodiscard]] TransportError canceled() const;

 private:
  /// Starts again with one unpaged request, if that is allowed after `error`.
  [[nodiscard]] bool restart(const ApiError& error, const std::function<void()>& on_restart);
  /// Handles the end of a page. Returns true if it was the last.
  [[nodiscard]] bool finish_page(ListMetadata head);

  const ResourceCore resource_;
  const ListOptions asked_;
  const PagerOptions pager_;
  const Poller poller_;
  ListOptions options_;  // for the next page
  bool is_restarted_ = false;
  std::unique_ptr<ListOperation> page_;
  std::optional<ListMetadata> metadata_;  // of the first page
};

}  // namespace kube::detail
