// SPDX-License-Identifier: Apache-2.0
#include "controller_core.hpp"

#include "request_queue.hpp"

#include "base/deadline.hpp"
#include "base/text.hpp"
#include "engine/timed_stop.hpp"
#include <kube/api/errors.hpp>
#include <kube/controller/detail/insist.hpp>
#include <kube/engine/runtime.hpp>
#include <kube/transport/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

namespace kube::detail {
namespace {

std::vector<double> reconcile_seconds_bounds() {
  return {0.005, 0.01, 0.025, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6,
          0.7,   0.8,  0.9,   1,    1.25, 1.5,  1.75, 2,    2.5, 3,    3.5, 4,    4.5, 5,
          6,     7,    8,     9,    10,   15,   20,   25,   30,  40,   50,  60};
}

/// Fills the members of the plan that are not set from the manager's options.
ControllerPlan completed(ControllerPlan plan, const ManagerOptions& manager) {
  if (plan.name.empty() && plan.kind) plan.name = lower_case(plan.kind->names.kind);
  if (plan.name.empty()) throw std::logic_error("a controller without for_() needs a name");
  const auto refuse = [&](const char* why) {
    throw std::logic_error(fmt::format("controller {}: {}", plan.name, why));
  };
  if (plan.sources.empty()) refuse("it has no source of events; use for_(), owns() or watches()");
  ControllerOptions& options = plan.options;
  if (!options.max_concurrent_reconciles) {
    options.max_concurrent_reconciles = manager.max_concurrent_reconciles;
    if (plan.kind) {
      const auto own =
          manager.kind_concurrency.find({plan.kind->names.resource.group, plan.kind->names.kind});
      if (own != manager.kind_concurrency.end()) options.max_concurrent_reconciles = own->second;
    }
  }
  if (*options.max_concurrent_reconciles < 1)
    refuse("max_concurrent_reconciles must be at least 1");
  if (!options.cache_sync_timeout) options.cache_sync_timeout = manager.cache_sync_timeout;
  if (!options.reconcile_timeout) options.reconcile_timeout = manager.reconcile_timeout;
  if (!options.warm_up) options.warm_up = manager.warm_up;

  for (SourcePlan& source : plan.sources) {
    if (source.of_owners) {
      if (!plan.kind) refuse("owns() needs for_(), the kind of the owners");
      source.map = owners_of_kind(*source.kind, plan.kind->names, source.every_owner);
    }
    // Global filters come first.
    std::vector<EventFilter> filters;
    for (const auto& predicate : plan.filters) {
      filters.push_back(erase_predicate(predicate, source.metadata));
    }
    source.filters.insert(source.filters.begin(), filters.begin(), filters.end());
  }
  return plan;
}

std::shared_ptr<const void> claim(const ControllerPlan& plan, const ManagerOptions& manager) {
  auto claimed = manager.metrics->claim("controller " + plan.name);
  if (!claimed && !plan.options.skip_name_validation) {
    throw std::logic_error(fmt::format("the name {} is used by another controller", plan.name));
  }
  return claimed;
}

}  // namespace

ControllerMetrics::ControllerMetrics(const std::shared_ptr<Metrics>& metrics,
                                     const std::string& controller) {
  const MetricLabels labels{{"controller", controller}};
  const auto total = [&](const char* result) {
    MetricLabels with_result = labels;
    with_result.emplace_back("result", result);
    return metrics->counter("controller_runtime_reconcile_total", "Reconciles by result",
                            with_result);
  };
  success = total("success");
  error = total("error");
  requeue = total("requeue");
  requeue_after = total("requeue_after");
  errors = metrics->counter("controller_runtime_reconcile_errors_total", "Reconciles that failed",
                            labels);
  terminal_errors = metrics->counter("controller_runtime_terminal_reconcile_errors_total",
                                     "Reconciles that failed with a terminal error", labels);
  panics =
      metrics->counter("controller_runtime_reconcile_panics_total",
                       "Reconciles that threw an exception other than std::runtime_error", labels);
  timeouts = metrics->counter("controller_runtime_reconcile_timeouts_total",
                              "Reconciles that exceeded reconcile_timeout", labels);
  time = metrics->histogram("controller_runtime_reconcile_time_seconds", "Duration of reconciles",
                            reconcile_seconds_bounds(), labels);
  max_concurrent = metrics->gauge("controller_runtime_max_concurrent_reconciles",
                                  "Maximum number of concurrent reconciles", labels);
  active =
      metrics->gauge("controller_runtime_active_workers", "Number of running reconciles", labels);
}

void ControllerMetrics::count(ReconcileOutcome outcome, Clock::Duration took) const {
  time.observe(std::chrono::duration<double>{took}.count());
  switch (outcome) {
    case ReconcileOutcome::kSuccess:
      return success.add();
    case ReconcileOutcome::kRequeue:
      return requeue.add();
    case ReconcileOutcome::kRequeueAfter:
      return requeue_after.add();
    case ReconcileOutcome::kTerminalError:
      terminal_errors.add();
      [[fallthrough]];
    case ReconcileOutcome::kError:
      errors.add();
      return error.add();
  }
}

/// A source of the plan, and its registrations.
struct ControllerCore::Source {
  SourcePlan plan;
  std::vector<std::pair<CacheCore::Informer, HandlerRegistration>> registrations;
  std::shared_ptr<const void> connection;
};

ControllerCore::ControllerCore(ControllerPlan plan, const ManagerOptions& manager, CacheCore& cache)
    : plan_(completed(std::move(plan), manager)),
      manager_(manager),
      cache_(cache),
      clock_(*manager.clock),
      log_(manager.log->named("controller " + plan_.name)),
      claimed_name_(claim(plan_, manager)),
      metrics_(manager.metrics, plan_.name),
      queue_(RequestQueue::make(
          plan_.options.priority_queue,
          {.name = plan_.name, .metrics = manager.metrics, .clock = manager.clock},
          std::move(plan_.options.rate_limiter))) {
  metrics_.max_concurrent.set(*plan_.options.max_concurrent_reconciles);
  for (SourcePlan& source : plan_.sources) {
    sources_.push_back(std::make_unique<Source>(Source{std::move(source), {}, {}}));
  }
  plan_.sources.clear();
}

ControllerCore::~ControllerCore() = default;

void ControllerCore::start_sources() {
  {
    const std::lock_guard guard{starting_};
    if (std::exchange(sources_started_, true)) return;
    for (const auto& source : sources_) {
      if (source->plan.kind) start_kind(*source);
    }
  }
  // These call predicates and map functions immediately, so the lock must not be held.
  for (const auto& source : sources_) {
    if (source->plan.channel) start_channel(*source);
  }
}

void ControllerCore::start_channel(Source& source) {
  // An event may be sent while the manager is being destroyed.
  source.connection =
      source.plan.channel->connect([weak = weak_from_this(), &source](const ObjectRef& object) {
        const auto self = weak.lock();
        if (!self) return;
        const auto metadata = source.plan.metadata(object);
        self->handle(source, {{.kind = ObjectChange::Kind::kGeneric},
                              {},
                              object,
                              {metadata->namespace_.str(), metadata->name.str()}});
      });
}

void ControllerCore::start_kind(Source& source) {
  const ObjectAccess& access = *source.plan.kind->access;
  const auto key = [&access](const ObjectRef& object) {
    return ObjectKey{std::string{access.namespace_(object.get())},
                     std::string{access.name(object.get())}};
  };
  using Kind = ObjectChange::Kind;
  const AnyHandler handler{
      .on_add =
          [this, &source, key](const ObjectRef& object, bool initial) {
            handle(source,
                   {{.kind = Kind::kCreate, .in_initial_list = initial}, {}, object, key(object)});
          },
      .on_update =
          [this, &source, key](const ObjectRef& before, const ObjectRef& now) {
            handle(source, {{.kind = Kind::kUpdate}, before, now, key(now)});
          },
      .on_delete =
          [this, &source](const ObjectRef& last, std::string_view text, bool known) {
            const auto parts = KeyParts::of(text);
            handle(source, {{.kind = Kind::kDelete, .final_state_known = known},
                            {},
                            last,
                            {std::string{parts.namespace_}, std::string{parts.name}}});
          },
  };
  HandlerOptions options{
      .name = fmt::format("{} of controller {}", describe(*source.plan.kind), plan_.name)};
  // Inline delivery: no user code runs between the event and the queue.
  if (source.plan.filters.empty() && (source.plan.map == nullptr || source.plan.of_owners)) {
    options.delivery = Delivery::kInline;
  }
  options.on_error = [this](const CacheError& error) {
    log_.error("an event is lost: {}", error.message);
  };
  for (const CacheCore::Informer& informer : cache_.informers(*source.plan.kind)) {
    source.registrations.emplace_back(informer, informer->add_handler(handler, options));
  }
}

void ControllerCore::handle(const Source& source, const ObjectEvent& event) {
  if (!passes(source, event)) return;
  const bool unchanged = event.before && source.plan.kind->access->same_version(event.before.get(),
                                                                                event.object.get());
  const int priority = event.what.in_initial_list || unchanged ? kLowPriority : 0;
  insist([&] {
    std::vector<kube::Request> requests;
    try {
      requests = requests_of(event, source.plan.map);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      return log_.error("the map function threw for {}; the event is dropped: {}", event.key.str(),
                        error.what());
    } catch (...) {
      return log_.error(
          "the map function threw an exception that is not a std::exception for {}; the event is "
          "dropped",
          event.key.str());
    }
    for (const kube::Request& request : requests) queue_->add(request, priority);
  });
}

bool ControllerCore::passes(const Source& source, const ObjectEvent& event) const {
  return std::ranges::all_of(source.plan.filters, [&](const EventFilter& filter) {
    try {
      return filter(event);
    } catch (const std::exception& error) {
      log_.error("a predicate threw for {}; the event is accepted: {}", event.key.str(),
                 error.what());
    } catch (...) {
      log_.error(
          "a predicate threw an exception that is not a std::exception for {}; the event is "
          "accepted",
          event.key.str());
    }
    return true;
  });
}

void ControllerCore::wait_for_sources(const std::stop_token& stop) {
  const Clock::TimePoint deadline = time_after(clock_, *plan_.options.cache_sync_timeout);
  for (const auto& source : sources_) {
    for (const auto& [informer, registration] : source->registrations) {
      if (registration.synced().wait_until(clock_, deadline, stop) || stop.stop_requested())
        continue;
      const std::string reason = informer->last_error();
      throw CacheSyncError(fmt::format("controller {}: the cache of {} was not filled in time{}{}",
                                       plan_.name, describe(*source->plan.kind),
                                       reason.empty() ? "" : ": ", reason));
    }
  }
}

void ControllerCore::run(std::stop_token stop) {
  if (running_.exchange(true)) {
    throw std::logic_error(fmt::format("controller {} was started already", plan_.name));
  }
  start_sources();
  wait_for_sources(stop);
  log_.info("starting {} workers", *plan_.options.max_concurrent_reconciles);
  {
    const int count = *plan_.options.max_concurrent_reconciles;
    std::vector<std::jthread> workers;
    workers.reserve(static_cast<std::size_t>(count));
    try {
      for (int i = 0; i < count; ++i) {
        workers.emplace_back([this, stop] {
          const ThreadMark mark{this};
          work(stop);
        });
      }
    } catch (...) {
      queue_->shut_down();  // workers that have started end, too
      throw;
    }
  }
  queue_->shut_down();
  log_.info("all workers have ended");
}

void ControllerCore::work(const std::stop_token& stop) {
  Clock::TimePoint started{};
  std::string error;
  LogLevel level = LogLevel::kError;
  const auto reconcile = [&](const kube::Request& request) {
    metrics_.active.add(1);
    error.clear();
    level = LogLevel::kError;
    started = clock_.now();
    try {
      return call(request, stop, error);
    } catch (const ApiError& failure) {
      if (is_conflict(failure)) level = LogLevel::kInfo;
      throw;
    } catch (const TransportError& failure) {
      if (stop.stop_requested() && failure.kind() == TransportError::Kind::kCanceled) {
        level = LogLevel::kDebug;
      }
      throw;
    } catch (const CacheNotStartedError&) {
      if (stop.stop_requested()) level = LogLevel::kDebug;
      throw;
    }
  };
  const auto done = [&](const kube::Request& request, ReconcileOutcome outcome) {
    const Clock::Duration took = clock_.now() - started;
    metrics_.active.add(-1);
    metrics_.count(outcome, took);
    report(request, outcome, took, error, level);
  };
  while (true) {
    try {
      if (!queue_->process(reconcile, done, stop)) return;
    } catch (const std::exception& failure) {
      log_.error("a worker continues after a failure: {}", failure.what());
    } catch (...) {
      log_.error("a worker continues after an exception that is not a std::exception");
    }
  }
}

void ControllerCore::report(const kube::Request& request, ReconcileOutcome outcome,
                            Clock::Duration took, const std::string& error, LogLevel level) const {
  const double seconds = std::chrono::duration<double>{took}.count();
  const bool for_good = outcome == ReconcileOutcome::kTerminalError;
  if (outcome != ReconcileOutcome::kError && !for_good) {
    log_.debug("reconciled {} in {:.3f} s", request.key.str(), seconds);
  } else if (!for_good && level == LogLevel::kInfo) {
    log_.info("reconciling {} met a conflict after {:.3f} s, retrying: {}", request.key.str(),
              seconds, error);
  } else if (!for_good && level == LogLevel::kDebug) {
    log_.debug("reconciling {} was stopped after {:.3f} s: {}", request.key.str(), seconds, error);
  } else {
    log_.error("reconciling {} failed{} after {:.3f} s: {}", request.key.str(),
               for_good ? " for good" : "", seconds, error);
  }
  if (!manager_.on_reconcile) return;
  try {
    manager_.on_reconcile({plan_.name, request, outcome, took, error});
  } catch (const std::exception& thrown) {
    log_.error("on_reconcile threw: {}", thrown.what());
  } catch (...) {
    log_.error("on_reconcile threw an exception that is not a std::exception");
  }
}

Result ControllerCore::call(const kube::Request& request, const std::stop_token& stop,
                            std::string& error) {
  const Clock::Duration limit = *plan_.options.reconcile_timeout;
  const std::shared_ptr<Runtime> runtime = cache_.runtime();
  const TimedStop deadline{
      Inside::core(*runtime), clock_,
      limit > Clock::Duration{} ? time_after(clock_, limit) : Clock::TimePoint::max(), stop};
  const auto count_timeout = [&] {
    if (deadline.passed()) metrics_.timeouts.add();
  };
  try {
    Result result = plan_.reconcile(request, deadline.token());
    count_timeout();
    return result;
  } catch (const std::runtime_error& thrown) {
    error = thrown.what();
    count_timeout();
    throw;
  } catch (const std::exception& thrown) {
    // A program error rather than one of the environment: the equivalent of a panic in Go.
    error = thrown.what();
    metrics_.panics.add();
    throw;
  } catch (...) {
    error = "an exception that is not a std::exception";
    metrics_.panics.add();
    throw;
  }
}

}  // namespace kube::detail
