// SPDX-License-Identifier: Apache-2.0
#include "serve.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Tools around Kubernetes API servers and clients"};
  app.name("kubecxx");
  app.footer("Exit status: 0 success, 1 failure, 2 invalid command line.");
  app.set_version_flag("--version", "kubecxx " KUBECXX_VERSION);
  app.require_subcommand(1);
  add_serve(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kubecxx: %s\n", error.what());
    return kFailure;
  }
}
