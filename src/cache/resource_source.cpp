// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/resource_source.hpp>

#include "async_resource_source.hpp"

#include <kube/client/watch.hpp>

#include <utility>

namespace kube::detail {
namespace {

class Stream final : public AnyWatchStream {
 public:
  explicit Stream(std::unique_ptr<WatchCore> watch) : watch_(std::move(watch)) {}

  std::optional<AnyWatchEvent> next(std::stop_token stop) override {
    return watch_->next(std::move(stop));
  }
  [[nodiscard]] bool has_next() const override { return watch_->has_next(); }

 private:
  std::unique_ptr<WatchCore> watch_;
};

}  // namespace

ResourceSource::ResourceSource(ResourceCore resource, Tweak tweak)
    : resource_(std::move(resource)), tweak_(std::move(tweak)) {
  check_selectors(tweaked({}, tweak_));
}

ListMetadata ResourceSource::list(const ListOptions& options,
                                  const std::function<void(ObjectRef)>& on_item,
                                  std::stop_token stop) {
  return resource_.list(
      tweaked(options, tweak_), [&](const AnyRef& item) { on_item(ObjectRef::whole(item)); },
      std::move(stop));
}

std::unique_ptr<AnyWatchStream> ResourceSource::watch(const ListOptions& options,
                                                      std::stop_token stop) {
  return std::make_unique<Stream>(resource_.watch(tweaked(options, tweak_), std::move(stop)));
}

std::shared_ptr<AsyncListWatch> ResourceSource::async_form() const {
  return std::make_shared<AsyncResourceSource>(resource_, tweak_);
}

const Logger& ResourceSource::log() const noexcept { return resource_.log(); }

ListOptions ResourceSource::tweaked(ListOptions options, const Tweak& tweak) {
  if (tweak) tweak(options);
  return options;
}

}  // namespace kube::detail
