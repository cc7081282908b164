// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/resource_source.hpp>

#include <kube/client/watch.hpp>

#include <utility>

namespace kube::detail {
namespace {

class Stream final : public AnyWatchStream {
 public:
  explicit Stream(std::unique_ptr<WatchCore> watch) : watch_(std::move(watch)) {}

  std::optional<AnyEvent> next(std::stop_token stop) override {
    auto event = watch_->next(std::move(stop));
    if (!event) return std::nullopt;
    return AnyEvent{event->type, ObjectRef::whole(event->object), std::move(event->status)};
  }
  [[nodiscard]] bool has_next() const override { return watch_->has_next(); }

 private:
  std::unique_ptr<WatchCore> watch_;
};

}  // namespace

ResourceSource::ResourceSource(ResourceCore resource, Tweak tweak)
    : resource_(std::move(resource)), tweak_(std::move(tweak)) {
  check_selectors(tweaked({}));
}

ListResult ResourceSource::list(const ListOptions& options,
                                const std::function<void(ObjectRef)>& on_item,
                                std::stop_token stop) {
  const ListHead head = resource_.list(
      tweaked(options), [&](const AnyRef& item) { on_item(ObjectRef::whole(item)); },
      std::move(stop));
  return {.resource_version = head.resource_version,
          .continue_token = head.continue_token,
          .api_version = head.api_version,
          .kind = head.kind};
}

std::unique_ptr<AnyWatchStream> ResourceSource::watch(const ListOptions& options,
                                                      std::stop_token stop) {
  return std::make_unique<Stream>(resource_.watch(tweaked(options), std::move(stop)));
}

ListOptions ResourceSource::tweaked(ListOptions options) const {
  if (tweak_) tweak_(options);
  return options;
}

}  // namespace kube::detail
