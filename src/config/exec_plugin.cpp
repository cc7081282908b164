// SPDX-License-Identifier: Apache-2.0
#include "exec_plugin.hpp"

#include "exec_versions.hpp"
#include "files.hpp"

#include "base/deadline.hpp"
#include "base/text.hpp"
#include "config/pem.hpp"
#include <kube/api/validation.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <system_error>
#include <utility>

namespace kube {

namespace detail {

using namespace std::chrono_literals;

namespace {

constexpr int kHelpPerWindow = 10;
constexpr std::chrono::hours kHelpWindow{1};

/// Wakes a thread that waits in poll().
class ThreadWaker final : public Waker {
 public:
  ThreadWaker() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!event_) throw std::system_error(errno, std::generic_category(), "cannot make an eventfd");
  }
  void wake() noexcept override { ::eventfd_write(event_.get(), 1); }
  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }
  void clear() const noexcept {
    eventfd_t wakes = 0;
    (void)::eventfd_read(event_.get(), &wakes);
  }

 private:
  const FileDescriptor event_;
};

/// A deadline for a thread that waits in poll(). A clock that is moved by hand wakes that thread.
class PollDeadline final : public ClockTimers {
 public:
  PollDeadline(Clock& clock, Clock::TimePoint time, Waker& waker)
      : clock_(clock), time_(time), waker_(waker), by_hand_(clock.attach(*this)) {
    clock_.timers_changed();
  }
  ~PollDeadline() override {
    clock_.detach(*this);
    clock_.timers_changed();
  }
  PollDeadline(const PollDeadline&) = delete;
  PollDeadline& operator=(const PollDeadline&) = delete;

  /// Returns the timeout for poll(), in milliseconds. It may end before the deadline.
  [[nodiscard]] int timeout() const {
    if (by_hand_) return -1;
    // Other clocks may run faster than the clock of poll().
    const Clock::Duration most = &clock_ == &system_clock() ? 1h : 250ms;
    const auto left = std::clamp(time_ - clock_.now(), Clock::Duration{}, most);
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
  }

  void time_moved() noexcept override { waker_.wake(); }
  [[nodiscard]] std::size_t pending(Clock::TimePoint now) const noexcept override {
    return time_ > now ? 1 : 0;
  }
  [[nodiscard]] Clock::TimePoint next_after(Clock::TimePoint now) const noexcept override {
    return time_ > now ? time_ : Clock::TimePoint::max();
  }

 private:
  Clock& clock_;
  const Clock::TimePoint time_;
  Waker& waker_;
  const bool by_hand_;  // the last member: the clock calls this object from here on
};

void wake_all(const std::vector<std::weak_ptr<Waker>>& wakers) noexcept {
  for (const std::weak_ptr<Waker>& weak : wakers) {
    if (const auto waker = weak.lock()) waker->wake();
  }
}

}  // namespace

ExecPlugin::ExecPlugin(ExecConfig config, std::string cluster)
    : config_(std::move(config)), cluster_(std::move(cluster)) {
  if (config_.api_version != kExecV1 && config_.api_version != kExecV1Beta1) {
    throw ConfigError(fmt::format("exec plugin: apiVersion {} is not supported, only {} and {} are",
                                  quoted(config_.api_version), kExecV1, kExecV1Beta1));
  }
  if (config_.command.empty()) throw ConfigError("exec plugin: there is no command");
  const ExecInteractiveMode mode = interactive_mode(config_);
  if (mode == ExecInteractiveMode::kUnset || mode == ExecInteractiveMode::kUnknown) {
    throw ConfigError("exec plugin: interactiveMode must be Never, IfAvailable or Always");
  }
}

bool ExecPlugin::has_expired_locked(const CredentialsOptions& caller) const {
  return latest_->expires && caller.clock->wall_now() > *latest_->expires;
}

std::shared_ptr<const ExecCredential> ExecPlugin::find_usable(
    const CredentialsOptions& caller) const {
  const std::scoped_lock lock{mutex_};
  return is_usable_locked(caller) ? latest_ : nullptr;
}

