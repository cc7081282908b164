// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/reflector.hpp>

#include "blocking_source.hpp"
#include "reflector_core.hpp"
#include "run_reflector.hpp"
#include "store_target.hpp"

#include <utility>

namespace kube::detail {

struct StoreReflector::Parts {
  Parts(const ObjectAccess& access, const std::shared_ptr<AnyListWatch>& from,
        std::shared_ptr<IndexerCore> store, ReflectorOptions options)
      : clock(*options.clock),
        source(polled_form(from)),
        target(std::move(store)),
        reflector(access, source, target, std::move(options)) {}

  Clock& clock;
  const std::shared_ptr<AsyncListWatch> source;
  StoreTarget target;
  ReflectorCore reflector;
};

StoreReflector::StoreReflector(const ObjectAccess& access,
                               const std::shared_ptr<AnyListWatch>& source,
                               std::shared_ptr<IndexerCore> store, ReflectorOptions options)
    : parts_(std::make_unique<Parts>(access, source, std::move(store), std::move(options))) {}

StoreReflector::~StoreReflector() = default;

std::string StoreReflector::last_version() const { return parts_->reflector.last_version(); }
std::string StoreReflector::last_error() const { return parts_->reflector.last_error(); }

void StoreReflector::run(std::stop_token stop) noexcept {
  run_reflector(parts_->reflector, *parts_->source, parts_->clock, std::move(stop));
}

}  // namespace kube::detail
