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
  /// For the parts in which it breaks; null leaves them out.
  kube::testkit::ApiServer* server = nullptr;
  /// How long to look at each step after it has succeeded.
  kube::Clock::Duration pace{};
  /// How long a step may take before the story goes on without it.
  kube::Clock::Duration patience = std::chrono::seconds{20};
};

/// What happens to the Foos, step by step. Each step waits until the controller has done its part.
class Story {
 public:
  Story(const kube::Config& config, Pipeline& pipeline, Journal& journal, StoryOptions options);

  /// From the first Foo to the last. Ends early, without a word, on a stop.
  void play(std::stop_token stop);
  /// How many steps did not come to their end in time.
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
  /// Does something to the cluster, again if it cannot be reached.
  void act(const std::function<void()>& action);
  /// Waits for the controller, then lets the audience look.
  void await(std::string_view what, const std::function<bool()>& condition);
  void pause(kube::Clock::Duration time) const;

  void create_foo(std::string_view name, std::int32_t replicas);
  void scale_foo(std::string_view name, std::int32_t replicas);
  /// Whether the Foo has its own Deployment and all pods.
  [[nodiscard]] bool settled(std::string_view name, std::int32_t replicas) const;

  const kube::Client client_;
  Pipeline& pipeline_;
  Journal& journal_;
  const StoryOptions options_;
  std::stop_token stop_;
  int failures_ = 0;
};

}  // namespace demo
