// SPDX-License-Identifier: Apache-2.0
#include "tls_source.hpp"

#include "files.hpp"

#include "config/pem.hpp"

#include <fmt/format.h>

namespace kube::detail {

namespace {

constexpr std::chrono::seconds kPairIsFreshFor{1};
constexpr std::chrono::minutes kCaIsFreshFor{5};

std::string data_or_file(const std::string& data, const std::string& file) {
  return data.empty() && !file.empty() ? read_file(file) : data;
}

std::string source_of(const std::string& file, const char* otherwise) {
  return file.empty() ? otherwise : file;
}

}  // namespace

TlsSource::TlsSource(TlsConfig config, Clock& clock, Logger log, const char* owner)
    : config_(std::move(config)), clock_(clock), log_(std::move(log)), owner_(owner) {
  // Data takes precedence over a file, which is then ignored.
  if (!config_.ca_data.empty()) config_.ca_file.clear();
  if (!config_.certificate_data.empty()) config_.certificate_file.clear();
  if (!config_.key_data.empty()) config_.key_file.clear();
  const bool has_ca = !config_.ca_data.empty() || !config_.ca_file.empty();
  const bool has_certificate =
      !config_.certificate_data.empty() || !config_.certificate_file.empty();
  const bool has_key = !config_.key_data.empty() || !config_.key_file.empty();
  if (has_ca && config_.insecure_skip_verify) {
    throw ConfigError("TLS: a CA has no meaning together with insecure_skip_verify");
  }
  if (has_certificate != has_key) {
    throw ConfigError(has_key ? fmt::format("TLS: there is a {} key, but no certificate", owner_)
                              : fmt::format("TLS: there is a {} certificate, but no key", owner_));
  }
  ca_ = data_or_file(config_.ca_data, config_.ca_file);
  ca_read_at_ = clock_.now();
  if (!ca_.empty()) check_ca(ca_, source_of(config_.ca_file, "the CA data"));
  if (has_certificate) pair_ = load_pair();
  pair_read_at_ = clock_.now();
  material_ = std::make_shared<const TlsMaterial>(
      TlsMaterial{.insecure_skip_verify = config_.insecure_skip_verify,
                  .server_name = config_.server_name,
                  .ca = ca_,
                  .has_ca = has_ca,
                  .certificate = pair_.certificate,
                  .key = pair_.key,
                  .identity = 1,
                  .trust = 1});
}

TlsSource::Pair TlsSource::load_pair() const {
  Pair pair{.certificate = data_or_file(config_.certificate_data, config_.certificate_file),
            .key = data_or_file(config_.key_data, config_.key_file)};
  check_pair(pair.certificate, pair.key,
             fmt::format("{} certificate {}", owner_, source_of(config_.certificate_file, "data")));
  return pair;
}

void TlsSource::reload_pair_locked(std::string& problem) {
  if (!has_certificate_files() || clock_.now() - pair_read_at_ <= kPairIsFreshFor) return;
  pair_read_at_ = clock_.now();
  try {
    pair_ = load_pair();
  } catch (const ConfigError& error) {
    problem = error.what();
  }
}

void TlsSource::reload_ca_locked(std::string& problem) {
  if (config_.ca_file.empty() || clock_.now() - ca_read_at_ < kCaIsFreshFor) return;
  ca_read_at_ = clock_.now();
  try {
    std::string ca = read_file(config_.ca_file);
    if (ca == ca_) return;
    check_ca(ca, config_.ca_file);
    ca_ = std::move(ca);
  } catch (const ConfigError& error) {
    problem = error.what();
  }
}

TlsSource::Current TlsSource::current() {
  return current([this] { return pair_; });
}

TlsSource::Current TlsSource::current(const std::function<Pair()>& latest) {
  std::string pair_problem;
  std::string ca_problem;
  Current current;
  {
    const std::scoped_lock lock{mutex_};
    reload_pair_locked(pair_problem);
    reload_ca_locked(ca_problem);
    Pair pair = latest();
    const bool is_same_pair = pair == Pair{material_->certificate, material_->key};
    const bool is_same_ca = ca_ == material_->ca;
    if (!is_same_pair || !is_same_ca) {
      TlsMaterial next = *material_;
      if (!is_same_pair) ++next.identity;
      if (!is_same_ca) ++next.trust;
      next.certificate = std::move(pair.certificate);
      next.key = std::move(pair.key);
      next.ca = ca_;
      material_ = std::make_shared<const TlsMaterial>(std::move(next));
    }
    // The first material does not count as a change: there are no connections yet.
    current = {.material = material_, .has_new_identity = !is_same_pair && was_returned_};
    was_returned_ = true;
  }
  if (!pair_problem.empty()) {
    log_.warning("the older {} certificate stays in use: {}", owner_, pair_problem);
  }
  if (!ca_problem.empty()) log_.warning("the older CA stays in use: {}", ca_problem);
  return current;
}

}  // namespace kube::detail
