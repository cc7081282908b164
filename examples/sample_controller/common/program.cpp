// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <kube/config/load.hpp>
#include <kube/controller/signals.hpp>

#include <CLI/CLI.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string_view>

namespace sample {
namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;

struct Arguments {
  std::string kubeconfig;
  std::string server;
  bool verbose = false;
  RunOptions run;
};

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("--kubeconfig", arguments.kubeconfig,
                 "Overrides KUBECONFIG, the pod's own cluster and ~/.kube/config");
  app.add_option("--server", arguments.server,
                 "The URL of the API server; overrides the kubeconfig");
  app.add_option("--workers", arguments.run.workers, "Number of concurrently reconciled Foos")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_flag("--leader-elect", arguments.run.leader_elect,
               "Work only while holding the Lease sample-controller");
  app.add_option("--lease-namespace", arguments.run.lease_namespace, "Namespace of that Lease")
      ->capture_default_str();
  app.add_flag("-v,--verbose", arguments.verbose, "Also log messages for debugging");
  app.footer(
      "Ends on SIGINT and SIGTERM. Exit status: 0 it was asked to end, 1 it failed or lost the\n"
      "Lease, 2 the command line is wrong.");
}

/// Writes "12:34:56.789 INFO controller: created ..." to standard error.
void write_line(kube::LogLevel level, std::string_view component, std::string_view message) {
  constexpr std::string_view kNames[] = {"DEBUG", "INFO ", "WARN ", "ERROR"};
  const auto now = std::chrono::system_clock::now();
  const auto millis =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  const std::string line = fmt::format(
      "{:%H:%M:%S}.{:03} {} {}{}{}\n", fmt::gmtime(std::chrono::system_clock::to_time_t(now)),
      millis, kNames[static_cast<int>(level)], component, component.empty() ? "" : ": ", message);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

kube::Config load(const Arguments& arguments) {
  const kube::Logger& log = arguments.run.log;
  return arguments.server.empty()
             ? kube::controller_config(arguments.kubeconfig, {}, {}, log)
             : kube::build_config_from_flags(arguments.server, arguments.kubeconfig, {}, log);
}

}  // namespace

int run_program(int argc, char** argv, const RunController& run) {
  Arguments arguments;
  CLI::App app{"Keeps a Deployment for each Foo, as the sample controller of Kubernetes does."};
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  arguments.run.log =
      kube::Logger{write_line, arguments.verbose ? kube::LogLevel::kDebug : kube::LogLevel::kInfo};
  try {
    const kube::SignalStop stop = kube::stop_on_signals();
    run(load(arguments), arguments.run, stop);
    arguments.run.log.info("ended as asked");
    return 0;
  } catch (const std::exception& error) {
    arguments.run.log.error("{}", error.what());
    return kFailure;
  }
}

}  // namespace sample
