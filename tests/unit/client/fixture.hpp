// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/fake_transport.hpp"

#include <kube/base/condition.hpp>
#include <kube/client/client.hpp>
#include <kube/config/credentials.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace kube::test {

/// A clock for single-threaded tests: a sleep returns at once and advances the time.
class SteppingClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override {
    const std::lock_guard guard{mutex_};
    return now_;
  }
  [[nodiscard]] WallTime wall_now() const override { return WallTime{}; }
  bool wait_until(std::unique_lock<std::mutex>&, Condition&, TimePoint deadline,
                  std::stop_token stop, const std::function<bool()>& ready) override {
    if (ready()) return true;
    {
      const std::lock_guard guard{mutex_};
      if (deadline > now_) sleeps_.push_back(deadline - now_);
    }
    if (on_sleep) on_sleep();
    if (stop.stop_requested()) return ready();
    const std::lock_guard guard{mutex_};
    now_ = std::max(now_, deadline);
    return ready();
  }
  void advance(Duration by) {
    const std::lock_guard guard{mutex_};
    now_ += by;
  }
  /// Returns the duration of each sleep.
  [[nodiscard]] std::vector<Duration> sleeps() const {
    const std::lock_guard guard{mutex_};
    return sleeps_;
  }

  /// Called at the beginning of each sleep.
  std::function<void()> on_sleep;

 private:
  mutable std::mutex mutex_;
  TimePoint now_{std::chrono::hours{1}};
  std::vector<Duration> sleeps_;
};

class FakeCredentials final : public Credentials {
 public:
  [[nodiscard]] std::string authorization(std::stop_token) override { return value; }
  [[nodiscard]] std::shared_ptr<const TlsMaterial> tls(std::stop_token) override {
    return std::make_shared<TlsMaterial>();
  }
  void refused(const std::string& authorization) override { refusals.push_back(authorization); }

  std::string value;
  std::vector<std::string> refusals;
};

/// A client with a scripted server and simulated time. Requests are not rate-limited unless the
/// test configures it.
struct Scripted {
  explicit Scripted(Config given = {}) : config(std::move(given)) {
    if (config.host.empty()) config.host = "https://server";
    if (config.qps == 0) config.qps = -1;
    options.clock = &clock;
    options.transport = transport;
    options.credentials = credentials;
    options.environment.variables = [this] { return variables; };
    options.log = Logger{[this](LogLevel level, std::string_view, std::string_view text) {
                           const std::lock_guard guard{log_mutex};
                           log.emplace_back(level, text);
                         },
                         LogLevel::kDebug};
  }
  [[nodiscard]] Client client() const { return Client{config, options}; }

  SteppingClock clock;
  std::shared_ptr<FakeTransport> transport = std::make_shared<FakeTransport>();
  std::shared_ptr<FakeCredentials> credentials = std::make_shared<FakeCredentials>();
  std::map<std::string, std::string> variables;
  Config config;
  ClientOptions options;
  std::mutex log_mutex;
  std::vector<std::pair<LogLevel, std::string>> log;
};

inline std::string status_json(int code, const std::string& reason,
                               const std::string& message = "no",
                               const std::string& details = "{}") {
  return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":")" +
         message + R"(","reason":")" + reason + R"(","details":)" + details + R"(,"code":)" +
         std::to_string(code) + "}";
}

inline std::string pod_json(const std::string& name, const std::string& version = "7") {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
         R"(","namespace":"shop","resourceVersion":")" + version + R"("}})";
}

/// Calls `call` and returns the ApiError that it throws.
template <typename Call>
ApiError api_error(Call call) {
  try {
    call();
  } catch (const ApiError& error) {
    return error;
  }
  throw std::runtime_error("no ApiError was thrown");
}

}  // namespace kube::test
