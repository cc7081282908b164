// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/list_watch.hpp>
#include <kube/cache/resource_source.hpp>
#include <kube/client/resource.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace kube {

/// The ListWatch of a client's resource. `tweak` changes the options of every list and watch (for
/// instance, sets a selector); it receives a fresh copy each time.
template <typename T>
class ResourceListWatch final : public ListWatch<T> {
 public:
  /// Lists and watches with the client that made `resource`.
  explicit ResourceListWatch(const Resource<T>& resource,
                             std::function<void(ListOptions&)> tweak = nullptr)
      : source_(detail::Inside::core(resource), std::move(tweak)) {}

  ListMetadata list(const ListOptions& options, const std::function<void(Ref<T>)>& on_item,
                    std::stop_token stop) override {
    return source_.list(
        options, [&](const detail::ObjectRef& object) { on_item(object.template to<T>()); },
        std::move(stop));
  }
  std::unique_ptr<WatchStream<T>> watch(const ListOptions& options, std::stop_token stop) override {
    return std::make_unique<Stream>(source_.watch(options, std::move(stop)));
  }
  [[nodiscard]] std::optional<Logger> log() const override { return source_.log(); }

 private:
  class Stream final : public WatchStream<T> {
   public:
    explicit Stream(std::unique_ptr<detail::AnyWatchStream> stream) : stream_(std::move(stream)) {}
    std::optional<WatchEvent<T>> next(std::stop_token stop) override {
      auto event = stream_->next(std::move(stop));
      if (!event) return std::nullopt;
      return std::move(*event).template to<T>();
    }
    [[nodiscard]] bool has_next() const override { return stream_->has_next(); }

   private:
    std::unique_ptr<detail::AnyWatchStream> stream_;
  };

  [[nodiscard]] std::shared_ptr<detail::AsyncListWatch> async_form() const override {
    return source_.async_form();
  }

  detail::ResourceSource source_;
};

}  // namespace kube
