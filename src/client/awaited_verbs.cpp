// SPDX-License-Identifier: Apache-2.0
#include <kube/client/async_watch.hpp>
#include <kube/client/resource_core.hpp>

#include "list_all_operation.hpp"
#include "list_operation.hpp"
#include "object_operation.hpp"
#include "rest_client.hpp"
#include "watch_operation.hpp"

#include <functional>
#include <optional>
#include <utility>

namespace kube::detail {

namespace {

/// Bytes of a list that are decoded before other work on the queue gets its turn.
constexpr std::size_t kBytesAtOnce = std::size_t{128} << 10;

class AwaitedObject final : public Awaited<AnyRef> {
 public:
  AwaitedObject(ResourceCore resource, ObjectRequest request)
      : operation_(std::move(resource), std::move(request)) {}

  [[nodiscard]] AnyRef take() override { return operation_.take(); }

 private:
  [[nodiscard]] bool poll() override {
    return operation_.poll({.waker = waker(), .scheduler = scheduler()}) == Poll::kReady;
  }
  void stopped() override { throw operation_.canceled(); }
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept override { return operation_.wake_at(); }
  [[nodiscard]] Clock& clock() const noexcept override {
    return operation_.resource().rest()->clock();
  }
  [[nodiscard]] std::shared_ptr<Runtime> runtime() const override {
    return operation_.resource().rest()->runtime();
  }

  ObjectOperation operation_;
};

/// Awaits one page of a list, or all pages. The first poll makes `Operation`, when the waker is
/// known.
template <typename Operation>
class AwaitedList final : public Awaited<ListMetadata> {
 public:
  using Start = std::function<std::unique_ptr<Operation>(Poller poller)>;
  using PollOnce = std::function<Poll(Operation& operation)>;

  AwaitedList(std::shared_ptr<RestClient> rest, Start start, PollOnce poll_once)
      : rest_(std::move(rest)), start_(std::move(start)), poll_once_(std::move(poll_once)) {}

  [[nodiscard]] ListMetadata take() override { return operation_->metadata(); }

 private:
  [[nodiscard]] bool poll() override {
    if (!operation_) operation_ = start_({.waker = waker(), .scheduler = scheduler()});
    const Poll result = poll_once_(*operation_);
    if (result == Poll::kMore) poll_again();
    return result == Poll::kReady;
  }
  void stopped() override {
    if (!operation_) operation_ = start_({});  // provides the message with the request
    throw operation_->canceled();
  }
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept override { return operation_->wake_at(); }
  [[nodiscard]] Clock& clock() const noexcept override { return rest_->clock(); }
  [[nodiscard]] std::shared_ptr<Runtime> runtime() const override { return rest_->runtime(); }

  const std::shared_ptr<RestClient> rest_;
  const Start start_;
  const PollOnce poll_once_;
  std::unique_ptr<Operation> operation_;
};

class AwaitedWatch final : public AwaitedEvents {
 public:
  AwaitedWatch(ResourceCore resource, ListOptions options)
      : resource_(std::move(resource)), options_(std::move(options)) {}

  [[nodiscard]] std::optional<AnyWatchEvent> take() override {
    return std::exchange(event_, std::nullopt);
  }
  [[nodiscard]] bool has_ended() const noexcept override {
    return is_stopped_ || (is_open_ && operation_->has_ended());
  }

 private:
  [[nodiscard]] bool poll() override {
    if (is_stopped_) return true;
    if (!operation_) {
      operation_ = resource_.start_watch(options_, {.waker = waker(), .scheduler = scheduler()});
    }
    if (!is_open_) {
      is_open_ = operation_->poll_open() == Poll::kReady;
      return is_open_;
    }
    event_ = operation_->poll_next();
    return event_ || operation_->has_ended();
  }
  void stopped() override {
    if (!is_open_) {
      if (!operation_) operation_ = resource_.start_watch(options_, {});
      throw operation_->canceled();
    }
    is_stopped_ = true;
    event_.reset();
    operation_.reset();
  }
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept override { return operation_->wake_at(); }
  [[nodiscard]] Clock& clock() const noexcept override { return resource_.rest()->clock(); }
  [[nodiscard]] std::shared_ptr<Runtime> runtime() const override {
    return resource_.rest()->runtime();
  }

