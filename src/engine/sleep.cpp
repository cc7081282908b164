// SPDX-License-Identifier: Apache-2.0
#include <kube/engine/runtime.hpp>
#include <kube/engine/sleep.hpp>
#include <kube/engine/task.hpp>

#include "base/waker.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace kube::detail {

namespace {

class AwaitedTime final : public Awaited<bool> {
 public:
  AwaitedTime(Runtime& runtime, Clock::Duration duration, Clock& clock) noexcept
      : runtime_(runtime), duration_(duration), clock_(clock) {}

  [[nodiscard]] bool take() override { return has_come_; }

 private:
  [[nodiscard]] bool poll() override {
    const Clock::TimePoint now = clock_.now();
    if (!end_) {
      end_ = duration_ < Clock::TimePoint::max() - now ? now + duration_ : Clock::TimePoint::max();
    }
    has_come_ = now >= *end_;
    return has_come_;
  }
  void stopped() override { has_come_ = false; }
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept override { return *end_; }
  [[nodiscard]] Clock& clock() const noexcept override { return clock_; }
  [[nodiscard]] std::shared_ptr<Runtime> runtime() const override {
    return {std::shared_ptr<void>{}, &runtime_};  // not owned
  }

  Runtime& runtime_;
  const Clock::Duration duration_;
  Clock& clock_;
  std::optional<Clock::TimePoint> end_;
  bool has_come_ = false;
};

class AwaitedSignal final : public Awaited<bool> {
 public:
  explicit AwaitedSignal(DoneSignal signal) noexcept : signal_(std::move(signal)) {}
  AwaitedSignal(const AwaitedSignal&) = delete;
  AwaitedSignal& operator=(const AwaitedSignal&) = delete;
  ~AwaitedSignal() override {
    if (registered_) signal_.forget(*registered_);
  }

  [[nodiscard]] bool take() override { return has_happened_; }

 private:
  [[nodiscard]] bool poll() override {
    has_happened_ = signal_.done();
    if (has_happened_ || registered_) return has_happened_;
    registered_ = signal_.on_done([waker = waker()] {
      if (const auto woken = waker.lock()) woken->wake();
    });
    return false;
  }
  void stopped() override { has_happened_ = false; }

  const DoneSignal signal_;
  std::optional<std::uint64_t> registered_;
  bool has_happened_ = false;
};

}  // namespace

Await<bool> await_sleep(Runtime& runtime, Clock::Duration duration, Clock& clock) {
  return Await<bool>{std::make_unique<AwaitedTime>(runtime, duration, clock)};
}

Await<bool> await_signal(const DoneSignal& signal) {
  return Await<bool>{std::make_unique<AwaitedSignal>(signal)};
}

}  // namespace kube::detail
