// SPDX-License-Identifier: Apache-2.0
#include "list_all_operation.hpp"

#include <kube/api/errors.hpp>

#include <utility>

namespace kube::detail {

ListAllOperation::ListAllOperation(ResourceCore resource, ListOptions options, PagerOptions pager,
                                   Poller poller)
    : resource_(std::move(resource)),
      asked_(std::move(options)),
      pager_(pager),
      poller_(std::move(poller)),
      options_(asked_) {
  if (options_.limit == 0) options_.limit = pager_.page_size;
}

Poll ListAllOperation::poll(const OnItem& on_item, const std::function<void()>& on_restart,
                            std::size_t budget) {
  for (;;) {
    if (!page_) page_ = resource_.start_list(options_, poller_);
    try {
      const Poll result = page_->poll(on_item, budget);
      if (result != Poll::kReady) return result;
    } catch (const ApiError& error) {
      if (!restart(error, on_restart)) throw;
      continue;
    }
    if (finish_page(page_->metadata())) return Poll::kReady;
    page_.reset();
  }
}

TransportError ListAllOperation::canceled() const {
  return page_ ? page_->canceled() : resource_.start_list(options_, poller_)->canceled();
}

bool ListAllOperation::restart(const ApiError& error, const std::function<void()>& on_restart) {
  if (!is_resource_expired(error) || !pager_.full_list_if_expired ||
      options_.continue_token.empty() || !on_restart) {
    return false;
  }
  on_restart();
  options_ = asked_;
  options_.limit = 0;
  options_.continue_token.clear();
  is_restarted_ = true;
  page_.reset();
  return true;
}

bool ListAllOperation::finish_page(ListMetadata head) {
  if (is_restarted_) {
    metadata_ = std::move(head);
    return true;
  }
  options_.continue_token = head.continue_token;
  // A continue token implies the resource version of the first page; setting one as well is an
  // error.
  options_.resource_version.clear();
  options_.resource_version_match.clear();
  if (!metadata_) {
    metadata_ = std::move(head);
    metadata_->continue_token.clear();
    metadata_->remaining_item_count.reset();
  }
  return options_.continue_token.empty();
}

}  // namespace kube::detail
