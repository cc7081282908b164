// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "../../../src/client/rest_client.hpp"
#include "../../../src/config/non_blocking_credentials.hpp"
#include "../../../src/engine/scheduler.hpp"
#include "fixture.hpp"
#include "support/counting_waker.hpp"
#include "support/manual_transport.hpp"

namespace kube::test {

/// Operations polled by hand: the test also plays the server, the workers and the clock.
struct PollingTest : testing::Test {
  PollingTest() {
    scripted.options.transport = transport;
    scripted.options.credentials = nullptr;
  }
  ~PollingTest() override { scheduler->close(); }

  [[nodiscard]] detail::Poller poller() const { return {.waker = waker, .scheduler = scheduler}; }
  [[nodiscard]] detail::RestClient& rest() {
    if (!rest_) rest_ = std::make_shared<detail::RestClient>(scripted.config, scripted.options);
    return *rest_;
  }
  [[nodiscard]] const std::shared_ptr<detail::RestClient>& shared_rest() {
    (void)rest();
    return rest_;
  }
  /// Makes the calls that are queued for a worker.
  void run_workers() const {
    while (scheduler->loop().run_ready({})) {
    }
  }
  [[nodiscard]] static detail::Request get(const std::string& path = "/api/v1/pods") {
    detail::Request request;
    request.path = path;
    return request;
  }

  Scripted scripted;
  std::shared_ptr<ManualTransport> transport = std::make_shared<ManualTransport>();
  std::shared_ptr<CountingWaker> waker = std::make_shared<CountingWaker>();
  std::shared_ptr<detail::Scheduler> scheduler =
      std::make_shared<detail::Scheduler>(detail::WorkerPoolOptions{.threads = 0}, Logger{});

 private:
  std::shared_ptr<detail::RestClient> rest_;
};

/// Credentials of the library that sometimes have to be renewed, like those with a plugin.
class RenewableCredentials final : public Credentials, public detail::NonBlockingCredentials {
 public:
  [[nodiscard]] std::string authorization(std::stop_token) override { return value; }
  [[nodiscard]] std::shared_ptr<const TlsMaterial> tls(std::stop_token) override {
    return std::make_shared<TlsMaterial>();
  }
  void refused(const std::string& authorization) override { refusals.push_back(authorization); }
  [[nodiscard]] std::optional<std::string> try_authorization() override {
    return is_ready ? std::optional{value} : std::nullopt;
  }
  [[nodiscard]] std::shared_ptr<const TlsMaterial> try_tls() override { return tls({}); }
  [[nodiscard]] std::unique_ptr<detail::Renewal> renew(const detail::Poller& poller) override {
    ++renewals;
    ++running;
    waker = poller.waker;
    return std::make_unique<ManualRenewal>(*this);
  }
  [[nodiscard]] std::string last_authorization() override { return value; }
  [[nodiscard]] std::shared_ptr<const TlsMaterial> last_tls() override { return tls({}); }
  using Credentials::on_identity_change;
  /// Never called back: these credentials have no certificate.
  [[nodiscard]] std::shared_ptr<void> on_identity_change(
      std::function<void()> /*changed*/,
      const std::shared_ptr<detail::Scheduler>& /*scheduler*/) override {
    return nullptr;
  }
  /// Ends the plugin.
  void finish() {
    is_finished = true;
    if (const auto owner = waker.lock()) owner->wake();
  }

  std::string value = "Bearer one";
  bool is_ready = true;
  bool is_finished = true;  ///< whether a plugin ends at once
  bool fails = false;
  int renewals = 0;
  int running = 0;  ///< number of renewals that are neither done nor stopped
  std::vector<std::string> refusals;

 private:
  class ManualRenewal final : public detail::Renewal {
   public:
    explicit ManualRenewal(RenewableCredentials& owner) : owner_(owner) {}
    ~ManualRenewal() override { --owner_.running; }
    [[nodiscard]] detail::Poll poll() override {
      if (!owner_.is_finished) return detail::Poll::kPending;
      if (owner_.fails) throw ConfigError("the plugin failed");
      return detail::Poll::kReady;
    }
    void forget_clock() noexcept override {}

   private:
    RenewableCredentials& owner_;
  };

  std::weak_ptr<detail::Waker> waker;
};

}  // namespace kube::test