std::shared_ptr<const ExecCredential> ExecPlugin::get(const CredentialsOptions& caller,
                                                      std::stop_token stop) {
  if (auto usable = find_usable(caller)) return usable;
  if (stop.stop_requested()) throw ConfigError(message("stopped before it ran"));
  try {
    const auto waker = std::make_shared<ThreadWaker>();
    Wait wait{shared_from_this(), caller, waker};
    const std::stop_callback on_stop{stop, [&]() noexcept { waker->wake(); }};
    const PollDeadline deadline{*caller.clock, wait.deadline(), *waker};
    FileDescriptor ready;
    for (;;) {
      waker->clear();  // before the look at what it may have reported
      if (auto answer = wait.poll()) return answer;
      if (stop.stop_requested()) throw ConfigError(message("stopped while waiting for it"));
      if (!ready) ready = wait.open_descriptor();
      // poll() ignores negative descriptors.
      std::array<pollfd, 2> events{
          {{.fd = waker->descriptor(), .events = POLLIN, .revents = 0},
           {.fd = ready.get(), .events = POLLIN, .revents = 0}}};
      if (::poll(events.data(), events.size(), deadline.timeout()) < 0 && errno != EINTR) {
        throw std::system_error(errno, std::generic_category(), "cannot wait for the program");
      }
    }
  } catch (const std::system_error& error) {
    throw ConfigError(message(error.what()));
  }
}

ExecPlugin::Wait::Wait(std::shared_ptr<ExecPlugin> plugin, const CredentialsOptions& caller,
                       std::weak_ptr<Waker> waker)
    : plugin_(std::move(plugin)),
      caller_(caller),
      waker_(std::move(waker)),
      deadline_(time_after(*caller.clock,
                           std::chrono::duration_cast<Clock::Duration>(caller.exec.deadline))) {}

ExecPlugin::Wait::~Wait() {
  if (!run_) return;
  std::unique_lock lock{plugin_->mutex_};
  if (--run_->waits > 0 || run_->is_busy || run_->is_done) return;
  plugin_->abandon(lock, run_);
}

std::shared_ptr<const ExecCredential> ExecPlugin::Wait::poll() {
  std::unique_lock lock{plugin_->mutex_};
  for (;;) {
    if (!run_) {
      if (plugin_->is_usable_locked(caller_)) return plugin_->latest_;
      if (!plugin_->run_) plugin_->run_ = std::make_shared<Run>();
      run_ = plugin_->run_;
      ++run_->waits;
    }
    Run& run = *run_;
    if (run.is_done) {
      if (auto answer = take_result(lock)) return answer;
      continue;  // the run had no result
    }
    note_lateness_locked();
    if (run.is_busy) break;
    run.is_busy = true;
    const auto exceeded = run.exceeded;
    lock.unlock();
    const bool has_result = plugin_->advance(run, caller_, exceeded);
    std::unique_ptr<Process> ended;  // destroyed without the lock
    Wakers wakers;
    lock.lock();
    run.is_busy = false;
    const bool has_new_certificate = has_result && plugin_->finish_locked(run, caller_);
    if (has_result) ended = std::move(run.process);
    if (has_result || !std::exchange(run.is_started, true)) {
      wakers = take_wakers_locked(run);
    } else if (run.exceeded == exceeded) {
      break;
    }
    lock.unlock();
    ended.reset();
    wake_all(wakers);
    if (has_new_certificate) plugin_->certificate_changed_.notify();
    lock.lock();
  }
  register_locked();
  return nullptr;
}

void ExecPlugin::Wait::note_lateness_locked() {
  if (!run_->exceeded && caller_.clock->now() >= deadline_) {
    run_->exceeded = caller_.exec.deadline;
  }
}

void ExecPlugin::Wait::register_locked() {
  if (registered_ == run_->round) return;
  run_->wakers.push_back(waker_);
  registered_ = run_->round;
}

/// Returns null if the run had no result, so that another one is needed.
std::shared_ptr<const ExecCredential> ExecPlugin::Wait::take_result(
    std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<Run> run = std::exchange(run_, nullptr);
  registered_ = 0;
  --run->waits;
  if (run->was_stopped) return nullptr;
  const bool reports = !std::exchange(run->is_reported, true);
  lock.unlock();
  if (reports) plugin_->report(*run, caller_);
  if (!run->answer) plugin_->throw_problem(*run);
  return run->answer;
}

