// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "journal.hpp"
#include "pipeline.hpp"

#include <kube/client/client.hpp>
#include <kube/testkit/api_server.hpp>

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

namespace demo {

struct StoryOptions {
  std::string namespace_{};
  /// For the parts with server faults; null skips them.
  kube::testkit::ApiServer* server = nullptr;
  /// Pause after each successful step.
  kube::Clock::Duration pace{};
  /// Time limit of a step; after it the story continues without the step.
  kube::Clock::Duration patience = std::chrono::seconds{20};
};

/// The sequence of changes to the Foos. Each step waits until the controller has reacted.
class Story {
 public:
  Story(const kube::Config& config, Pipeline& pipeline, Journal& journal, StoryOptions options);

  /// Plays all steps. Returns early on a stop.
  void play(std::stop_token stop);
  /// The number of steps that timed out.
  [[nodiscard]] int failures() const noexcept { return failures_; }

 private:
  void create_foos();
  void scale();
  void drift();
  void delete_deployment();
  void foreign_deployment();
  void break_connections();
  void restart_server();
  void delete_foos();

  void say(std::string caption) { journal_.add(Journal::Kind::kCaption, std::move(caption)); }
  /// Changes the cluster; retries while it is unreachable.
  void act(const std::function<void()>& action);
  /// Waits for the controller, then pauses for the viewer.
  void await(std::string_view what, const std::function<bool()>& condition);
  void pause(kube::Clock::Duration time) const;

  void create_foo(std::string_view name, std::int32_t replicas);
  void scale_foo(std::string_view name, std::int32_t replicas);
  /// Returns whether the Foo has its own Deployment and all pods.
  [[nodiscard]] bool settled(std::string_view name, std::int32_t replicas) const;

  const kube::Client client_;
  Pipeline& pipeline_;
  Journal& journal_;
  const StoryOptions options_;
  std::stop_token stop_;
  int failures_ = 0;
};

}  // namespace demo
