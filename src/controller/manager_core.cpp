// SPDX-License-Identifier: Apache-2.0
#include "manager_core.hpp"

#include "base/deadline.hpp"
#include "client/rest_client.hpp"
#include <kube/controller/client_event_sink.hpp>
#include <kube/controller/identity.hpp>
#include <kube/controller/lease_lock.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace kube::detail {
namespace {

constexpr std::chrono::seconds kFlushLimit{5};

ManagerOptions completed(ManagerOptions options) {
  if (!options.metrics) options.metrics = std::make_shared<Metrics>();
  ClientOptions& client = options.client;
  if (client.clock == &system_clock()) client.clock = options.clock;
  if (!client.metrics) client.metrics = options.metrics;
  if (options.log) {
    client.log = *options.log;
  } else {
    options.log = client.log;
  }
  return options;
}

/// The lease expires even while the machine is suspended.
Clock* election_clock(const ManagerOptions& options) {
  return options.clock == &system_clock() ? &boot_clock() : options.clock;
}

/// Reports a controller without a reconcile function, which would silently do nothing.
std::string no_function(const ControllerDraft& draft) {
  return fmt::format(
      "controller {} has no reconcile function; end what begins with Manager::controller() with "
      ".reconcile(function)",
      draft.name);
}

bool is_off(const std::string& address) { return address.empty() || address == "0"; }

}  // namespace

ManagerCore::ManagerCore(Config config, ManagerOptions options)
    : options_(completed(std::move(options))),
      log_(options_.log->named("manager")),
      clock_(*options_.clock),
      client_(std::move(config), options_.client),
      others_([this](const std::string& name, const std::exception_ptr& error) {
        runnable_failed(name, error);
      }),
      leaders_([this](const std::string& name, const std::exception_ptr& error) {
        runnable_failed(name, error);
      }) {
  FactoryOptions informers{
      .leave_out = options_.cache.leave_out, .metrics = options_.metrics, .name = options_.name};
  informers.clock = options_.clock;
  informers.random = options_.random;
  informers.log = options_.log->named("cache");
  informers.resync_jitter = 0;  // sync_period has its own jitter
  cache_ =
      std::make_unique<CacheCore>(client_, options_.cache, std::move(informers), options_.random);
  make_elector();
}

ManagerCore::~ManagerCore() {
  if (runs_here()) {
    // The destructor would wait for its own thread, and run() would use destroyed members.
    const Logger log = log_.enabled(LogLevel::kError) ? log_ : stderr_logger();
    log.error(
        "a manager was destroyed by one of its own controllers or runnables, for which the "
        "destructor has to wait; request a stop of the token given to run() instead, and destroy "
        "the manager after run() has returned");
    std::terminate();
  }
  {
    const std::lock_guard guard{mutex_};
    for (const auto& draft : drafts_) draft->manager = nullptr;
  }
  if (stopper_.joinable()) stopper_.join();
}

void ManagerCore::make_elector() {
  const ManagerElectionOptions& election = options_.leader_election;
  if (election.name.empty()) return;
  const std::string space = election.namespace_.empty() ? pod_namespace() : election.namespace_;
  ClientOptions client = options_.client;
  // The lock of the election makes its own connections, on a loop of its own; this client makes
  // none.
  if (!client.transport) client.runtime = Inside::core(client_)->runtime();
  auto lock = std::make_shared<LeaseLock>(
      Client{election_config(client_.config(), election.renew_deadline), std::move(client)},
      LeaseLockOptions{.namespace_ = space,
                       .name = election.name,
                       .identity = election.identity.empty() ? make_identity() : election.identity,
                       .labels = election.labels,
                       .recorder = event_recorder(election.name),
                       .clock = election_clock(options_)});
  LeaderElectionOptions options{.lease_duration = election.lease_duration,
                                .renew_deadline = election.renew_deadline,
                                .retry_period = election.retry_period,
                                .release_on_cancel = election.release_on_cancel,
                                .name = election.name};
  options.on_started_leading = [this](const std::stop_token& stop) { lead(stop); };
  options.on_stopped_leading = [] {};
  options.on_new_leader = election.on_new_leader;
  options.clock = election_clock(options_);
  options.random = options_.random;
  options.log = *options_.log;
  options.metrics = options_.metrics;
  elector_ = std::make_unique<LeaderElector>(std::move(lock), std::move(options));
}

bool ManagerCore::runs_here() const {
  if (others_.runs_here() || leaders_.runs_here()) return true;
  const std::lock_guard guard{mutex_};
  return std::ranges::any_of(controllers_,
                             [](const auto& controller) { return controller->runs_here(); });
}

std::shared_ptr<ControllerDraft> ManagerCore::begin_controller(std::string name) {
  auto draft = std::make_shared<ControllerDraft>(this, name);
  draft->plan.name = std::move(name);
  const std::lock_guard guard{mutex_};
  std::erase_if(drafts_, [](const auto& other) { return other->finished.load(); });
  drafts_.push_back(draft);
  return draft;
}

