// SPDX-License-Identifier: Apache-2.0
#include "server.hpp"

#include "support/child.hpp"

#include <kube/config/load.hpp>
#include <kube/testkit/api_server.hpp>

#include <chrono>

namespace kube::chaos {
namespace {

using namespace std::chrono_literals;
using testing_support::run_program;

class InProcess final : public Server {
 public:
  explicit InProcess(std::uint64_t seed)
      : server_({.tls = true, .allow_anonymous = false, .seed = seed}) {}

  [[nodiscard]] Config config() const override { return server_.config(); }
  [[nodiscard]] std::uint16_t port() const override { return server_.port(); }

  std::vector<Fault> faults(std::mt19937_64& random) override {
    const auto some = [&random](int most) { return static_cast<int>(random() % most) + 1; };
    const testkit::RequestFilter maps{.resource = "configmaps", .user_agent = "chaos"};
    const testkit::RequestFilter watches{.verb = "watch", .user_agent = "chaos"};
    auto& faults = server_.faults();
    return {
        {"error 500", [=, &faults] { faults.next(some(5)).matching(maps).respond(500); }},
        {"error 429", [=, &faults] { faults.next(some(5)).matching(maps).respond(429, 1s); }},
        {"gone 410", [&faults] { faults.expire_history(); }},
        {"lost answer", [=, &faults] { faults.next().matching(maps).lose_answer(); }},
        {"silent watch", [=, &faults] { faults.next().matching(watches).go_silent_after(3); }},
        {"dropped watch", [=, &faults] { faults.next(2).matching(watches).drop_after(some(20)); }},
        {"truncated frame",
         [=, &faults] { faults.next().matching(watches).truncate_frame(some(20)); }},
        {"corrupt frame",
         [=, &faults] { faults.next().matching(watches).corrupt_frame(some(20)); }},
        {"ended watches", [this] { server_.end_watches(); }},
        {"compaction", [this] { server_.compact(); }},
        {"restart", [this] { server_.restart(); }},
    };
  }
  void heal() override { server_.faults().clear(); }

 private:
  testkit::ApiServer server_;
};

class Real final : public Server {
 public:
  Real(std::string script, std::string folder)
      : script_(std::move(script)),
        folder_(std::move(folder)),
        config_(load_config({.sources = {.explicit_file = folder_ + "/kubeconfig"},
                             .overrides = {.context_name = "root"}})) {}

  [[nodiscard]] Config config() const override { return config_; }
  [[nodiscard]] std::uint16_t port() const override {
    return static_cast<std::uint16_t>(std::stoul(config_.host.substr(config_.host.rfind(':') + 1)));
  }
  std::vector<Fault> faults(std::mt19937_64& /*random*/) override {
    return {
        {"compaction",
         [this] {
           run_program({script_, "compact", folder_});
         }},
        {"restart",
         [this] {
           run_program({script_, "restart-apiserver", folder_});
         }},
    };
  }

 private:
  const std::string script_;
  const std::string folder_;
  const Config config_;
};

}  // namespace

std::unique_ptr<Server> in_process_server(std::uint64_t seed) {
  return std::make_unique<InProcess>(seed);
}
std::unique_ptr<Server> real_server(const std::string& script, const std::string& folder) {
  return std::make_unique<Real>(script, folder);
}

}  // namespace kube::chaos
