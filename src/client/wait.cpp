// SPDX-License-Identifier: Apache-2.0
#include <kube/client/wait.hpp>

#include "complete.hpp"
#include "rest_client.hpp"
#include "wait_operation.hpp"

#include "base/deadline.hpp"
#include "engine/timed_stop.hpp"
#include <kube/engine/runtime.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace kube::detail {

namespace {

class AwaitedWait final : public Awaited<AnyRef> {
 public:
  AwaitedWait(ResourceCore resource, WaitRequest request)
      : resource_(std::move(resource)), request_(std::move(request)) {}

  [[nodiscard]] AnyRef take() override { return operation_->take(); }

 private:
  [[nodiscard]] bool poll() override {
    start({.waker = waker(), .scheduler = scheduler()});
    return operation_->poll() == Poll::kReady;
  }
  void stopped() override {
    start({});
    throw operation_->canceled();
  }
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept override { return operation_->wake_at(); }
  [[nodiscard]] Clock& clock() const noexcept override { return resource_.rest()->clock(); }
  [[nodiscard]] std::shared_ptr<Runtime> runtime() const override {
    return resource_.rest()->runtime();
  }

  void start(Poller poller) {
    if (!operation_) operation_.emplace(resource_, std::move(request_), std::move(poller));
  }

  const ResourceCore resource_;
  WaitRequest request_;
  std::optional<WaitOperation> operation_;
};

/// Throws std::invalid_argument for what a GET of the object would refuse.
void check(const ResourceCore& resource, const WaitRequest& request) {
  (void)resource.find(request.name, {});
}

}  // namespace

AnyRef wait(const ResourceCore& resource, WaitRequest request, std::stop_token stop) {
  check(resource, request);
  Clock& clock = resource.rest()->clock();
  const std::shared_ptr<Runtime> runtime = resource.rest()->runtime();
  const TimedStop limit{Inside::core(*runtime), clock, time_after(clock, request.timeout), stop};
  WaitOperation operation{resource, std::move(request), {.stop = limit.token()}};
  try {
    complete(operation, clock, limit.token(), [&] { return operation.poll(); });
  } catch (const TransportError& error) {
    const bool is_late = clock.now() >= operation.deadline() && !stop.stop_requested();
    if (error.kind() == TransportError::Kind::kCanceled && is_late) throw operation.timed_out();
    throw;
  }
  return operation.take();
}

Await<AnyRef> wait_async(const ResourceCore& resource, WaitRequest request, std::stop_token stop) {
  check(resource, request);
  return Await<AnyRef>{std::make_unique<AwaitedWait>(resource, std::move(request)),
                       std::move(stop)};
}

}  // namespace kube::detail