void ManagerCore::drop_controller(const ControllerDraft& draft) noexcept {
  {
    const std::lock_guard guard{mutex_};
    if (!started_) return;
  }
  try {
    const std::string problem = no_function(draft);
    log_.error("{}", problem);
    fail(std::make_exception_ptr(std::logic_error(problem)));
  } catch (...) {  // no memory
    fail(std::current_exception());
  }
}

void ManagerCore::check_drafts_locked() const {
  for (const auto& draft : drafts_) {
    if (!draft->finished) throw std::logic_error(no_function(*draft));
  }
}

void ManagerCore::add_controller(ControllerPlan plan) {
  auto controller = std::make_shared<ControllerCore>(std::move(plan), options_, *cache_);
  bool warm = false;
  {
    const std::lock_guard guard{mutex_};
    controllers_.push_back(controller);
    warm = warm_;
  }
  if (warm && controller->warms_up()) controller->start_sources();
  add([controller](std::stop_token stop) { controller->run(std::move(stop)); },
      "controller " + controller->name(), controller->needs_leader_election());
}

void ManagerCore::add(RunnableGroup::Run runnable, const std::string& name,
                      bool needs_leader_election) {
  (needs_leader_election ? leaders_ : others_).add(name, std::move(runnable));
}

void ManagerCore::add_check(HealthChecks& checks, std::string name, HealthCheck check) {
  const std::lock_guard guard{mutex_};
  if (started_) throw std::logic_error("checks cannot be added to a manager that runs");
  checks.add(std::move(name), std::move(check));
}

void ManagerCore::add_metrics_path(std::string path, std::function<HttpReply()> answer) {
  const std::lock_guard guard{mutex_};
  if (started_) throw std::logic_error("paths cannot be added to a manager that runs");
  if (path.empty() || path.front() != '/' || path == "/metrics" ||
      !metrics_paths_.emplace(path, std::move(answer)).second) {
    throw std::invalid_argument(fmt::format("cannot serve \"{}\" beside /metrics", path));
  }
}

HealthCheck ManagerCore::leader_election_check(Clock::Duration tolerance) const {
  return [this, tolerance]() -> std::optional<std::string> {
    return elector_ ? elector_->health_problem(tolerance) : std::nullopt;
  };
}

std::shared_ptr<EventRecorder> ManagerCore::event_recorder(const std::string& component) {
  const std::lock_guard guard{mutex_};
  auto& recorder = recorders_[component];
  if (!recorder) {
    EventRecorderOptions options{.component = component};
    options.clock = options_.clock;
    options.random = options_.random;
    options.log = *options_.log;
    recorder = std::make_shared<EventRecorder>(
        std::make_shared<ClientEventSink<core::v1::Event>>(client_), std::move(options));
  }
  return recorder;
}

HttpReply ManagerCore::metrics_answer(std::string_view path) const {
  if (path == "/metrics") {
    return {.content_type = std::string{Metrics::kContentType}, .body = options_.metrics->text()};
  }
  const auto found = metrics_paths_.find(path);
  return found == metrics_paths_.end() ? HttpReply{.status = 404, .body = "not found\n"}
                                       : found->second();
}

HttpReply ManagerCore::health_answer(std::string_view path, std::string_view query) const {
  for (const auto& [prefix, checks] : {std::pair{std::string_view{"/healthz"}, &healthz_},
                                       std::pair{std::string_view{"/readyz"}, &readyz_}}) {
    if (!path.starts_with(prefix) || checks->empty()) continue;
    const std::string_view rest = path.substr(prefix.size());
    if (rest.empty() || rest.front() == '/') return checks->answer(rest, query);
  }
  return {.status = 404, .body = "not found\n"};
}

std::string ManagerCore::metrics_address() const {
  const std::lock_guard guard{mutex_};
  return metrics_server_ ? metrics_server_->address() : "";
}

std::string ManagerCore::health_address() const {
  const std::lock_guard guard{mutex_};
  return health_server_ ? health_server_->address() : "";
}

void ManagerCore::start_endpoints() {
  const auto refused = [&](const char* reason) {
    return options_.metrics->counter("kubecxx_endpoint_refused_total",
                                     "Connections of health checks and metrics that were refused.",
                                     {{"reason", reason}});
  };
  const auto serve = [&](const std::string& address, Endpoint::Answer answer) {
    if (is_off(address)) return std::unique_ptr<Endpoint>{};
    EndpointOptions endpoint{.address = address};
    endpoint.clock = options_.clock;
    endpoint.log = log_;
    endpoint.runtime = Inside::core(client_)->runtime();
    endpoint.slow = refused("slow");
    endpoint.large = refused("large");
    endpoint.crowded = refused("crowded");
    return std::make_unique<Endpoint>(std::move(endpoint), std::move(answer));
  };
  auto metrics = serve(options_.metrics_address, [this](std::string_view path, std::string_view) {
    return metrics_answer(path);
  });
  auto health = serve(
      options_.health_address,
      [this](std::string_view path, std::string_view query) { return health_answer(path, query); });
  const std::lock_guard guard{mutex_};
  metrics_server_ = std::move(metrics);
  health_server_ = std::move(health);
}

