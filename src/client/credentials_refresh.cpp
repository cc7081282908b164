// SPDX-License-Identifier: Apache-2.0
#include "credentials_refresh.hpp"

#include "engine/job.hpp"
#include <kube/base/secret_text.hpp>

#include <exception>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

namespace kube::detail {

namespace {

class Run final : public Job {
 public:
  explicit Run(std::shared_ptr<Credentials> credentials)
      : Job(Placement::kBlocking), credentials_(std::move(credentials)) {}

  /// Returns false if the call has ended.
  [[nodiscard]] bool add(const std::weak_ptr<Waker>& waker) {
    const std::lock_guard guard{mutex_};
    if (!is_done_) wakers_.push_back(waker);
    return !is_done_;
  }
  [[nodiscard]] std::optional<std::string> poll() const {
    const std::lock_guard guard{mutex_};
    if (error_) std::rethrow_exception(error_);
    return is_done_ ? std::optional<std::string>{authorization_} : std::nullopt;
  }
  void stop() noexcept { stop_.request_stop(); }
  [[nodiscard]] std::string_view name() const noexcept override { return "credentials"; }

 private:
  void run() noexcept override {
    SecretText authorization;
    std::exception_ptr error;
    try {
      authorization = credentials_->authorization(stop_.get_token());
    } catch (...) {
      error = std::current_exception();
    }
    std::vector<std::weak_ptr<Waker>> wakers;
    {
      const std::lock_guard guard{mutex_};
      authorization_ = std::move(authorization);
      error_ = std::move(error);
      is_done_ = true;
      wakers.swap(wakers_);
    }
    for (const std::weak_ptr<Waker>& weak : wakers) {
      if (const auto waker = weak.lock()) waker->wake();
    }
  }

  const std::shared_ptr<Credentials> credentials_;
  std::stop_source stop_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::vector<std::weak_ptr<Waker>> wakers_;
  SecretText authorization_;
  std::exception_ptr error_;
  bool is_done_ = false;
};

}  // namespace

class CredentialsRefresh::Call {
 public:
  explicit Call(std::shared_ptr<Run> running) noexcept : run(std::move(running)) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { run->stop(); }

  const std::shared_ptr<Run> run;
};

std::shared_ptr<CredentialsRefresh::Call> CredentialsRefresh::join(const Poller& poller) {
  const std::lock_guard guard{mutex_};
  if (auto call = call_.lock(); call && call->run->add(poller.waker)) return call;
  const auto run = std::make_shared<Run>(credentials_);
  (void)run->add(poller.waker);
  auto call = std::make_shared<Call>(run);
  call_ = call;
  run->bind(poller.scheduler);
  run->schedule();
  return call;
}

std::optional<std::string> CredentialsRefresh::poll(const Call& call) { return call.run->poll(); }

}  // namespace kube::detail
