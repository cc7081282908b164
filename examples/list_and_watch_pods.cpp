// SPDX-License-Identifier: Apache-2.0
// Lists the pods of a cluster and then shows their changes, until it is interrupted. The same as
// `kubectl get pods --watch`, in a page of code.
#include <kube/api/core/v1.hpp>
#include <kube/api/object_key.hpp>
#include <kube/client/client.hpp>
#include <kube/config/load.hpp>
#include <kube/controller/signals.hpp>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <cstdio>
#include <stop_token>
#include <string>
#include <string_view>

namespace {

using kube::core::v1::Pod;

struct Arguments {
  std::string kubeconfig;
  std::string context;
  std::string namespace_;
  std::string selector;
  bool once = false;
};

void show(std::string_view what, const Pod& pod) {
  fmt::print("{:<10}{:<50}{:<12}{}\n", what, kube::key_of(pod).str(), pod.status.phase.view(),
             pod.spec.node_name.view());
  std::fflush(stdout);
}

/// Shows all pods, then every change. Returns when the version of the watch has expired, or after a
/// stop.
void list_and_watch(const kube::Resource<Pod>& pods, const Arguments& arguments,
                    const std::stop_token& stop) {
  const kube::Listed<Pod> listed =
      pods.list_all({.label_selector = arguments.selector}, {.page_size = 500}, stop);
  for (const kube::Ref<Pod>& pod : listed.items) show("", *pod);
  if (arguments.once) return;

  auto watch = pods.retry_watch(
      {.label_selector = arguments.selector, .resource_version = listed.metadata.resource_version});
  while (const auto event = watch.next(stop)) {
    if (event->type != kube::EventType::kError) {
      show(to_string(event->type), *event->object);
    } else if (event->status->code != 410) {
      throw kube::ApiError{*event->status};
    }
  }
}

int run(const Arguments& arguments) {
  const kube::SignalStop signals = kube::stop_on_signals();
  const kube::Config config = kube::load_config({.sources = {.explicit_file = arguments.kubeconfig},
                                                 .overrides = {.context_name = arguments.context}});
  const kube::Client client{config};
  const kube::Resource<Pod> pods = client.core().v1().pods(arguments.namespace_);

  fmt::print("{:<10}{:<50}{:<12}{}\n", "EVENT", "POD", "PHASE", "NODE");
  do {
    list_and_watch(pods, arguments, signals.token());
  } while (!arguments.once && !signals.token().stop_requested());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Lists pods and shows what happens to them."};
  app.add_option("--kubeconfig", arguments.kubeconfig, "this file instead of the usual places");
  app.add_option("--context", arguments.context,
                 "this context of the file instead of its current one");
  app.add_option("-n,--namespace", arguments.namespace_, "only this namespace");
  app.add_option("-l,--selector", arguments.selector,
                 "only pods with these labels: app=web,tier!=cache");
  app.add_flag("--once", arguments.once, "list, but do not watch");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  try {
    return run(arguments);
  } catch (const kube::TransportError& error) {
    if (error.kind() == kube::TransportError::Kind::kCanceled) return 0;
    fmt::print(stderr, "list_and_watch_pods: {}\n", error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "list_and_watch_pods: {}\n", error.what());
  }
  return 1;
}
