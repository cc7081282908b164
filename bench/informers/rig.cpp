// SPDX-License-Identifier: Apache-2.0
#include "rig.hpp"

#include "recording.hpp"
#include "usage.hpp"

#include <kube/config/load.hpp>
#include <kube/object/pool.hpp>

#include <chrono>
#include <functional>
#include <stdexcept>

namespace kube::bench {
namespace {

void wait_for(const std::function<bool()>& condition, const char* what) {
  const double limit = now() + 120;
  while (!condition()) {
    if (now() > limit) throw std::runtime_error(std::string{"two minutes without "} + what);
    rest(0.002);
  }
}

}  // namespace

void rest(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

Client Server::client(std::string_view path) const {
  Config config;
  if (kubeconfig.empty()) {
    config.host = url + std::string{path};
    config.tls.ca_data = ca;
    config.bearer_token = "bench";
  } else {
    config = build_config_from_flags("", kubeconfig);
  }
  config.qps = -1;
  if (json) config.content_type = "application/json";
  return Client{config};
}

Rig::Rig(const Client& client, bool watch_list, HandlerOptions options, EventHandler<Pod> handler,
         std::string_view space) {
  InformerOptions<Pod> informer;
  informer.watch_list = watch_list;
  informer.on_state = [counts = counts_](const ReflectorEvent& event) {
    using Kind = ReflectorEvent::Kind;
    if (event.kind == Kind::kListed || event.kind == Kind::kStateStreamed) ++counts->listed;
  };
  informer_ = std::make_unique<SharedIndexInformer<Pod>>(
      std::make_shared<ResourceListWatch<Pod>>(
          client.resource<Pod>(space).with_decoding({.pool = std::make_shared<Pool>()})),
      std::move(informer));
  if (!handler.on_add && !handler.on_update) {
    handler = {.on_add = [counts = counts_](const Pod&) { ++counts->added; },
               .on_update = [counts = counts_](const Pod&, const Pod&) { ++counts->updated; },
               .on_delete = [counts = counts_](const Deleted<Pod>&) { ++counts->deleted; }};
  }
  registration_ = informer_->add_event_handler(std::move(handler), std::move(options));
  thread_ = std::jthread{[this](std::stop_token stop) { informer_->run(std::move(stop)); }};
}

void Rig::wait_until_synced() const {
  wait_for([&] { return registration_.has_synced(); }, "the initial state");
}

void Rig::wait_until_listed(int times) const {
  wait_for([&] { return counts_->listed >= times; }, "a list");
}

void Rig::wait_until_quiet() const {
  wait_for(
      [&] {
        return pods().resource_version() == Recording::kLastVersion && registration_.backlog() == 0;
      },
      "the last event");
}

}  // namespace kube::bench
