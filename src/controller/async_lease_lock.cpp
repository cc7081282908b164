// SPDX-License-Identifier: Apache-2.0
#include "async_lease_lock.hpp"

#include "base/deadline.hpp"
#include "client/object_operation.hpp"
#include "engine/runtime_access.hpp"
#include "engine/scheduler.hpp"
#include <kube/api/errors.hpp>
#include <kube/client/warnings.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <utility>

namespace kube::detail {
namespace {

using coordination::v1::Lease;

/// Returns the Runtime of leases. A client without threads, however, has its leases renewed on the
/// program's loop.
std::shared_ptr<Runtime> runtime_for(const ClientOptions& options) {
  const bool is_without_threads =
      options.runtime && Inside::core(*options.runtime)->workers().is_without_threads();
  return is_without_threads ? options.runtime : lease_runtime();
}

Config unlimited(Config config) {
  config.qps = -1;
  return config;
}

/// Returns the options with all user callbacks, except on_request, moved to workers.
ClientOptions on_lease_loop(ClientOptions options, std::shared_ptr<Runtime> runtime,
                            const std::shared_ptr<DeferredCalls>& calls) {
  options.runtime = std::move(runtime);
  options.rate_limiter = nullptr;
  options.log = deferred(options.log, calls);
  if (options.on_attempt) {
    options.on_attempt = [hook = options.on_attempt, calls](const AttemptReport& report) {
      calls->push([hook, copy = report, method = std::string{report.method},
                   url = std::string{report.url}] {
        AttemptReport told = copy;
        told.method = method;
        told.url = url;
        hook(told);
      });
    };
  }
  if (options.on_warning) {
    options.on_warning = [hook = options.on_warning, calls](const Warning& warning) {
      calls->push([hook, warning] { hook(warning); });
    };
  }
  return options;
}

}  // namespace

Lease new_lease(const LeaseLockOptions& options, const LeaderElectionRecord& record) {
  Lease lease;
  lease.metadata.name = options.name;
  lease.metadata.namespace_ = options.namespace_;
  return changed_lease(options, lease, record);
}

Lease changed_lease(const LeaseLockOptions& options, const std::optional<Lease>& seen,
                    const LeaderElectionRecord& record) {
  if (!seen) {
    throw Error{
        fmt::format("the lease {}/{} has not been read yet", options.namespace_, options.name)};
  }
  Lease lease = *seen;
  lease.spec = to_lease_spec(record);
  for (const auto& [key, value] : options.labels) lease.metadata.labels[key] = value;
  return lease;
}

core::v1::ObjectReference lease_reference(const LeaseLockOptions& options,
                                          const std::optional<Lease>& seen) {
  if (seen) return reference_to(*seen);
  Lease lease;
  lease.metadata.name = options.name;
  lease.metadata.namespace_ = options.namespace_;
  return reference_to(lease);
}

/// One request about the lease.
class AsyncLeaseLock::Operation final : public LockOperation {
 public:
  using Verb = LockRequest::Verb;

  Operation(AsyncLeaseLock& lock, Verb verb, Lease lease, Clock::Duration timeout, Poller poller)
      : lock_(lock),
        verb_(verb),
        lease_(std::move(lease)),
        timeout_(timeout),
        deadline_(time_after(*lock.options_.clock, timeout)),
        poller_(std::move(poller)) {
    const ResourceCore& leases = Inside::core(lock.leases_);
    const std::string& name = lock.options_.name;
    switch (verb) {
      case Verb::kGet:
        request_ = leases.start(leases.get(name, {}, type_of<Lease>(), {}));
        break;
      case Verb::kCreate:
        request_ = leases.start(leases.create(Sendable::of(lease_), {}, {}, &type_of<Lease>(), {}));
        break;
      case Verb::kUpdate:
        request_ = leases.start(leases.update(Sendable::of(lease_), name, {}, {}));
        break;
    }
  }

  [[nodiscard]] Poll poll() override {
    if (canceled_) throw request_->canceled();
    try {
      if (request_->poll(poller_) != Poll::kReady) return pending();
    } catch (const ApiError& error) {
      // A 404 from a proxy, or for a resource that is not served, does not mean that the lease is
      // missing.
      if (verb_ == Verb::kGet && is_not_found(error) && !is_unexpected_server_error(error)) {
        return Poll::kReady;
      }
      throw;
    }
    lock_.seen_ = *cast<Lease>(request_->take());
    if (verb_ == Verb::kGet) record_ = to_record(lock_.seen_->spec);
    return Poll::kReady;
  }
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept override { return request_->wake_at(); }
  [[nodiscard]] Clock::TimePoint deadline() const noexcept override { return deadline_; }
  void cancel() noexcept override { canceled_ = true; }
  [[nodiscard]] std::optional<LeaderElectionRecord> take_record() override {
    return std::move(record_);
  }

 private:
  [[nodiscard]] Poll pending() const {
    if (lock_.options_.clock->now() < deadline_) return Poll::kPending;
    throw TransportError(
        TransportError::Kind::kTimeout,
        fmt::format("{}/{}: no answer within {} s", lock_.options_.namespace_, lock_.options_.name,
                    std::chrono::duration<double>{timeout_}.count()));
  }

  AsyncLeaseLock& lock_;
  const Verb verb_;
  const Lease lease_;  // the Lease to send
  const Clock::Duration timeout_;
  const Clock::TimePoint deadline_;
  const Poller poller_;
  bool canceled_ = false;
  std::unique_ptr<ObjectOperation> request_;
  std::optional<LeaderElectionRecord> record_;
};

AsyncLeaseLock::AsyncLeaseLock(const Client& client, LeaseLockOptions options)
    : AsyncLock(runtime_for(client.options())),
      options_(std::move(options)),
      client_(unlimited(client.config()), on_lease_loop(client.options(), runtime(), calls())),
      leases_(client_.resource<Lease>(options_.namespace_)) {}

std::unique_ptr<LockOperation> AsyncLeaseLock::start(LockRequest request, Poller poller) {
  Lease lease;
  if (request.verb == LockRequest::Verb::kCreate) {
    lease = new_lease(options_, request.record);
  } else if (request.verb == LockRequest::Verb::kUpdate) {
    lease = changed_lease(options_, seen_, request.record);
  }
  return std::make_unique<Operation>(*this, request.verb, std::move(lease), request.timeout,
                                     std::move(poller));
}

void AsyncLeaseLock::record_event(std::string message) noexcept {
  if (!options_.recorder) return;
  try {
    calls()->push([recorder = options_.recorder, lease = lease_reference(options_, seen_),
                   message = std::move(message)] {
      recorder->record(lease, "Normal", "LeaderElection", message);
    });
  } catch (...) {  // NOLINT(bugprone-empty-catch): no event is worth an election
  }
}

}  // namespace kube::detail
