// SPDX-License-Identifier: Apache-2.0
#include "async_resource_source.hpp"

#include "client/list_operation.hpp"
#include "client/rest_client.hpp"
#include "client/watch_operation.hpp"

#include <utility>

namespace kube::detail {
namespace {

class ListOfResource final : public AsyncList {
 public:
  explicit ListOfResource(std::unique_ptr<ListOperation> operation)
      : operation_(std::move(operation)) {}

  Poll poll(const std::function<void(ObjectRef)>& on_item, std::size_t budget) override {
    return operation_->poll([&](const AnyRef& item) { on_item(ObjectRef::whole(item)); }, budget);
  }
  [[nodiscard]] const ListMetadata& metadata() const noexcept override {
    return operation_->metadata();
  }
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept override { return operation_->wake_at(); }

 private:
  const std::unique_ptr<ListOperation> operation_;
};

class WatchOfResource final : public AsyncWatch {
 public:
  explicit WatchOfResource(std::unique_ptr<WatchOperation> operation)
      : operation_(std::move(operation)) {}

  Poll poll_open() override { return operation_->poll_open(); }
  std::optional<AnyWatchEvent> poll_next() override { return operation_->poll_next(); }
  [[nodiscard]] bool has_next() const noexcept override { return operation_->has_next(); }
  [[nodiscard]] bool has_ended() const noexcept override { return operation_->has_ended(); }
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept override { return operation_->wake_at(); }

 private:
  const std::unique_ptr<WatchOperation> operation_;
};

}  // namespace

std::unique_ptr<AsyncList> AsyncResourceSource::start_list(const ListOptions& options,
                                                           Poller poller) {
  return std::make_unique<ListOfResource>(
      resource_.start_list(ResourceSource::tweaked(options, tweak_), std::move(poller)));
}

std::unique_ptr<AsyncWatch> AsyncResourceSource::start_watch(const ListOptions& options,
                                                             Poller poller) {
  return std::make_unique<WatchOfResource>(
      resource_.start_watch(ResourceSource::tweaked(options, tweak_), std::move(poller)));
}

std::shared_ptr<Runtime> AsyncResourceSource::runtime() const {
  return resource_.rest()->runtime();
}

}  // namespace kube::detail
