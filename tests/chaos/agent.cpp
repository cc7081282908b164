// SPDX-License-Identifier: Apache-2.0
#include "agent.hpp"

#include "digest.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/base/condition.hpp>
#include <kube/codec/json.hpp>
#include <kube/config/load.hpp>
#include <kube/controller/manager.hpp>
#include <kube/informers/resource_informer_factory.hpp>
#include <kube/informers/shared_informer_factory.hpp>

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace kube::chaos {
namespace {

using core::v1::ConfigMap;
using meta::v1::PartialObjectMetadata;
using namespace std::chrono_literals;

/// The system clock, with a wall time that can be made to jump.
class LeapingClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return system_clock().now(); }
  [[nodiscard]] WallTime wall_now() const override {
    return system_clock().wall_now() + std::chrono::seconds{offset_.load()};
  }
  bool wait_until(std::unique_lock<std::mutex>& lock, Condition& condition, TimePoint deadline,
                  std::stop_token stop, const std::function<bool()>& ready) override {
    return system_clock().wait_until(lock, condition, deadline, std::move(stop), ready);
  }
  void leap(std::int64_t seconds) { offset_ += seconds; }

 private:
  std::atomic<std::int64_t> offset_ = 0;
};

std::int64_t nanoseconds() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds{1};
}
std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Records notifications about objects and checks their consistency.
class Witness {
 public:
  void added(const ConfigMap& now) {
    const std::lock_guard guard{mutex_};
    note_locked(now);
    ++existing_;
  }
  void updated(const ConfigMap& now) {
    const std::lock_guard guard{mutex_};
    note_locked(now);
  }
  void deleted(const ObjectKey& key) {
    const std::lock_guard guard{mutex_};
    if (versions_.erase(key.str()) == 0) ++errors_;  // deleted twice, or never added
    --existing_;
    ++events_;
  }
  /// Marks the end of the initial state: later notifications are changes.
  void settled() {
    const std::lock_guard guard{mutex_};
    settled_ = true;
  }
  void fill(Value& report) const {
    const std::lock_guard guard{mutex_};
    report["events"] = static_cast<std::int64_t>(events_);
    report["order_errors"] = static_cast<std::int64_t>(errors_);
    report["told"] = existing_;
    report["staleness_ms"] = staleness_ / 1'000'000;
  }

 private:
  void note_locked(const ConfigMap& now) {
    ++events_;
    const std::uint64_t version = number(now.metadata.resource_version.view());
    std::uint64_t& before = versions_[key_of(now).str()];
    if (version < before) ++errors_;
    before = version;
    const String* written = now.data.find("at");
    if (!settled_ || written == nullptr) return;
    staleness_ =
        std::max(staleness_, nanoseconds() - static_cast<std::int64_t>(number(written->view())));
  }

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::map<std::string, std::uint64_t> versions_;
  std::uint64_t events_ = 0;
  std::uint64_t errors_ = 0;
  std::int64_t existing_ = 0;
  std::int64_t staleness_ = 0;  // in ns
  bool settled_ = false;
};

/// The intervals in which this process was the leader. Overlaps between processes are detected from
/// them.
class Terms {
 public:
  void work(std::int64_t from, std::int64_t to) {
    const std::lock_guard guard{mutex_};
    if (current_) {
      current_->second = std::max(current_->second, to);
    } else {
      current_ = {from, to};
    }
  }
  void end() {
    const std::lock_guard guard{mutex_};
    if (current_) past_.push_back(*current_);
    current_.reset();
  }
  void fill(Value& report) const {
    const std::lock_guard guard{mutex_};
    Value& terms = report["terms"] = Value::array();
    for (const auto& term : past_) add(terms, term);
    if (current_) add(terms, *current_);
  }

 private:
  using Term = std::pair<std::int64_t, std::int64_t>;
  static void add(Value& terms, const Term& term) {
    Value entry = Value::array();
    entry.push_back(term.first);
    entry.push_back(term.second);
    terms.push_back(std::move(entry));
  }

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::optional<Term> current_;
  std::vector<Term> past_;
};

/// Maps a copy to its source, too: a source may be deleted before its event was seen.
std::vector<Request> source_of(const ConfigMap& map) {
  const std::string_view space = map.metadata.namespace_.view();
  if (space != kSourceNamespace && space != kCopyNamespace) return {};
  if (map.data.find("value") == nullptr) return {};  // an unrelated object in the namespace
  return {Request{{kSourceNamespace, map.metadata.name.str()}}};
}

/// Reconciles the copy of one source.
Result copy_one(const Manager& manager, const Request& request) {
  const auto copies = manager.client().resource<ConfigMap>(kCopyNamespace);
  const Ref<ConfigMap> source = manager.find<ConfigMap>(request.key);
  const Ref<ConfigMap> copy = copies.find(request.key.name);
  if (!source) {
    if (copy) copies.delete_(request.key.name, {.uid = copy->metadata.uid.str()});
    return done();
  }
  ConfigMap wanted;
  if (copy) wanted = *copy;
  wanted.metadata.name = request.key.name;
  wanted.metadata.namespace_ = kCopyNamespace;
  wanted.data["value"] = source->data.find("value")->view();
  if (!copy) {
    copies.create(wanted);
  } else if (*copy->data.find("value") != *source->data.find("value")) {
    copies.update(wanted);
  }
  return done();
}

