// SPDX-License-Identifier: Apache-2.0
#include <kube/base/condition.hpp>
#include <kube/controller/identity.hpp>
#include <kube/controller/leader_elector.hpp>
#include <kube/controller/lease_lock.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "client.hpp"
#include "config.hpp"
#include "log.hpp"
#include "objects.hpp"
#include "read_options.hpp"
#include "wait.hpp"

using namespace kube::c;

/// A candidate, the thread that runs its election, and the client of the lease.
struct kubecxx_election final : Handle {
  kubecxx_election(const kube::Config& config, const kubecxx_election_options& options);

  void close() noexcept override;
  void finish() noexcept override;

  void start();
  void request_stop() const noexcept { (void)stop.request_stop(); }
  /// Waits until the leader's work has to end, or the deadline. Returns whether it has to end.
  [[nodiscard]] bool must_stop(kube::Clock::TimePoint deadline);
  void run() noexcept;

  [[nodiscard]] kube::LeaderElectionOptions elector_options(
      const kubecxx_election_options& options);
  /// Calls a function of the options, unless the handle has been freed.
  template <typename... Args>
  void call(void (*function)(void*, kubecxx_election*, Args...), Args... args) {
    if (function == nullptr) return;
    gate->call([&](void* user_data) { function(user_data, this, args...); });
  }

  const std::shared_ptr<CallbackGate> gate;
  const kube::Logger log;
  std::stop_source stop;
  const kube::DoneSignal ended{"leader election"};
  std::exception_ptr failure;  // the exception that ended it

  std::mutex mutex;
  kube::Condition changed;
  // Guarded by mutex:
  std::stop_token work_stop;  // stop token of the leader's work, while it leads
  bool leads = false;

  std::unique_ptr<kube::LeaderElector> elector;
  std::thread thread;  // joined by finish()
};

namespace {

std::chrono::milliseconds duration_or(std::int64_t ms, kube::Clock::Duration usual,
                                      const char* name) {
  if (ms < 0) {
    throw std::invalid_argument(std::string{"kubecxx_election_options: "} + name + " is negative");
  }
  return ms > 0 ? std::chrono::milliseconds{ms}
                : std::chrono::duration_cast<std::chrono::milliseconds>(usual);
}

kube::LeaseLockOptions lock_options(const kubecxx_election_options& options) {
  kube::LeaseLockOptions lock{.namespace_ = copy(options.namespace_, "namespace_"),
                              .name = copy(options.name, "name"),
                              .identity = copy(options.identity, "identity")};
  if (lock.namespace_.empty() || lock.name.empty()) {
    throw std::invalid_argument(
        "kubecxx_election_options: namespace_ and name of the Lease are required");
  }
  if (lock.identity.empty()) lock.identity = kube::make_identity();
  return lock;
}

}  // namespace

kubecxx_election::kubecxx_election(const kube::Config& config,
                                   const kubecxx_election_options& options)
    : gate(std::make_shared<CallbackGate>(options.user_data, options.release, Waiting::kAllowed)),
      log(logger_of(options.log)) {
  kube::LeaseLockOptions lock = lock_options(options);
  kube::LeaderElectionOptions how = elector_options(options);
  // A separate client: other requests do not delay renewals.
  const kube::Client client{kube::election_config(config, how.renew_deadline), {.log = log}};
  elector = std::make_unique<kube::LeaderElector>(
      std::make_shared<kube::LeaseLock>(client, std::move(lock)), std::move(how));
}