void ManagerCore::start(const std::stop_token& stop) {
  start_endpoints();
  cache_->start();
  const CacheSync synced = cache_->wait_for_sync(stop, options_.cache_sync_timeout);
  if (stop.stop_requested()) return;
  synced.or_throw();
  others_.start();
  std::vector<std::shared_ptr<ControllerCore>> controllers;
  {
    const std::lock_guard guard{mutex_};
    warm_ = true;
    controllers = controllers_;
  }
  for (const auto& controller : controllers) {
    if (controller->warms_up()) controller->start_sources();
  }
  if (!elector_) return start_leading();
  elector_->start();
  election_started_ = true;
}

void ManagerCore::start_leading() {
  elected_.fire();
  leaders_.start();
}

void ManagerCore::lead(const std::stop_token& stop) {
  std::exception_ptr failure;
  try {
    start_leading();
    static_cast<void>(DoneSignal{}.wait(stop));
  } catch (...) {  // no memory, or no thread
    failure = std::current_exception();
  }
  if (!failure && !election_stopping_) {
    {
      const std::lock_guard guard{mutex_};
      leadership_lost_ = true;
    }
    leaders_.request_stop();
    fail(std::make_exception_ptr(LeadershipLostError("the leadership was lost")));
  }
  // The elector may release the lease now; another process must not begin before all work has
  // ended.
  leaders_.stop_and_wait();
  if (!failure) return;
  fail(failure);
  std::rethrow_exception(failure);
}

void ManagerCore::runnable_failed(const std::string& name,
                                  const std::exception_ptr& error) noexcept {
  fail(error);
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& thrown) {
    log_.error("{} failed: {}", name, thrown.what());
  } catch (...) {
    log_.error("{} failed: it threw an exception that is not a std::exception", name);
  }
}

void ManagerCore::fail(std::exception_ptr error) noexcept {
  const std::lock_guard guard{mutex_};
  if (!failure_) failure_ = std::move(error);
  changed_.notify_all();
}

void ManagerCore::run(std::stop_token stop) {
  {
    const std::lock_guard guard{mutex_};
    check_drafts_locked();
    if (std::exchange(started_, true)) throw std::logic_error("the manager was started already");
  }
  try {
    start(stop);
  } catch (...) {
    fail(std::current_exception());
  }
  {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, stop, [this] { return failure_ != nullptr; });
  }
  log_.info("stopping");
  try {
    stopper_ = std::jthread{[this] { stop_all(); }};
  } catch (const std::system_error& error) {
    // In this case, work that does not end blocks run(), too.
    log_.error("cannot start a thread that stops the others, stopping them here: {}", error.what());
    stop_all();
  }

  const Clock::Duration grace = options_.graceful_shutdown_timeout;
  std::unique_lock lock{mutex_};
  if (grace != Clock::Duration{} && !leadership_lost_) {
    const Clock::TimePoint until =
        grace < Clock::Duration{} ? Clock::TimePoint::max() : time_after(clock_, grace);
    clock_.wait_until(lock, changed_, until, {},
                      [this] { return work_ended_ || leadership_lost_; });
    if (work_ended_) {
      lock.unlock();
      if (stopper_.joinable()) stopper_.join();
      lock.lock();
    } else if (!leadership_lost_ && !failure_) {
      failure_ = std::make_exception_ptr(ShutdownTimeoutError(
          fmt::format("some controllers or runnables did not end within {} s after the stop",
                      std::chrono::duration<double>{grace}.count())));
    }
  }
  if (failure_) std::rethrow_exception(failure_);
}

void ManagerCore::stop_all() noexcept {
  others_.stop_and_wait();
  leaders_.stop_and_wait();
  try {
    cache_->shutdown();
  } catch (const std::exception& error) {
    log_.error("the caches cannot be stopped in order: {}", error.what());
  }
  {
    std::unique_ptr<Endpoint> metrics;
    std::unique_ptr<Endpoint> health;
    const std::lock_guard guard{mutex_};
    metrics.swap(metrics_server_);
    health.swap(health_server_);
  }
  {
    const std::lock_guard guard{mutex_};
    work_ended_ = true;
    changed_.notify_all();
  }
  election_stopping_ = true;
  if (election_started_) {
    elector_->request_stop();
    static_cast<void>(elector_->ended().wait({}));
  }
  try {
    std::map<std::string, std::shared_ptr<EventRecorder>> recorders;
    {
      const std::lock_guard guard{mutex_};
      recorders = recorders_;
    }
    for (const auto& [component, recorder] : recorders) {
      static_cast<void>(recorder->flush(kFlushLimit));
    }
  } catch (const std::exception& error) {
    log_.error("events may be lost: {}", error.what());
  }
}

}  // namespace kube::detail
