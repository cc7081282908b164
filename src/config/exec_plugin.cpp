// SPDX-License-Identifier: Apache-2.0
#include "exec_plugin.hpp"

#include "exec_versions.hpp"
#include "process.hpp"

#include "base/text.hpp"
#include "config/pem.hpp"
#include <kube/api/validation.hpp>

#include <fmt/format.h>

#include <map>
#include <system_error>

namespace kube {

namespace detail {

namespace {

constexpr int kHelpPerWindow = 10;
constexpr std::chrono::hours kHelpWindow{1};

/// Thrown on a stop, which is not an error of the plugin.
class Stopped : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

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

std::shared_ptr<const ExecCredential> ExecPlugin::get(const CredentialsOptions& caller,
                                                      std::stop_token stop) {
  std::unique_lock lock{mutex_};
  while (!is_usable_locked(caller)) {
    if (!run_) return run_shared(lock, caller, stop);
    const std::shared_ptr<Run> run = run_;
    if (!finished_.wait(lock, stop, [&] { return run->is_done; })) {
      throw Stopped("exec plugin " + quoted(config_.command) + ": stopped while waiting for it");
    }
    if (run->answer) return run->answer;
    if (!run->was_stopped) throw_problem(*run);
  }
  return latest_;
}

std::shared_ptr<const ExecCredential> ExecPlugin::find_usable(
    const CredentialsOptions& caller) const {
  const std::scoped_lock lock{mutex_};
  return is_usable_locked(caller) ? latest_ : nullptr;
}

void ExecPlugin::run_into(Run& run, const CredentialsOptions& caller,
                          std::stop_token stop) const noexcept {
  try {
    try {
      run.answer = std::make_shared<const ExecCredential>(this->run(caller, stop));
    } catch (const Stopped& stopped) {
      run.was_stopped = true;
      run.problem = stopped.what();
    } catch (const std::exception& error) {
      run.problem = "exec plugin " + quoted(config_.command) + ": " + error.what();
    } catch (...) {  // thrown by a hook; waiting callers must be released
      run.problem = "exec plugin " + quoted(config_.command) + ": unknown error";
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for a message; get() has a fixed one
  }
}

std::shared_ptr<const ExecCredential> ExecPlugin::run_shared(std::unique_lock<std::mutex>& lock,
                                                             const CredentialsOptions& caller,
                                                             std::stop_token stop) {
  const auto run = std::make_shared<Run>();
  run_ = run;
  lock.unlock();
  run_into(*run, caller, std::move(stop));
  lock.lock();
  // Nothing may throw from here until the run is done: the waiting callers would block for ever.
  bool has_new_certificate = false;
  bool is_hidden = false;
  if (run->answer) {
    has_new_certificate = latest_ && (latest_->certificate != run->answer->certificate ||
                                      latest_->key != run->answer->key);
    latest_ = run->answer;
    is_refused_ = false;
  } else if (!run->was_stopped && latest_ && !has_expired_locked(caller)) {
    // The credential was refused, but other servers may accept it; the next refusal causes the next
    // run.
    run->answer = latest_;
    is_refused_ = false;
    is_hidden = true;
  }
  run->is_done = true;
  run_.reset();
  finished_.notify_all();
  lock.unlock();
  if (is_hidden) caller.log.error("the older credential stays in use: {}", run->problem);
  if (has_new_certificate) certificate_changed_.notify();
  if (run->answer) return run->answer;
  throw_problem(*run);
}

void ExecPlugin::throw_problem(const Run& run) const {
  if (run.was_stopped) throw Stopped(run.problem);
  if (!run.problem.empty()) throw ConfigError(run.problem);
  throw ConfigError("exec plugin " + quoted(config_.command) + ": there was not enough memory");
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

ExecCredential ExecPlugin::run(const CredentialsOptions& caller, std::stop_token stop) const {
  if (stop.stop_requested()) {
    throw Stopped("exec plugin " + quoted(config_.command) + ": stopped before it ran");
  }
  const ExecOptions& options = caller.exec;
  const auto called = [&](int exit_code, ExecOutcome outcome) {
    if (options.on_call) options.on_call(exit_code, outcome);
  };
  const bool interactive = is_interactive(caller);
  std::map<std::string, std::string> variables = caller.environment.variables();
  ProcessOptions process{.program = find_program(config_.command, variables["PATH"]),
                         .arguments = {config_.command},
                         .inherits_stdin = interactive,
                         .max_output = options.max_output,
                         .deadline = std::chrono::duration_cast<Clock::Duration>(options.deadline)};
  if (process.program.empty()) {
    called(1, ExecOutcome::kNotFound);
    throw ConfigError("the executable was not found" + help(*caller.clock));
  }
  process.arguments.insert(process.arguments.end(), config_.args.begin(), config_.args.end());
  for (const auto& [name, value] : config_.env) variables[name] = value;
  variables["KUBERNETES_EXEC_INFO"] =
      exec_info(config_.api_version, interactive, config_.provide_cluster_info ? cluster_ : "");
  for (const auto& [name, value] : variables) {
    process.environment.push_back(fmt::format("{}={}", name, value));
  }

  ProcessResult result;
  try {
    result = run_process(process, *caller.clock, stop);
  } catch (const std::system_error& error) {
    called(1, ExecOutcome::kInternalError);
    throw ConfigError(error.what());
  }
  const auto fail = [&](int exit_code, ExecOutcome outcome, const std::string& problem) {
    called(exit_code, outcome);
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
    case ProcessResult::End::kTimedOut:
      fail(1, ExecOutcome::kInternalError,
           fmt::format("it did not end within {} s and was killed",
                       std::chrono::duration<double>(options.deadline).count()));
      break;
    case ProcessResult::End::kTooMuchOutput:
      fail(1, ExecOutcome::kInternalError,
           fmt::format("it printed more than {} bytes and was killed", options.max_output));
      break;
    case ProcessResult::End::kStopped:
      throw Stopped("exec plugin " + quoted(config_.command) + ": stopped while it ran");
  }
  called(0, ExecOutcome::kSuccess);
  ExecCredential credential = parse_exec_credential(result.output, config_.api_version);
  if (options.on_certificate) {
    options.on_certificate(credential.certificate.empty()
                               ? std::nullopt
                               : std::optional{expiry_of(credential.certificate)});
  }
  return credential;
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