  const ResourceCore resource_;
  const ListOptions options_;
  std::unique_ptr<WatchOperation> operation_;
  bool is_open_ = false;
  bool is_stopped_ = false;
  std::optional<AnyWatchEvent> event_;
};

class AwaitedRetryWatch final : public AwaitedEvents {
 public:
  AwaitedRetryWatch(const std::shared_ptr<RestClient>& rest, ResourceCore resource,
                    const ListOptions& options, RetryWatchCore::VersionOf version_of)
      : rest_(rest), watch_(std::move(resource), options, version_of) {}

  [[nodiscard]] std::optional<AnyWatchEvent> take() override {
    return std::exchange(event_, std::nullopt);
  }
  [[nodiscard]] bool has_ended() const noexcept override { return watch_.has_ended(); }
  [[nodiscard]] std::string last_version() const override { return watch_.last_version(); }

 private:
  [[nodiscard]] bool poll() override {
    event_ = watch_.poll_next({.waker = waker(), .scheduler = scheduler()});
    return event_ || watch_.has_ended();
  }
  void stopped() override {
    watch_.stop();
    watch_.close();
    event_.reset();
  }
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept override { return watch_.wake_at(); }
  [[nodiscard]] Clock& clock() const noexcept override { return rest_->clock(); }
  [[nodiscard]] std::shared_ptr<Runtime> runtime() const override { return rest_->runtime(); }

  const std::shared_ptr<RestClient> rest_;
  RetryWatchCore watch_;
  std::optional<AnyWatchEvent> event_;
};

}  // namespace

Await<AnyRef> ResourceCore::send_async(Verb verb, std::stop_token stop) const {
  return Await<AnyRef>{std::make_unique<AwaitedObject>(*this, std::move(*verb.request_)),
                       std::move(stop)};
}

Await<ListMetadata> ResourceCore::list_async(const ListOptions& options, OnItem on_item,
                                             std::stop_token stop) const {
  check_selectors(options);
  return Await<ListMetadata>{std::make_unique<AwaitedList<ListOperation>>(
                                 rest_,
                                 [core = *this, options](Poller poller) {
                                   return core.start_list(options, std::move(poller));
                                 },
                                 [on_item = std::move(on_item)](ListOperation& list) {
                                   return list.poll(on_item, kBytesAtOnce);
                                 }),
                             std::move(stop)};
}

Await<ListMetadata> ResourceCore::list_all_async(const ListOptions& options,
                                                 const PagerOptions& pager, OnItem on_item,
                                                 std::function<void()> on_restart,
                                                 std::stop_token stop) const {
  check_selectors(options);
  return Await<ListMetadata>{
      std::make_unique<AwaitedList<ListAllOperation>>(
          rest_,
          [core = *this, options, pager](Poller poller) {
            return std::make_unique<ListAllOperation>(core, options, pager, std::move(poller));
          },
          [on_item = std::move(on_item), on_restart = std::move(on_restart)](
              ListAllOperation& list) { return list.poll(on_item, on_restart, kBytesAtOnce); }),
      std::move(stop)};
}

std::unique_ptr<AwaitedEvents> ResourceCore::watch_async(const ListOptions& options) const {
  check_selectors(options);
  return std::make_unique<AwaitedWatch>(*this, options);
}

std::unique_ptr<AwaitedEvents> retry_watch_async(ResourceCore resource, const ListOptions& options,
                                                 RetryWatchCore::VersionOf version_of) {
  const std::shared_ptr<RestClient> rest = resource.rest();
  return std::make_unique<AwaitedRetryWatch>(rest, std::move(resource), options, version_of);
}

}  // namespace kube::detail
