// SPDX-License-Identifier: Apache-2.0
#include "serve.hpp"

#include "log.hpp"

#include <kube/api/validation.hpp>
#include <kube/base/error.hpp>
#include <kube/testkit/api_server.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

struct ServeOptions {
  kube::testkit::ApiServerOptions server;
  std::vector<std::string> load;
  std::string kubeconfig_out;
  /// Unset: enabled if a kubeconfig is written or roles are enforced, because kubectl only sends
  /// credentials over TLS.
  std::optional<bool> tls;
  std::string data;
  std::string log_level = "warning";
};

bool is_loopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1";
}

/// Validator for CLI11: returns an empty text or the problem.
std::string check_address(const std::string& address) {
  std::array<unsigned char, sizeof(in6_addr)> parsed{};
  if (::inet_pton(AF_INET, address.c_str(), parsed.data()) == 1 ||
      ::inet_pton(AF_INET6, address.c_str(), parsed.data()) == 1) {
    return {};
  }
  return kube::detail::quoted(address) +
         " is not an IP address; write one such as 127.0.0.1 or ::1, and the port with --port";
}

/// Writes a file atomically. It is only readable by the owner, because it contains a token.
void write_private_file(const std::string& file, std::string_view text) {
  const std::string temporary = file + ".tmp";
  const auto fail = [&](const char* what) {
    throw kube::Error(
        fmt::format("{}: {}: {}", file, what, std::generic_category().message(errno)));
  };
  ::unlink(temporary.c_str());
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) fail("cannot be created");
  const ssize_t written = ::write(descriptor, text.data(), text.size());
  ::close(descriptor);
  if (written != static_cast<ssize_t>(text.size())) fail("cannot be written");
  if (::rename(temporary.c_str(), file.c_str()) != 0) fail("cannot be renamed to its final name");
}

void say_what_next(const kube::testkit::ApiServer& server, const ServeOptions& options) {
  fmt::print("listening on {}\n\n", server.url());
  if (!options.kubeconfig_out.empty()) {
    fmt::print("Try, in another terminal:\n  export KUBECONFIG={}\n  kubectl get namespaces\n",
               options.kubeconfig_out);
  } else if (options.server.tls) {
    fmt::print(
        "Start with --kubeconfig-out FILE for a configuration that kubectl can use; or try:\n"
        "  kubectl --server {} --insecure-skip-tls-verify --token {} get namespaces\n",
        server.url(), options.server.token.empty() ? server.config().bearer_token : "THE-TOKEN");
  } else {
    fmt::print(
        "Try, in another terminal:\n  kubectl --server {} get namespaces\n  curl "
        "{}/api/v1/namespaces\n",
        server.url(), server.url());
  }
  fmt::print("Ctrl-C ends it{}.\n", options.data.empty() ? "; nothing is kept" : "");
  std::fflush(stdout);
}

void serve(ServeOptions& options) {
  options.server.tls =
      options.tls.value_or(!options.kubeconfig_out.empty() || options.server.rbac);
  // A whole cluster has a controller manager, which aggregates roles.
  options.server.aggregate_roles = options.server.rbac && options.server.cluster_objects &&
                                   options.server.namespace_controller;
  if (!is_loopback(options.server.listen) &&
      (!options.server.tls || options.server.token.empty())) {
    throw CLI::ValidationError(
        "--listen", fmt::format("{} is not a loopback address: other machines can reach the "
                                "server, so --tls and --token are required",
                                options.server.listen));
  }
  // A token implies that anonymous requests are refused.
  options.server.allow_anonymous = options.server.token.empty();
  options.server.data = options.data;
  options.server.logger = make_logger(options.log_level);

  // Blocks the signals before any thread starts, so that all threads inherit the mask.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  kube::testkit::ApiServer server{options.server};
  for (const std::string& path : options.load) {
    const std::size_t count = server.load(path);
    fmt::print("loaded {} objects from {}\n", count, path);
  }
  if (!options.kubeconfig_out.empty()) {
    write_private_file(options.kubeconfig_out, server.kubeconfig());
  }
  say_what_next(server, options);

  int signal = 0;
  sigwait(&signals, &signal);
  fmt::print("\nstopping\n");
  std::fflush(stdout);
  server.stop(std::chrono::seconds{2});
}

}  // namespace

void add_serve(CLI::App& app) {
  auto options = std::make_shared<ServeOptions>();
  options->server.port = 0;
  options->server.cluster_objects = true;
  CLI::App* command = app.add_subcommand("serve", "Run an API server for development and tests");
  command->add_option("--port", options->server.port, "Port to listen on; 0 selects a free one")
      ->capture_default_str();
  command
      ->add_option("--listen", options->server.listen,
                   "IP address to listen on; other than loopback requires --tls and --token")
      ->check(CLI::Validator{check_address, "IP"})
      ->capture_default_str();
  CLI::Option* tls = command->add_flag_callback(
      "--tls", [options] { options->tls = true; },
      "Serve HTTPS with a generated certificate; implied by --kubeconfig-out and --rbac");
  command
      ->add_flag_callback(
          "--no-tls", [options] { options->tls = false; },
          "Serve HTTP even with --kubeconfig-out; kubectl then sends no credentials and is "
          "anonymous")
      ->excludes(tls);
  command->add_option("--token", options->server.token,
                      "Bearer token of the administrator; disables anonymous access");
  command->add_option("--allow-host", options->server.allow_hosts,
                      "Additional host name of the server; web pages from that host may use the "
                      "API as well");
  command
      ->add_option("--max-connections", options->server.max_connections,
                   "Maximum number of open connections; further ones are refused")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--load", options->load, "YAML or JSON file, or folder of them, to load first")
      ->check(CLI::ExistingPath);
  command->add_flag("--simulate", options->server.simulate,
                    "Simulate the controllers, the scheduler and the kubelets: workloads get pods, "
                    "pods run, jobs complete, claims are bound");
  command->add_flag("--rbac", options->server.rbac,
                    "Enforce roles and role bindings; the kubeconfig and --token are for an "
                    "administrator, and kubectl --as tries other users");
  command->add_flag("--strict", options->server.strict,
                    "Reject CEL expressions that this server cannot evaluate, instead of warning");
  command->add_flag_callback(
      "--empty", [options] { options->server.cluster_objects = false; },
      "Start with namespaces only, without the services, roles and accounts that every cluster "
      "has");
  command->add_flag_callback(
      "--no-controllers",
      [options] {
        options->server.garbage_collection = false;
        options->server.namespace_controller = false;
      },
      "Do only what an API server does without a controller manager: deleted namespaces stay, "
      "garbage is not collected, and new namespaces get no service account");
  command->add_option("--kubeconfig-out", options->kubeconfig_out,
                      "Write a kubeconfig for kubectl to this file, and serve HTTPS");
  command->add_option("--data", options->data, "Store the objects in this SQLite file");
  command->add_option("--log-level", options->log_level, "Lowest level to log to standard error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->capture_default_str();
  command->callback([options] { serve(*options); });
}
