// SPDX-License-Identifier: Apache-2.0
#include "story.hpp"

#include "common/deployment.hpp"

#include <kube/client/retry.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace demo {

using namespace std::chrono_literals;

Story::Story(const kube::Config& config, Pipeline& pipeline, Journal& journal, StoryOptions options)
    : client_(config, {.log = kube::Logger{}}),
      pipeline_(pipeline),
      journal_(journal),
      options_(std::move(options)) {}

void Story::play(std::stop_token stop) {
  stop_ = std::move(stop);
  using Step = void (Story::*)();
  constexpr Step kSteps[] = {&Story::create_foos,
                             &Story::scale,
                             &Story::drift,
                             &Story::delete_deployment,
                             &Story::foreign_deployment,
                             &Story::break_connections,
                             &Story::restart_server,
                             &Story::delete_foos};
  for (const Step step : kSteps) {
    if (stop_.stop_requested()) return;
    (this->*step)();
  }
}

void Story::create_foos() {
  say("Three Foos are created. For each, the controller makes a Deployment, which brings up pods.");
  create_foo("shop", 3);
  create_foo("blog", 2);
  create_foo("cart", 1);
  await("three Foos with their pods",
        [&] { return settled("shop", 3) && settled("blog", 2) && settled("cart", 1); });
}

void Story::scale() {
  say("Foo shop is scaled to 5. The Deployment follows, and then the status of the Foo.");
  scale_foo("shop", 5);
  await("5 pods of shop", [&] { return settled("shop", 5); });
}

void Story::drift() {
  say("Somebody scales Deployment blog to 6 behind the controller's back. It is put back to 2.");
  act([&] {
    client_.apps()
        .v1()
        .deployments(options_.namespace_)
        .patch("blog", kube::PatchType::kMerge, R"({"spec":{"replicas":6}})", {}, {}, stop_);
  });
  await("2 replicas of blog again", [&] { return settled("blog", 2); });
}

void Story::delete_deployment() {
  say("Somebody deletes Deployment cart. The controller makes it again.");
  act([&] { client_.apps().v1().deployments(options_.namespace_).delete_("cart", {}, stop_); });
  await("a new Deployment cart",
        [&] { return settled("cart", 1) && pipeline_.controller().queued == 0; });
}

void Story::foreign_deployment() {
  say("Foo wiki wants a Deployment that belongs to somebody else. The controller does not touch "
      "it; it "
      "complains, and tries again, later and later.");
  Foo someone{.metadata = {.name = "someone", .namespace_ = options_.namespace_},
              .spec = {.deployment_name = "wiki", .replicas = 1}};
  Deployment foreign = sample::desired_deployment(someone);
  foreign.metadata.owner_references = {};
  const auto deployments = client_.apps().v1().deployments(options_.namespace_);
  act([&] { deployments.create(foreign, {}, stop_); });
  const auto failures = pipeline_.controller().failed;
  create_foo("wiki", 2);
  await("complaints about wiki", [&] { return pipeline_.controller().failed >= failures + 3; });

  say("The stranger's Deployment is deleted, which makes room for the one of Foo wiki.");
  act([&] { deployments.delete_("wiki", {}, stop_); });
  await("2 pods of wiki", [&] { return settled("wiki", 2); });
}

void Story::break_connections() {
  if (options_.server == nullptr) return;
  say("All connections to the API server break at once. The watches go on where they were.");
  options_.server->faults().drop_connections();
  scale_foo("blog", 4);
  await("watches and 4 pods of blog", [&] { return pipeline_.watching() && settled("blog", 4); });
}

void Story::restart_server() {
  if (options_.server == nullptr) return;
  say("The API server goes down. Informers keep their caches and knock again and again.");
  options_.server->stop();
  pause(std::max<kube::Clock::Duration>(options_.pace, 300ms));
  say("It is back and has forgotten its history, in which Foo shop was set to 2. The informers "
      "cannot "
      "go on where they were: they get all objects anew and tell handlers what is different.");
  options_.server->request("PATCH",
                           fmt::format("/apis/{}/namespaces/{}/foos/shop",
                                       Foo::kube_type.api_version, options_.namespace_),
                           *kube::decode_json<kube::Value>(R"({"spec":{"replicas":2}})"),
                           "application/merge-patch+json");
  options_.server->compact();
  options_.server->start();
  await("2 pods of shop", [&] { return pipeline_.watching() && settled("shop", 2); });
}

void Story::delete_foos() {
  say("All Foos are deleted. Garbage collection does the rest.");
  act([&] { client_.resource<Foo>(options_.namespace_).delete_collection({}, {}, stop_); });
  await("the end of all pods", [&] {
    const auto informers = pipeline_.informers();
    return std::all_of(informers.begin(), informers.end(),
                       [](const auto& one) { return one.objects == 0; });
  });
}

void Story::act(const std::function<void()>& action) {
  const auto deadline = kube::system_clock().now() + options_.patience;
  while (!stop_.stop_requested()) {
    try {
      return action();
    } catch (const std::exception& error) {
      if (stop_.stop_requested()) return;
      journal_.add(Journal::Kind::kTrouble, fmt::format("story: {}", error.what()));
      if (kube::system_clock().now() > deadline) {
        ++failures_;
        return;
      }
    }
    pause(200ms);
  }
}

void Story::await(std::string_view what, const std::function<bool()>& condition) {
  const auto deadline = kube::system_clock().now() + options_.patience;
  while (!condition()) {
    if (stop_.stop_requested()) return;
    if (kube::system_clock().now() > deadline) {
      ++failures_;
      journal_.add(Journal::Kind::kTrouble, fmt::format("story: still no {}; going on", what));
      break;
    }
    pause(20ms);
  }
  pause(options_.pace);
}

void Story::pause(kube::Clock::Duration time) const { kube::system_clock().sleep_for(time, stop_); }

void Story::create_foo(std::string_view name, std::int32_t replicas) {
  act([&] {
    client_.resource<Foo>(options_.namespace_)
        .create({.metadata = {.name = name, .namespace_ = options_.namespace_},
                 .spec = {.deployment_name = name, .replicas = replicas}},
                {}, stop_);
  });
}

void Story::scale_foo(std::string_view name, std::int32_t replicas) {
  act([&] {
    client_.resource<Foo>(options_.namespace_)
        .patch(name, kube::PatchType::kMerge,
               fmt::format(R"({{"spec":{{"replicas":{}}}}})", replicas), {}, {}, stop_);
  });
}

bool Story::settled(std::string_view name, std::int32_t replicas) const {
  const auto rows = pipeline_.foos();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const FooRow& one) { return one.name == name; });
  return row != rows.end() && row->owned && row->wanted == replicas && row->replicas == replicas &&
         row->available == replicas &&
         row->pods == std::string(static_cast<std::size_t>(replicas), '#');
}

}  // namespace demo
