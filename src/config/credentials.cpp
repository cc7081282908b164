// SPDX-License-Identifier: Apache-2.0
#include <kube/config/credentials.hpp>

#include "exec_plugin.hpp"
#include "files.hpp"
#include "listeners.hpp"
#include "non_blocking_credentials.hpp"
#include "tls_source.hpp"
#include "token_file.hpp"

#include "engine/job.hpp"
#include "engine/readable_watch.hpp"
#include "engine/timer.hpp"
#include <kube/api/validation.hpp>
#include <kube/codec/base64.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace kube {

namespace {

constexpr std::chrono::minutes kCertificateCheck{5};

SecretText bearer(const SecretText& token) {
  if (token.empty()) return {};
  if (!detail::is_header_value(token)) {
    throw ConfigError("the bearer token has control characters in it");
  }
  return "Bearer " + token;
}

/// Process-wide default registry of exec plugins, so that unrelated clients run a plugin once
/// instead of twice. It does not keep plugins alive and has no other effect.
ExecPlugins& default_plugins() {
  static ExecPlugins plugins;
  return plugins;
}

bool is_identified(const Config& config) {
  return !config.bearer_token.empty() || !config.bearer_token_file.empty() ||
         !config.username.empty() || !config.password.empty() ||
         !config.tls.certificate_file.empty() || !config.tls.certificate_data.empty();
}

/// Calls a function every five minutes, without a thread.
class CertificateCheck final : public detail::Job {
 public:
  CertificateCheck(const std::shared_ptr<detail::Scheduler>& scheduler, Clock& clock,
                   std::function<void()> check)
      : Job(detail::Placement::kLibrary),
        clock_(clock),
        check_(std::move(check)),
        timer_(std::in_place, scheduler, clock) {
    bind(scheduler);
  }

  void start() {
    const std::lock_guard guard{mutex_};
    set_timer_locked();
  }
  /// Waits for a call that is under way. The clock is not used afterwards.
  void end() noexcept {
    const std::lock_guard guard{mutex_};
    timer_.reset();
  }

 private:
  void run() noexcept override {
    const std::lock_guard guard{mutex_};
    if (!timer_ || clock_.now() < next_) return;
    check_();
    set_timer_locked();
  }
  void set_timer_locked() noexcept {
    next_ = clock_.now() + kCertificateCheck;
    timer_->set(next_, weak_from_this());
  }

  Clock& clock_;
  const std::function<void()> check_;
  std::mutex mutex_;
  // Guarded by mutex_:
  std::optional<detail::Timer> timer_;  // none after the end
  Clock::TimePoint next_{};
};

/// Waits for a plugin on a loop: for its output, its end and its deadline.
class PluginRenewal final : public detail::Renewal {
 public:
  PluginRenewal(std::shared_ptr<detail::ExecPlugin> plugin, const CredentialsOptions& options,
                detail::Poller poller)
      : poller_(std::move(poller)),
        wait_(std::move(plugin), options, poller_.waker),
        timer_(std::in_place, poller_.scheduler, *options.clock) {
    timer_->set(wait_.deadline(), poller_.waker);
  }
  PluginRenewal(const PluginRenewal&) = delete;
  PluginRenewal& operator=(const PluginRenewal&) = delete;
  ~PluginRenewal() override {
    if (watch_) watch_->end();
  }

  [[nodiscard]] detail::Poll poll() override {
    if (wait_.poll()) return detail::Poll::kReady;
    if (!watch_) {
      detail::FileDescriptor ready = wait_.open_descriptor();
      if (!ready) return detail::Poll::kPending;
      watch_ = std::make_shared<detail::ReadableWatch>(poller_.scheduler, std::move(ready),
                                                       poller_.waker);
    }
    watch_->arm();
    return detail::Poll::kPending;
  }
  void forget_clock() noexcept override { timer_.reset(); }