kube::LeaderElectionOptions kubecxx_election::elector_options(
    const kubecxx_election_options& options) {
  const kube::LeaderElectionOptions usual;
  kube::LeaderElectionOptions how{
      .lease_duration =
          duration_or(options.lease_duration_ms, usual.lease_duration, "lease_duration_ms"),
      .renew_deadline =
          duration_or(options.renew_deadline_ms, usual.renew_deadline, "renew_deadline_ms"),
      .retry_period = duration_or(options.retry_period_ms, usual.retry_period, "retry_period_ms"),
      .release_on_cancel = options.release_on_stop != 0};
  how.log = log;
  how.on_started_leading = [this, function = options.on_started_leading](std::stop_token token) {
    {
      const std::lock_guard guard{mutex};
      work_stop = std::move(token);
      leads = true;
    }
    call(function);
  };
  how.on_stopped_leading = [this, function = options.on_stopped_leading] {
    {
      const std::lock_guard guard{mutex};
      leads = false;
    }
    changed.notify_all();
    call(function);
  };
  if (const auto function = options.on_new_leader) {
    how.on_new_leader = [this, function](const std::string& identity) {
      call(function, lend(identity));
    };
  }
  return how;
}

void kubecxx_election::start() {
  const std::lock_guard guard{mutex};
  if (thread.joinable()) throw std::logic_error("the election has been started already");
  thread = std::thread{[this] { run(); }};
}

void kubecxx_election::run() noexcept {
  try {
    elector->run(stop.get_token());
  } catch (const std::exception& error) {
    failure = std::current_exception();
    log.error("the leader election has ended: {}", error.what());
  } catch (...) {
    failure = std::current_exception();
    log.error("the leader election has ended with an exception of unknown type");
  }
  ended.fire();
}

bool kubecxx_election::must_stop(kube::Clock::TimePoint deadline) {
  std::unique_lock lock{mutex};
  if (!leads) return true;
  const std::stop_token token = work_stop;
  return changed.wait_until(lock, token, deadline,
                            [&] { return !leads || token.stop_requested(); });
}

void kubecxx_election::close() noexcept {
  gate->close();
  request_stop();
}

void kubecxx_election::finish() noexcept {
  request_stop();
  if (thread.joinable()) thread.join();
  elector.reset();
  gate->close_and_wait();
}

int kubecxx_election_new(const kubecxx_config* config, const kubecxx_election_options* options,
                         kubecxx_election** election) {
  return guarded([&] {
    auto& result = output(election, "election");
    const auto given = read_options(options, "kubecxx_election_options");
    result = new kubecxx_election(required(config, "config").config, given);
  });
}

int kubecxx_election_start(kubecxx_election* election) {
  return guarded([&] { alive(election, "election").start(); });
}

int kubecxx_election_is_leader(const kubecxx_election* election) {
  if (election == nullptr || election->is_of_parent()) return 0;
  return election->elector->is_leader() ? 1 : 0;
}

int kubecxx_election_leader(const kubecxx_election* election, kubecxx_text** identity) {
  return guarded([&] {
    auto& result = output(identity, "identity");
    result = new kubecxx_text{alive(election, "election").elector->leader()};
  });
}

int kubecxx_election_must_stop(kubecxx_election* election, int64_t wait_ms, int* must_stop) {
  return guarded([&] {
    int& result = required(must_stop, "must_stop");
    result = 1;
    kubecxx_election& given = alive(election, "election");
    if (wait_ms != 0) check_may_wait("kubecxx_election_must_stop");
    result = given.must_stop(deadline_after(wait_ms)) ? 1 : 0;
  });
}

int kubecxx_election_stop(kubecxx_election* election) {
  return guarded([&] { alive(election, "election").request_stop(); });
}

int kubecxx_election_wait(kubecxx_election* election, int64_t timeout_ms, kubecxx_cancel* cancel) {
  return guarded([&] {
    kubecxx_election& given = alive(election, "election");
    if (CallbackScope::is_inside_of(given.gate.get())) {
      throw std::logic_error(
          "a callback of the election cannot wait for the end of the same election; call "
          "kubecxx_election_stop and return");
    }
    wait_for_signal("kubecxx_election_wait", nullptr, given.ended, timeout_ms, cancel,
                    [] { return std::string{"the election has not ended"}; });
    if (given.failure) std::rethrow_exception(given.failure);
  });
}

void kubecxx_election_free(kubecxx_election* election) { free_handle(election); }