class Agent {
 public:
  explicit Agent(AgentOptions options)
      : options_(std::move(options)),
        config_(without_limit(load_config({.sources = {.explicit_file = options_.kubeconfig}}))),
        client_(config_, {.clock = &clock_}),
        typed_(client_, factory_options()),
        chosen_(client_,
                factory_options([](ListOptions& list) { list.label_selector = "team=a"; })),
        metadata_(client_, factory_options()) {}

  int run() {
    typed_.informer<ConfigMap>().add_event_handler({
        .on_add = [this](const ConfigMap& now) { witness_.added(now); },
        .on_update = [this](const ConfigMap&, const ConfigMap& now) { witness_.updated(now); },
        .on_delete = [this](const Deleted<ConfigMap>& gone) { witness_.deleted(gone.key); },
    });
    chosen_.for_resource(kConfigMaps).informer();
    metadata_.for_resource(kConfigMaps).informer();
    typed_.start();
    chosen_.start();
    metadata_.start();
    typed_.wait_for_cache_sync().or_throw();
    witness_.settled();
    std::jthread controller{[this](const std::stop_token& stop) { control(stop); }};
    std::string line;
    while (std::getline(std::cin, line) && line != "stop") {
      if (line.starts_with("jump ")) clock_.leap(std::stoll(line.substr(5)));
      answer();
    }
    controller.request_stop();
    controller.join();
    typed_.shutdown();
    chosen_.shutdown();
    metadata_.shutdown();
    answer();
    return 0;
  }

 private:
  static Config without_limit(Config config) {
    config.qps = -1;
    return config;
  }
  static inline const GroupVersionResource kConfigMaps{"", "v1", "configmaps"};

  FactoryOptions factory_options(std::function<void(ListOptions&)> tweak = nullptr) {
    FactoryOptions options{.tweak_list_options = std::move(tweak)};
    options.on_state = [this](std::string_view, const ReflectorEvent& event) {
      using Kind = ReflectorEvent::Kind;
      if (event.kind == Kind::kListed || event.kind == Kind::kStateStreamed) ++lists_;
      if (event.kind == Kind::kWatching) ++watches_;
    };
    options.clock = &clock_;
    // The defaults are tuned for outages of minutes.
    options.backoff = {.initial = 100ms, .factor = 2, .jitter = 1, .cap = 2s};
    return options;
  }

  /// Runs managers one after another: a manager ends when it loses leadership, and a new one
  /// starts, like the next process would.
  void control(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      try {
        Manager manager{config_,
                        {.leader_election = {.name = kLeaseName,
                                             .namespace_ = kCopyNamespace,
                                             .identity = options_.name,
                                             .lease_duration = 6s,
                                             .renew_deadline = 4s,
                                             .retry_period = 500ms,
                                             .release_on_cancel = true},
                         .max_concurrent_reconciles = 4,
                         .clock = &clock_}};
        manager.controller("copy").watches<ConfigMap>(source_of).reconcile(
            [&](const Request& request) {
              const std::int64_t from = nanoseconds();
              const Result result = copy_one(manager, request);
              terms_.work(from, nanoseconds());
              return result;
            });
        manager.run(stop);
      } catch (const std::exception& error) {
        ++restarts_;
        std::cerr << options_.name << ": " << error.what() << '\n';
      }
      terms_.end();
      static_cast<void>(clock_.sleep_for(500ms, stop));
    }
  }

  void answer() {
    Digest all;
    typed_.informer<ConfigMap>().indexer().snapshot().for_each([&](const ConfigMap& map) {
      all.add(map.metadata.namespace_.view(), map.metadata.name.view(),
              map.metadata.resource_version.view());
    });
    Digest chosen;
    for (const Ref<Value>& map : chosen_.for_resource(kConfigMaps).lister().list()) {
      const Value& metadata = (*map)["metadata"];
      chosen.add(metadata["namespace"].as_string(), metadata["name"].as_string(),
                 metadata["resourceVersion"].as_string());
    }
    Digest partial;
    for (const auto& map : metadata_.for_resource(kConfigMaps).lister().list()) {
      partial.add(map->metadata.namespace_.view(), map->metadata.name.view(),
                  map->metadata.resource_version.view());
    }
    Value report = Value::object();
    report["all"] = all.text();
    report["chosen"] = chosen.text();
    report["metadata"] = partial.text();
    report["lists"] = lists_.load();
    report["watches"] = watches_.load();
    report["restarts"] = restarts_.load();
    report["threads"] = static_cast<std::int64_t>(
        std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, {}));
    report["rss_kb"] = resident_kb();
    witness_.fill(report);
    terms_.fill(report);
    std::cout << encode_json(report) << std::endl;
  }
  static std::int64_t resident_kb() {
    std::ifstream status{"/proc/self/status"};
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
    }
    return 0;
  }

  const AgentOptions options_;
  LeapingClock clock_;
  const Config config_;
  const Client client_;
  Witness witness_;
  Terms terms_;
  std::atomic<std::int64_t> lists_ = 0;
  std::atomic<std::int64_t> watches_ = 0;
  std::atomic<std::int64_t> restarts_ = 0;
  SharedInformerFactory typed_;
  DynamicInformerFactory chosen_;
  MetadataInformerFactory metadata_;
};

}  // namespace

int run_agent(const AgentOptions& options) { return Agent{options}.run(); }

}  // namespace kube::chaos