FileDescriptor ExecPlugin::Wait::open_descriptor() const {
  const std::scoped_lock lock{plugin_->mutex_};
  if (!run_ || !run_->is_started || run_->is_done) return {};
  FileDescriptor copy{::fcntl(run_->process->descriptor(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
  if (copy) return copy;
  const int code = errno;
  throw ConfigError(plugin_->message("cannot wait for the program: " + error_text(code)));
}

ExecPlugin::Wakers ExecPlugin::take_wakers_locked(Run& run) noexcept {
  ++run.round;
  return std::exchange(run.wakers, {});
}

bool ExecPlugin::finish_locked(Run& run, const CredentialsOptions& caller) noexcept {
  bool has_new_certificate = false;
  if (run.answer) {
    has_new_certificate = latest_ && (latest_->certificate != run.answer->certificate ||
                                      latest_->key != run.answer->key);
    latest_ = run.answer;
    is_refused_ = false;
  } else if (latest_ && !has_expired_locked(caller)) {
    // The credential was refused, but other servers may accept it; the next refusal causes the next
    // run.
    run.answer = latest_;
    run.keeps_older = true;
    is_refused_ = false;
  }
  run.is_done = true;
  run_.reset();
  return has_new_certificate;
}

void ExecPlugin::abandon(std::unique_lock<std::mutex>& lock,
                         const std::shared_ptr<Run>& run) noexcept {
  run->is_busy = true;  // until the program has ended, so that it never runs twice
  run->is_started = false;
  lock.unlock();
  run->process.reset();
  lock.lock();
  run->is_busy = false;
  run->was_stopped = true;
  run->is_done = true;
  run_.reset();
  const Wakers wakers = take_wakers_locked(*run);
  lock.unlock();
  wake_all(wakers);
}

void ExecPlugin::report(const Run& run, const CredentialsOptions& caller) const {
  const ExecOptions& options = caller.exec;
  if (run.keeps_older) caller.log.error("the older credential stays in use: {}", run.problem);
  try {
    if (options.on_call && run.outcome) options.on_call(run.exit_code, *run.outcome);
    if (options.on_certificate && run.answer && !run.keeps_older) {
      const std::string& certificate = run.answer->certificate;
      options.on_certificate(certificate.empty() ? std::nullopt
                                                 : std::optional{expiry_of(certificate)});
    }
  } catch (const std::exception& error) {
    throw ConfigError(message(error.what()));
  } catch (...) {
    throw ConfigError(message("a hook threw an exception of unknown type"));
  }
}

std::string ExecPlugin::message(std::string_view problem) const {
  return fmt::format("exec plugin {}: {}", quoted(config_.command), problem);
}

void ExecPlugin::throw_problem(const Run& run) const {
  throw ConfigError(run.problem.empty() ? message("there was not enough memory") : run.problem);
}

std::shared_ptr<const ExecCredential> ExecPlugin::latest() const {
  const std::scoped_lock lock{mutex_};
  return latest_;
}

void ExecPlugin::refused(const std::string& authorization) {
  const std::scoped_lock lock{mutex_};
  if (latest_ && latest_->authorization() == authorization) is_refused_ = true;
}

bool ExecPlugin::is_interactive(const CredentialsOptions& caller) const {
  const ExecInteractiveMode mode = interactive_mode(config_);
  if (mode == ExecInteractiveMode::kNever) return false;
  const bool is_terminal = caller.environment.stdin_is_terminal();
  if (mode == ExecInteractiveMode::kAlways) {
    if (config_.stdin_unavailable) {
      throw ConfigError("it must ask the user, but the standard input is used for something else");
    }
    if (!is_terminal) {
      throw ConfigError("it must ask the user, but the standard input is not a terminal");
    }
  }
  return is_terminal && !config_.stdin_unavailable;
}

std::string ExecPlugin::help(Clock& clock) const {
  const std::scoped_lock lock{mutex_};
  const Clock::TimePoint now = clock.now();
  if (help_count_ == 0 || now - help_since_ >= kHelpWindow) {
    help_since_ = now;
    help_count_ = 0;
  }
  if (help_count_ >= kHelpPerWindow) return {};
  ++help_count_;
  std::string text =
      "\n\nThe kubeconfig uses this program to authenticate. Install it, and add its folder to "
      "PATH.\nSee "
      "https://kubernetes.io/docs/reference/access-authn-authz/authentication/"
      "#client-go-credential-plugins";
  if (!config_.install_hint.empty()) text += "\n\n" + escape_control(config_.install_hint, "\t\n");
  return text;
}

bool ExecPlugin::advance(Run& run, const CredentialsOptions& caller,
                         std::optional<std::chrono::milliseconds> exceeded) const noexcept {
  try {
    try {
      if (!run.process) {
        run.process = start(run, caller);
        return false;
      }
      if (exceeded) run.process->kill();
      if (!run.process->advance()) return false;
      run.answer = std::make_shared<const ExecCredential>(read_result(run, caller, exceeded));
    } catch (const std::system_error& error) {
      run.exit_code = 1;
      run.outcome = ExecOutcome::kInternalError;
      run.problem = message(error.what());
    } catch (const std::exception& error) {
      run.problem = message(error.what());
    } catch (...) {  // thrown by a function of the environment
      run.problem = message("unknown error");
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for it; throw_problem() has a text
  }
  return true;
}

std::unique_ptr<Process> ExecPlugin::start(Run& run, const CredentialsOptions& caller) const {
  const bool interactive = is_interactive(caller);
  std::map<std::string, std::string> variables = caller.environment.variables();
  ProcessOptions process{.program = find_program(config_.command, variables["PATH"]),
                         .arguments = {config_.command},
                         .inherits_stdin = interactive,
                         .max_output = caller.exec.max_output};
  if (process.program.empty()) {
    run.exit_code = 1;
    run.outcome = ExecOutcome::kNotFound;
    throw ConfigError("the executable was not found" + help(*caller.clock));
  }
  process.arguments.insert(process.arguments.end(), config_.args.begin(), config_.args.end());
  for (const auto& [name, value] : config_.env) variables[name] = value;
  variables["KUBERNETES_EXEC_INFO"] =
      exec_info(config_.api_version, interactive, config_.provide_cluster_info ? cluster_ : "");
  for (const auto& [name, value] : variables) {
    process.environment.push_back(fmt::format("{}={}", name, value));
  }
  return std::make_unique<Process>(process);
}

ExecCredential ExecPlugin::read_result(Run& run, const CredentialsOptions& caller,
                                       std::optional<std::chrono::milliseconds> exceeded) const {
  const ProcessResult& result = run.process->result();
  const auto fail = [&](int exit_code, ExecOutcome outcome, const std::string& problem) {
    run.exit_code = exit_code;
    run.outcome = outcome;
    throw ConfigError(problem);
  };
  switch (result.end) {
    case ProcessResult::End::kExited:
      if (result.code == 0) break;
      fail(result.code, ExecOutcome::kFailed,
           fmt::format("it failed with exit code {}", result.code));
      break;
    case ProcessResult::End::kSignaled:
      fail(-1, ExecOutcome::kFailed, fmt::format("it was killed by signal {}", result.code));
      break;
    case ProcessResult::End::kKilled:
      fail(1, ExecOutcome::kInternalError,
           fmt::format("it did not end within {} s and was killed",
                       std::chrono::duration<double>(exceeded.value()).count()));
      break;
    case ProcessResult::End::kTooMuchOutput:
      fail(1, ExecOutcome::kInternalError,
           fmt::format("it printed more than {} bytes and was killed", caller.exec.max_output));
      break;
  }
  run.exit_code = 0;
  run.outcome = ExecOutcome::kSuccess;
  return parse_exec_credential(result.output, config_.api_version);
}

std::shared_ptr<ExecPlugin> ExecPluginTable::find_or_make(const ExecConfig& config,
                                                          const std::string& cluster) {
  const std::scoped_lock lock{mutex_};
  std::erase_if(plugins_, [](const auto& plugin) { return plugin.expired(); });
  for (const std::weak_ptr<ExecPlugin>& weak : plugins_) {
    std::shared_ptr<ExecPlugin> plugin = weak.lock();
    if (plugin && plugin->serves(config, cluster)) return plugin;
  }
  auto plugin = std::make_shared<ExecPlugin>(config, cluster);
  plugins_.push_back(plugin);
  return plugin;
}

}  // namespace detail

ExecPlugins::ExecPlugins() : core_(std::make_shared<detail::ExecPluginTable>()) {}

}  // namespace kube
