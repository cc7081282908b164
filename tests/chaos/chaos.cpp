// SPDX-License-Identifier: Apache-2.0
// Runs informers and controllers in several processes against an API server under write load, while
// faults are injected everywhere. In the end all caches must equal the server and every copy its
// source, no two agents may have led at the same time, and no resources may have leaked.
#include "agent.hpp"
#include "digest.hpp"
#include "server.hpp"
#include "support/child.hpp"
#include "support/faulty_proxy.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/client/client.hpp>
#include <kube/codec/json.hpp>
#include <kube/controller/signals.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

namespace kube::chaos {
namespace {

/// The quarantine of a sanitizer's allocator keeps freed memory to detect use after free.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryTells = false;
#else
constexpr bool kMemoryTells = true;
#endif

using core::v1::ConfigMap;
using testing_support::Child;
using testing_support::FaultyProxy;
using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

struct Options {
  int seconds = 60;
  int agents = 3;
  std::uint64_t seed = 0;
  std::string cluster;
  std::string script;
  std::string agent;
  std::string kubeconfig;
  std::string program;
};

/// A temporary folder for the agents' configuration.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "kubecxx-chaos-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("cannot create a temporary folder");
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  /// Writes a file atomically, as Kubernetes does with mounted secrets.
  void write(const std::string& name, std::string_view text) const {
    const auto half = path_ / (name + ".new");
    {
      std::ofstream file{half};
      std::filesystem::permissions(
          half, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
      file << text;
    }
    std::filesystem::rename(half, path_ / name);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// Creates, changes and deletes config maps until it is stopped. Failed requests are not retried.
void write_forever(const Client& client, std::uint64_t seed, std::atomic<std::uint64_t>& writes,
                   const std::stop_token& stop) {
  std::mt19937_64 random{seed};
  const auto maps = client.resource<ConfigMap>(kSourceNamespace);
  while (!stop.stop_requested()) {
    const std::string name = fmt::format("map-{}", random() % 200);
    try {
      const Ref<ConfigMap> before = maps.find(name, {}, stop);
      if (before && random() % 10 == 0) {
        maps.delete_(name, {}, stop);
      } else {
        ConfigMap map;
        if (before) map = *before;
        map.metadata.name = name;
        map.metadata.labels["team"] = random() % 2 == 0 ? "a" : "b";
        map.data["value"] = std::to_string(random());
        map.data["at"] = std::to_string(Steady::now().time_since_epoch() / 1ns);
        if (before) {
          maps.update(map, {}, stop);
        } else {
          maps.create(map, {}, stop);
        }
      }
      ++writes;
    } catch (const Error&) {
      // Faults are expected; only the final state counts.
    }
    static_cast<void>(system_clock().sleep_for(std::chrono::milliseconds{5 + random() % 20}, stop));
  }
}

class Run {
 public:
  explicit Run(const Options& options)
      : options_(options),
        random_(options.seed),
        server_(options.cluster.empty() ? in_process_server(options.seed)
                                        : real_server(options.script, options.cluster)),
        client_(writers_config()),
        proxy_(server_->port()) {}

  /// Returns the violations.
  std::vector<std::string> run(const std::stop_token& stop) {
    for (const char* name : {kSourceNamespace, kCopyNamespace}) make_namespace(name);
    write_configuration();
    start_agents();
    wait_for_first_copy();
    const std::vector<Value> first = reports("report");
    {
      std::vector<std::jthread> writers;
      for (std::uint64_t i = 1; i <= 2; ++i) {
        writers.emplace_back([this, i](const std::stop_token& end) {
          write_forever(client_, options_.seed + i, writes_, end);
        });
      }
      plague(stop);
    }
    heal();
    wait_until_equal();
    check(first);
    show();
    return problems_;
  }

 private:
  /// Server faults apply to agents only.
  [[nodiscard]] Config writers_config() const {
    Config config = server_->config();
    config.user_agent = "writer";
    config.qps = -1;
    return config;
  }
  void make_namespace(const char* name) {
    core::v1::Namespace space;
    space.metadata.name = name;
    const auto spaces = client_.resource<core::v1::Namespace>();
    if (!spaces.find(name)) spaces.create(space);
  }
  /// Agents connect through the proxy and read their token from a file.
  void write_configuration() {
    const Config config = server_->config();
    good_token_ = config.bearer_token;
    const std::string ca =
        config.tls.ca_data.empty() ? read(config.tls.ca_file) : config.tls.ca_data;
    folder_.write("ca.crt", ca);
    folder_.write("token", good_token_);
    folder_.write("kubeconfig", fmt::format(R"(apiVersion: v1
kind: Config
current-context: chaos
clusters: [{{name: chaos, cluster: {{server: "https://127.0.0.1:{}", certificate-authority: ca.crt}}}}]
users: [{{name: chaos, user: {{tokenFile: token}}}}]
contexts: [{{name: chaos, context: {{cluster: chaos, user: chaos}}}}]
)",
                                            proxy_.port()));
  }
  static std::string read(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  void start_agent(const std::string& name) {
    agents_.push_back(std::make_unique<Child>(std::vector<std::string>{
        options_.program, "--agent", name, "--kubeconfig", folder_.path("kubeconfig")}));
  }
  void start_agents() {
    for (int i = 0; i < options_.agents; ++i) {
      start_agent(fmt::format("agent-{}", i));
    }
  }
  /// Waits until everything is running.
  void wait_for_first_copy() {
    ConfigMap map;
    map.metadata.name = "first";
    map.data["value"] = "0";
    client_.resource<ConfigMap>(kSourceNamespace).create(map);
    wait_until_equal();
    if (!problems_.empty()) throw std::runtime_error("failed before any fault: " + problems_[0]);
  }
  std::vector<Value> reports(const std::string& question) {
    std::vector<Value> all;
    for (auto& agent : agents_) all.push_back(*decode_json<Value>(agent->ask(question)));
    return all;
  }

  std::vector<Fault> faults() {
    const auto ms = [this](int least, int most) {
      return std::chrono::milliseconds{least + static_cast<int>(random_() % (most - least))};
    };
    std::vector<Fault> all{
        {"cut", [this] { proxy_.cut(); }},
        {"half-open", [this, ms] { proxy_.hold(ms(500, 4000)); }},
        {"delay", [this, ms] { proxy_.delay(ms(20, 500), ms(500, 3000)); }},
        {"bandwidth", [this, ms] { proxy_.throttle(20'000, ms(500, 3000)); }},
        {"corrupt byte", [this] { proxy_.corrupt(); }},
        {"refused",
         [this, ms] {
           proxy_.refuse(ms(200, 2000));
           proxy_.cut();
         }},
        {"wrong token",
         [this, ms] {
           folder_.write("token", "expired");
           proxy_.cut();
           static_cast<void>(system_clock().sleep_for(ms(200, 1500), {}));
           folder_.write("token", good_token_);
         }},
        {"clock jump",
         [this] {
           const int by = static_cast<int>(random_() % 7200) - 3600;
           agents_[random_() % agents_.size()]->ask(fmt::format("jump {}", by));
         }},
        {"agent killed",
         [this] {
           // The replacement agent starts with empty caches.
           const std::size_t which = random_() % agents_.size();
           dead_.push_back(*decode_json<Value>(agents_[which]->ask("report")));
           agents_.erase(agents_.begin() + static_cast<std::ptrdiff_t>(which));
           start_agent(fmt::format("agent-{}", options_.agents + killed_++));
         }},
    };
    for (auto& fault : server_->faults(random_)) all.push_back(std::move(fault));
    return all;
  }
  void plague(const std::stop_token& stop) {
    const std::vector<Fault> all = faults();
    std::vector<int> weights;
    for (const Fault& fault : all) weights.push_back(fault.weight);
    std::discrete_distribution<std::size_t> choose{weights.begin(), weights.end()};
    const auto end = Steady::now() + std::chrono::seconds{options_.seconds};
    while (Steady::now() < end && !stop.stop_requested()) {
      const Fault& fault = all[choose(random_)];
      fault.happen();
      ++counts_[fault.name];
      if (!system_clock().sleep_for(std::chrono::milliseconds{100 + random_() % 900}, stop)) break;
    }
  }
  void heal() {
    proxy_.heal();
    server_->heal();
    folder_.write("token", good_token_);
  }

  struct Expected {
    std::string all;
    std::string chosen;
    bool copied = true;
  };
  Expected expected() const {
    Digest all;
    Digest chosen;
    std::map<std::string, std::string> sources;
    std::map<std::string, std::string> copies;
    for (const Ref<ConfigMap>& map : client_.resource<ConfigMap>().list_all().items) {
      const auto space = map->metadata.namespace_.view();
      all.add(space, map->metadata.name.view(), map->metadata.resource_version.view());
      const String* team = map->metadata.labels.find("team");
      if (team != nullptr && *team == "a") {
        chosen.add(space, map->metadata.name.view(), map->metadata.resource_version.view());
      }
      const String* value = map->data.find("value");
      if (value == nullptr) continue;
      if (space == kSourceNamespace) sources[map->metadata.name.str()] = value->str();
      if (space == kCopyNamespace) copies[map->metadata.name.str()] = value->str();
    }
    return {all.text(), chosen.text(), sources == copies};
  }
  /// The writers have stopped; waits until the controller is idle, too.
  void wait_until_equal() {
    const auto healed = Steady::now();
    std::string difference;
    do {
      const Expected wanted = expected();
      difference = wanted.copied ? "" : "copies differ from their sources";
      for (const Value& report : reports("report")) {
        if (report["all"].as_string() != wanted.all) difference = "a cache differs from the server";
        if (report["metadata"].as_string() != wanted.all) difference = "a metadata cache differs";
        if (report["chosen"].as_string() != wanted.chosen) difference = "a cache by label differs";
      }
      if (difference.empty()) {
        settled_ = Steady::now() - healed;
        return;
      }
      static_cast<void>(system_clock().sleep_for(200ms, {}));
    } while (Steady::now() - healed < 90s);
    problems_.push_back(difference + " after 90 s without a fault");
  }

  void check(const std::vector<Value>& first) {
    last_ = reports("report");
    std::int64_t told_wrong = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> terms;
    std::int64_t threads_at_first = 0;
    std::int64_t memory_at_first = 0;
    for (const Value& report : first) {
      threads_at_first = std::max(threads_at_first, report["threads"].as_integer());
      memory_at_first = std::max(memory_at_first, report["rss_kb"].as_integer());
    }
    for (const Value& report : last_) {
      told_wrong += report["order_errors"].as_integer();
      const std::string objects{report["all"].as_string()};
      if (std::stoll(objects) != report["told"].as_integer()) {
        problems_.push_back(fmt::format("a handler received {} objects, but there are {}",
                                        report["told"].as_integer(), objects));
      }
      // The number varies slightly because requests start short-lived threads.
      if (report["threads"].as_integer() > threads_at_first + 8) {
        problems_.push_back(fmt::format("threads grew from {} to {}", threads_at_first,
                                        report["threads"].as_integer()));
      }
      if (kMemoryTells && report["rss_kb"].as_integer() > memory_at_first + 20'000) {
        problems_.push_back(fmt::format("memory grew from {} to {} kB", memory_at_first,
                                        report["rss_kb"].as_integer()));
      }
    }
    for (const std::vector<Value>* reports : {&last_, &dead_}) {
      for (const Value& report : *reports) {
        for (const Value& term : report["terms"].as_array()) {
          terms.emplace_back(term[0].as_integer(), term[1].as_integer());
        }
      }
    }
    if (told_wrong > 0) {
      problems_.push_back(fmt::format("{} changes were delivered in the wrong order", told_wrong));
    }
    std::sort(terms.begin(), terms.end());
    for (std::size_t i = 1; i < terms.size(); ++i) {
      if (terms[i].first < terms[i - 1].second) problems_.emplace_back("two agents led at once");
    }
    terms_ = terms.size();
    for (auto& agent : agents_) agent->ask("stop");
    for (auto& agent : agents_) {
      if (const int status = agent->wait(); status != 0) {
        problems_.push_back(fmt::format("an agent ended with status {}", status));
      }
    }
  }

  void show() const {
    fmt::print("{:<24}{:>10}\n", "faults injected", "times");
    for (const auto& [name, count] : counts_) fmt::print("  {:<22}{:>10}\n", name, count);
    std::int64_t events = 0;
    std::int64_t lists = 0;
    std::int64_t watches = 0;
    std::int64_t staleness = 0;
    for (const Value& report : last_) {
      events += report["events"].as_integer();
      lists += report["lists"].as_integer();
      watches += report["watches"].as_integer();
      staleness = std::max(staleness, report["staleness_ms"].as_integer());
    }
    fmt::print("{:<24}{:>10}\n", "writes", writes_.load());
    fmt::print("{:<24}{:>10}\n", "events delivered", events);
    fmt::print("{:<24}{:>10}\n", "lists", lists);
    fmt::print("{:<24}{:>10}\n", "watches", watches);
    fmt::print("{:<24}{:>10}\n", "leadership terms", terms_);
    fmt::print("{:<24}{:>7} ms\n", "longest staleness", staleness);
    fmt::print("{:<24}{:>7} ms\n", "converged within", settled_ / 1ms);
  }

  const Options options_;
  std::mt19937_64 random_;
  const Folder folder_;
  const std::unique_ptr<Server> server_;
  const Client client_;
  FaultyProxy proxy_;
  std::vector<std::unique_ptr<Child>> agents_;
  std::string good_token_;
  std::atomic<std::uint64_t> writes_ = 0;
  int killed_ = 0;
  std::map<std::string, int> counts_;
  std::vector<Value> last_;
  std::vector<Value> dead_;  // last reports of killed agents
  std::size_t terms_ = 0;
  Steady::duration settled_{};
  std::vector<std::string> problems_ = {};
};

int chaos(Options options) {
  const auto stop = stop_on_signals();
  if (options.seed == 0) options.seed = std::random_device{}();
  fmt::print("seed {}: {} agents, {} s, {}\n", options.seed, options.agents, options.seconds,
             options.cluster.empty() ? "in-process server" : "real server");
  std::fflush(stdout);
  const std::vector<std::string> problems = Run{options}.run(stop);
  for (const std::string& problem : problems) fmt::print("FAILED  {}\n", problem);
  fmt::print("{}\n", problems.empty() ? "no violations" : "there are violations");
  return problems.empty() ? 0 : 1;
}

}  // namespace
}  // namespace kube::chaos

int main(int argc, char** argv) {
  kube::chaos::Options options;
  options.program = argv[0];
  CLI::App app{"Injects faults into informers and controllers, and checks their promises."};
  app.add_option("--seconds", options.seconds, "how long faults are injected")
      ->capture_default_str();
  app.add_option("--agents", options.agents, "processes with informers")->capture_default_str();
  app.add_option("--seed", options.seed, "seed of the fault sequence; 0: a new one");
  app.add_option(
      "--cluster", options.cluster,
      "folder of a control plane that cluster.sh has started; else a server in this process");
  app.add_option("--cluster-script", options.script, "path of that cluster.sh");
  app.add_option("--agent", options.agent, "run as the agent of this name")->group("");
  app.add_option("--kubeconfig", options.kubeconfig)->group("");
  CLI11_PARSE(app, argc, argv);
  try {
    if (!options.agent.empty()) return kube::chaos::run_agent({options.kubeconfig, options.agent});
    return kube::chaos::chaos(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "chaos: {}\n", error.what());
    return 1;
  }
}
