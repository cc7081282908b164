// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/controller.hpp>

#include <thread>
#include <utility>

namespace kube {
namespace {

detail::ReflectorHooks with_timer(detail::ReflectorHooks hooks, std::shared_ptr<DeltaQueue> queue) {
  // The loop is the one that wakes up for a timer, so no thread is needed for that.
  hooks.set_timer = [queue = std::move(queue)](Clock::TimePoint time) { queue->set_timer(time); };
  return hooks;
}

}  // namespace

Controller::Controller(const detail::ObjectAccess& access,
                       std::shared_ptr<detail::AnyListWatch> source,
                       std::shared_ptr<DeltaQueue> queue, ControllerHooks hooks,
                       ReflectorOptions options, detail::ReflectorHooks reflector_hooks)
    : queue_(std::move(queue)),
      hooks_(std::move(hooks)),
      metrics_(options.metrics),
      log_(options.log.named("controller")),
      reflector_(access, std::move(source), *queue_, std::move(options),
                 with_timer(std::move(reflector_hooks), queue_)) {}

void Controller::report(const std::exception& error) const {
  metrics_.processing_errors.add();
  log_.error("processing failed: {}", error.what());
  if (!hooks_.on_error) return;
  try {
    hooks_.on_error(error);
  } catch (...) {
    log_.error("on_error failed");
  }
}

/// Fills in what is computed when somebody looks.
void Controller::measure() const {
  reflector_.measure();
  if (hooks_.store == nullptr) return;
  const detail::StoreSnapshot snapshot = hooks_.store->snapshot();
  std::size_t bytes = snapshot.overhead_bytes();
  snapshot.for_each([&](const detail::ObjectRef& object) {
    const ObjectBytes one = bytes_of(object.to<std::byte>());
    bytes += one.own + one.shared;
    return true;
  });
  metrics_.objects.set(static_cast<double>(snapshot.size()));
  metrics_.bytes.set(static_cast<double>(bytes));
}

void Controller::run(std::stop_token stop) {
  if (started_.exchange(true)) return;
  if (metrics_.probe) metrics_.probe->set([this] { measure(); });
  std::jthread reflector{[&](std::stop_token own) { reflector_.run(std::move(own)); }};
  const std::stop_callback end{stop, [&] {
                                 reflector.request_stop();
                                 queue_->close();
                               }};
  bool more = false;
  while (!stop.stop_requested()) {
    try {
      const PopResult result = queue_->pop(hooks_.process, !more);
      if (result == PopResult::kClosed) break;
      if (result == PopResult::kTimer) reflector_.tick();
      more = hooks_.go_on && hooks_.go_on();
    } catch (const std::exception& error) {
      report(error);
    } catch (...) {
      report(Error("something that is no std::exception was thrown"));
    }
  }
  reflector.request_stop();
  reflector.join();
  if (metrics_.probe) {
    metrics_.probe->set(nullptr);
    measure();  // how it ended
  }
}

}  // namespace kube