 private:
  const detail::Poller poller_;
  detail::ExecPlugin::Wait wait_;
  std::optional<detail::Timer> timer_;
  std::shared_ptr<detail::ReadableWatch> watch_;
};

class ConfiguredCredentials final : public Credentials,
                                    public detail::NonBlockingCredentials,
                                    public std::enable_shared_from_this<ConfiguredCredentials> {
 public:
  ConfiguredCredentials(const Config& config, CredentialsOptions options)
      : options_(std::move(options)), tls_(config.tls, *options_.clock, options_.log) {
    if (config.exec && !is_identified(config)) {  // other credentials need no plugin
      ExecPlugins& plugins = options_.exec.plugins ? *options_.exec.plugins : default_plugins();
      plugin_ =
          detail::Inside::core(plugins)->find_or_make(*config.exec, detail::exec_cluster(config));
    } else if (!config.username.empty() || !config.password.empty()) {
      const SecretText pair{config.username + ':' + config.password};
      const SecretText encoded{base64_encode(pair)};
      fixed_ = "Basic " + encoded;
    } else if (!config.bearer_token_file.empty()) {
      token_file_.emplace(config.bearer_token_file, config.bearer_token, *options_.clock,
                          options_.log);
    } else {
      fixed_ = bearer(config.bearer_token);
    }
  }

  /// Notifies listeners also when another user of the plugin renews its certificate.
  void follow_plugin() {
    if (!plugin_) return;
    plugin_changes_ = plugin_->on_certificate_change([self = weak_from_this()] {
      if (const auto alive = self.lock()) static_cast<void>(alive->current());
    });
  }

  std::string authorization(std::stop_token stop) override {
    if (plugin_) return plugin_->get(options_, std::move(stop))->authorization();
    return token_file_ ? bearer(token_file_->token()) : fixed_;
  }

  std::shared_ptr<const TlsMaterial> tls(std::stop_token stop) override {
    if (plugin_) static_cast<void>(plugin_->get(options_, std::move(stop)));
    return current();
  }

  std::optional<std::string> try_authorization() override {
    if (!plugin_) return authorization({});
    const std::shared_ptr<const detail::ExecCredential> usable = plugin_->find_usable(options_);
    return usable ? std::optional<std::string>{usable->authorization()} : std::nullopt;
  }

  std::shared_ptr<const TlsMaterial> try_tls() override {
    if (plugin_ && !plugin_->find_usable(options_)) return nullptr;
    return current();
  }

  std::unique_ptr<detail::Renewal> renew(const detail::Poller& poller) override {
    return std::make_unique<PluginRenewal>(plugin_, options_, poller);
  }

  std::string last_authorization() override {
    if (!plugin_) return authorization({});
    const std::shared_ptr<const detail::ExecCredential> latest = plugin_->latest();
    return latest ? latest->authorization() : std::string{};
  }

  std::shared_ptr<const TlsMaterial> last_tls() override { return current(); }

  void refused(const std::string& authorization) override {
    if (plugin_) plugin_->refused(authorization);  // a file is read again when due
  }

  std::shared_ptr<void> on_identity_change(std::function<void()> changed) override {
    // The thread belongs to the listener, not to the credentials: `changed` may briefly hold their
    // last reference, so they must be destructible on any thread.
    struct Handle {
      std::shared_ptr<void> listener;
      std::jthread checker;
    };
    auto handle = std::make_shared<Handle>();
    handle->listener = changed_.add(std::move(changed));
    if (!tls_.has_certificate_files()) return handle;
    handle->checker =
        std::jthread{[clock = options_.clock, self = weak_from_this()](std::stop_token stop) {
          while (clock->sleep_for(kCertificateCheck, stop)) {
            if (const auto alive = self.lock()) alive->check_certificate();
          }
        }};
    return handle;
  }

  std::shared_ptr<void> on_identity_change(
      std::function<void()> changed, const std::shared_ptr<detail::Scheduler>& scheduler) override {
    struct Handle {
      Handle() = default;
      Handle(const Handle&) = delete;
      Handle& operator=(const Handle&) = delete;
      ~Handle() {
        if (check) check->end();
      }

      std::shared_ptr<void> listener;
      std::shared_ptr<CertificateCheck> check;
    };
    auto handle = std::make_shared<Handle>();
    handle->listener = changed_.add(std::move(changed));
    if (!tls_.has_certificate_files()) return handle;
    handle->check =
        std::make_shared<CertificateCheck>(scheduler, *options_.clock, [self = weak_from_this()] {
          if (const auto alive = self.lock()) alive->check_certificate();
        });
    handle->check->start();
    return handle;
  }

 private:
  std::shared_ptr<const TlsMaterial> current() {
    detail::TlsSource::Current current =
        plugin_ ? tls_.current([this] { return plugin_pair(); }) : tls_.current();
    if (current.has_new_identity) changed_.notify();
    return std::move(current.material);
  }
  detail::TlsSource::Pair plugin_pair() const {
    const std::shared_ptr<const detail::ExecCredential> latest = plugin_->latest();
    if (!latest) return {};
    return {.certificate = latest->certificate, .key = latest->key};
  }
  void check_certificate() noexcept {
    try {
      static_cast<void>(current());
    } catch (const std::exception& error) {
      options_.log.error("cannot check the client certificate: {}", error.what());
    } catch (...) {
      options_.log.error("a listener of client certificates threw an exception of unknown type");
    }
  }

  const CredentialsOptions options_;
  detail::TlsSource tls_;
  SecretText fixed_;
  std::optional<detail::TokenFile> token_file_;
  std::shared_ptr<detail::ExecPlugin> plugin_;
  std::shared_ptr<void> plugin_changes_;
  detail::Listeners changed_;
};

void refuse_auth_provider(const std::string& name) {
  if (name == "gcp" || name == "azure") {
    throw ConfigError("the auth-provider " + name +
                      " has been removed; use an exec plugin instead "
                      "(https://kubernetes.io/docs/reference/access-authn-authz/authentication/"
                      "#client-go-credential-plugins)");
  }
  if (!name.empty()) {
    throw ConfigError("no Auth Provider found for name " + detail::quoted(name) +
                      "; use an exec plugin instead");
  }
}

}  // namespace

std::shared_ptr<Credentials> make_credentials(const Config& config, CredentialsOptions options) {
  if (config.exec && !config.auth_provider.empty()) {
    throw ConfigError("an exec plugin and an auth-provider cannot be used together");
  }
  refuse_auth_provider(config.auth_provider);
  const bool has_token = !config.bearer_token.empty() || !config.bearer_token_file.empty();
  if (has_token && (!config.username.empty() || !config.password.empty())) {
    throw ConfigError("a bearer token and a username or password cannot be used together");
  }
  options.log = options.log.named("credentials");
  const auto credentials = std::make_shared<ConfiguredCredentials>(config, std::move(options));
  credentials->follow_plugin();
  return credentials;
}

}  // namespace kube
