// SPDX-License-Identifier: Apache-2.0
#include "config.hpp"

#include <kube/config/kubeconfig.hpp>
#include <kube/config/load.hpp>

#include <chrono>
#include <memory>
#include <utility>

#include "last_error.hpp"
#include "log.hpp"
#include "read_options.hpp"

namespace kube::c {

namespace {

constexpr int kDefaultBurst = 10;

/// Calls `load(options, log)`, and applies the options to the result.
template <typename Load>
int load_into(const kubecxx_config_options* given, kubecxx_config** config, const Load& load) {
  return guarded([&] {
    auto& result = output(config, "config");
    const auto options = read_options(given, "kubecxx_config_options");
    if (options.timeout_ms < 0) {
      throw std::invalid_argument("kubecxx_config_options: timeout_ms is negative; 0 is none");
    }
    auto made = std::make_unique<kubecxx_config>();
    ConfigOptions how;
    how.sources.log = logger_of(options.log);
    how.context_name = copy(options.context, "context");
    made->config = load(how);
    Config& loaded = made->config;
    if (options.user_agent.size > 0) loaded.user_agent = copy(options.user_agent, "user_agent");
    if (options.qps != 0) loaded.qps = options.qps;
    if (options.burst != 0) loaded.burst = options.burst;
    // A rate limit needs both values.
    if (loaded.qps > 0 && loaded.burst <= 0) loaded.burst = kDefaultBurst;
    if (options.timeout_ms > 0) loaded.timeout = std::chrono::milliseconds{options.timeout_ms};
    result = made.release();
  });
}

}  // namespace
}  // namespace kube::c

int kubecxx_config_load(kubecxx_string path, const kubecxx_config_options* options,
                        kubecxx_config** config) {
  return kube::c::load_into(options, config, [&](kube::ConfigOptions& how) {
    how.sources.explicit_file = kube::c::copy(path, "path");
    return kube::load_config(how);
  });
}

int kubecxx_config_parse(kubecxx_string text, const kubecxx_config_options* options,
                         kubecxx_config** config) {
  return kube::c::load_into(options, config, [&](const kube::ConfigOptions& how) {
    return kube::config_from_kubeconfig(kube::parse_kubeconfig(kube::c::view(text, "text")), how);
  });
}

int kubecxx_config_in_cluster(const kubecxx_config_options* options, kubecxx_config** config) {
  return kube::c::load_into(options, config, [&](const kube::ConfigOptions& how) {
    return kube::in_cluster_config(how.sources.environment, how.sources.log);
  });
}

kubecxx_string kubecxx_config_server(const kubecxx_config* config) {
  return config == nullptr ? kubecxx_string{nullptr, 0} : kube::c::lend(config->config.host);
}
kubecxx_string kubecxx_config_namespace(const kubecxx_config* config) {
  return config == nullptr ? kubecxx_string{nullptr, 0}
                           : kube::c::lend(config->config.default_namespace);
}
void kubecxx_config_free(kubecxx_config* config) { delete config; }
