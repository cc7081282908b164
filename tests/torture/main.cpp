// SPDX-License-Identifier: Apache-2.0
// Runs scenarios while the n-th allocation, system call, thread or callback fails. See docs/testing.md.
#include "runner.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  using namespace kube::torture;
  CLI::App app{
      "Runs a scenario again and again while the n-th allocation, system call, thread or callback "
      "fails.\n"
      "Exit code 0: all promises were kept; 1: some were not; 2: wrong options."};
  RunnerOptions options;
  std::string kind;
  std::vector<std::string> only;
  bool list = false;
  app.add_flag("--list", list, "Print the scenarios and exit");
  app.add_option("--scenario", only, "Run only these scenarios (default: all)");
  app.add_option("--kind", kind,
                 "Only this kind of fault: allocation, send, receive, poll, epoll_wait, connect, "
                 "open, thread, callback");
  app.add_option("--number", options.number, "Only the n-th call of that kind, from 1")
      ->needs("--kind");
  app.add_option("--burst", options.burst, "Number of consecutive calls that fail");
  app.add_option("--error", options.error, "errno of the failing calls");
  app.add_option("--runs", options.runs,
                 "Maximum number of runs for each kind, evenly spread; 0: every call")
      ->capture_default_str();
  app.add_flag("--verbose", options.verbose, "Print each run");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (list) {
    for (const auto& [name, entry] : scenarios())
      std::printf("%-16s %s\n", name.c_str(), entry.about);
    return 0;
  }
  if (!kind.empty()) {
    options.kind = parse_fault_kind(kind);
    if (!options.kind) {
      std::fprintf(stderr, "torture: --kind %s: there is no such kind; --help lists them\n",
                   kind.c_str());
      return 2;
    }
  }
  if (only.empty()) {
    for (const auto& [name, entry] : scenarios()) only.push_back(name);
  }
  int failures = 0;
  for (const std::string& name : only) {
    if (!scenarios().contains(name)) {
      std::fprintf(stderr, "torture: --scenario %s: there is no such scenario; --list shows them\n",
                   name.c_str());
      return 2;
    }
    options.scenario = name;
    failures += torture(options);
  }
  if (failures > 0) std::fprintf(stderr, "torture: %d runs broke a promise\n", failures);
  return failures == 0 ? 0 : 1;
}
