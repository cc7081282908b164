// SPDX-License-Identifier: Apache-2.0
#include <kube/config/credentials.hpp>

#include "files.hpp"
#include "listeners.hpp"
#include "tls_source.hpp"
#include "token_file.hpp"

#include <kube/api/validation.hpp>
#include <kube/codec/base64.hpp>

#include <mutex>
#include <optional>
#include <thread>

namespace kube {

namespace {

constexpr std::chrono::minutes kCertificateCheck{5};

std::string bearer(const std::string& token) {
  if (token.empty()) return {};
  if (!detail::is_header_value(token)) {
    throw ConfigError("the bearer token has control characters in it");
  }
  return "Bearer " + token;
}

class ConfiguredCredentials final : public Credentials {
 public:
  ConfiguredCredentials(const Config& config, const CredentialsOptions& options)
      : clock_(*options.clock),
        log_(options.log.named("credentials")),
        tls_(config.tls, clock_, log_) {
    if (!config.username.empty() || !config.password.empty()) {
      fixed_ = "Basic " + base64_encode(config.username + ':' + config.password);
    } else if (!config.bearer_token_file.empty()) {
      token_file_.emplace(config.bearer_token_file, config.bearer_token, clock_, log_);
    } else {
      fixed_ = bearer(config.bearer_token);
    }
  }

  std::string authorization(std::stop_token) override {
    return token_file_ ? bearer(token_file_->token()) : fixed_;
  }

  std::shared_ptr<const TlsMaterial> tls(std::stop_token) override {
    detail::TlsSource::Current current = tls_.current();
    if (current.has_new_identity) changed_.notify();
    return std::move(current.material);
  }

  void refused(const std::string&) override {}  // a file may be newer, but its time will come

  std::shared_ptr<void> on_identity_change(std::function<void()> changed) override {
    std::shared_ptr<void> handle = changed_.add(std::move(changed));
    if (!tls_.has_certificate_files()) return handle;
    const std::scoped_lock lock{checker_mutex_};
    if (!checker_.joinable()) {
      checker_ = std::jthread{[this](std::stop_token stop) { check_certificate(stop); }};
    }
    return handle;
  }

 private:
  void check_certificate(std::stop_token stop) {
    while (clock_.sleep_for(kCertificateCheck, stop)) static_cast<void>(tls(stop));
  }

  Clock& clock_;
  const Logger log_;
  detail::TlsSource tls_;
  std::string fixed_;
  std::optional<detail::TokenFile> token_file_;
  detail::Listeners changed_;
  std::mutex checker_mutex_;
  std::jthread checker_;  // last member: it uses the others
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
  return std::make_shared<ConfiguredCredentials>(config, options);
}

}  // namespace kube
