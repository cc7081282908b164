// SPDX-License-Identifier: Apache-2.0
// Input: a kubeconfig. It is loaded, merged, validated and turned into a configuration, or rejected
// with an error that names the location. A loaded configuration must survive a round trip.
#include "fuzz.hpp"

#include <kube/config/load.hpp>

#include <string>
#include <string_view>

namespace {

constexpr std::string_view kPlace = "/fuzz/kubeconfig";

/// An environment in which no file and no variable exists.
kube::Environment nowhere() {
  return {.variables = [] { return std::map<std::string, std::string>{}; },
          .stdin_is_terminal = [] { return false; },
          .service_account_folder = "/nonexistent"};
}

/// Removes file names, so that no file of the machine is read (/dev/stdin, a pipe).
void forget_files(kube::Kubeconfig& kubeconfig) {
  for (auto& [name, cluster] : kubeconfig.clusters) cluster.certificate_authority.clear();
  for (auto& [name, user] : kubeconfig.users) {
    user.client_certificate.clear();
    user.client_key.clear();
    user.token_file.clear();
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using kube::fuzz::require;
  kube::Kubeconfig parsed;
  try {
    parsed = kube::parse_kubeconfig(kube::fuzz::text_of(data, size), std::string{kPlace});
  } catch (const kube::ConfigError& error) {
    require(std::string_view{error.what()}.find(kPlace) != std::string_view::npos,
            "an error names the file");
    return 0;
  }
  const std::string written = kube::format_kubeconfig(parsed);
  if (written.size() <= kube::kMaxKubeconfigSize) {
    const kube::Kubeconfig again = kube::parse_kubeconfig(written, std::string{kPlace});
    require(kube::format_kubeconfig(again) == written, "it reads back");
  }
  forget_files(parsed);
  kube::Kubeconfig merged = parsed;
  kube::merge_kubeconfig(merged, parsed);
  require(merged == parsed, "merging with itself changes nothing");
  kube::resolve_paths(merged);
  for (const std::string& problem : kube::validate(merged)) {
    require(!problem.empty(), "a problem has a text");
  }
  const auto select = [&](const std::string& context) {
    try {
      const kube::Config config = kube::config_from_kubeconfig(
          merged, {.sources = {.environment = nowhere()}, .context_name = context});
      require(!config.host.empty(), "a configuration has a server");
      require(!kube::to_string(config).empty(), "a configuration can be shown");
      static_cast<void>(kube::impersonation_headers(config.impersonate));
    } catch (const kube::ConfigError& error) {
      require(!error.problems().empty() && !error.problems().front().empty(),
              "an error has a problem");
    }
  };
  select("");
  for (const auto& [name, context] : merged.contexts) select(name);
  return 0;
}
