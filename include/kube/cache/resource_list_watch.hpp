// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/list_watch.hpp>
#include <kube/client/resource.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace kube {

/// The objects of a resource, as a client sees it. `tweak` changes the options of every list and watch: a
/// selector, say; it gets a copy of its own each time.
template <typename T>
class ResourceListWatch final : public ListWatch<T> {
 public:
  explicit ResourceListWatch(Resource<T> resource,
                             std::function<void(ListOptions&)> tweak = nullptr)
      : resource_(std::move(resource)), tweak_(std::move(tweak)) {}

  ListResult list(const ListOptions& options, const std::function<void(Ref<T>)>& on_item,
                  std::stop_token stop) override {
    const ListHead head = resource_.list_page(tweaked(options), on_item, std::move(stop));
    return {.resource_version = head.resource_version,
            .continue_token = head.continue_token,
            .api_version = head.api_version,
            .kind = head.kind};
  }
  std::unique_ptr<WatchStream<T>> watch(const ListOptions& options, std::stop_token stop) override {
    return std::make_unique<Stream>(resource_.watch(tweaked(options), std::move(stop)));
  }

 private:
  class Stream final : public WatchStream<T> {
   public:
    explicit Stream(Watch<T> watch) : watch_(std::move(watch)) {}
    std::optional<StreamEvent<T>> next(std::stop_token stop) override {
      auto event = watch_.next(std::move(stop));
      if (!event) return std::nullopt;
      return StreamEvent<T>{event->type, std::move(event->object), std::move(event->status)};
    }

   private:
    Watch<T> watch_;
  };
  ListOptions tweaked(ListOptions options) const {
    if (tweak_) tweak_(options);
    return options;
  }

  const Resource<T> resource_;
  const std::function<void(ListOptions&)> tweak_;
};

}  // namespace kube
