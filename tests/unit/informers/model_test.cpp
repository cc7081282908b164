// SPDX-License-Identifier: Apache-2.0
// Model test: random writers, random faults, many informers. In the end every cache equals the
// server, and every handler has received a consistent sequence of events that ends in the same
// state.
//
// A failure prints its seed. By hand:
//   KUBECXX_MODEL_SEED=7 KUBECXX_MODEL_STEPS=1000000 informers_model_test
#include "consistency_checker.hpp"
#include "wire_setup.hpp"
#include "troubles.hpp"

#include <kube/base/condition.hpp>
#include <kube/base/error.hpp>

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <deque>
#include <set>
#include <shared_mutex>

namespace kube {
namespace {

using namespace std::chrono_literals;
using namespace testing_support;
using Metadata = meta::v1::PartialObjectMetadata;
using testkit::ApiServer;

unsigned long from_environment(const char* name, unsigned long otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoul(text);
}

using Random = std::mt19937;
bool chance(Random& random, unsigned per_mille) { return random() % 1000 < per_mille; }

const std::vector<std::string> kColors{"red", "green", "blue"};

/// Selects the objects of an informer.
struct Selection {
  std::string test;  ///< a label of all objects of this test
  std::string space = {};
  std::string color = {};
  std::string name = {};

  [[nodiscard]] bool matches(const Value& map) const {
    return (space.empty() || map.get_string("metadata.namespace") == space) &&
           (color.empty() || map.get_string("metadata.labels.color") == color) &&
           (name.empty() || map.get_string("metadata.name") == name);
  }
  void tweak(ListOptions& options) const {
    options.label_selector = "test=" + test + (color.empty() ? "" : ",color=" + color);
    if (!name.empty()) options.field_selector = "metadata.name=" + name;
  }
};

/// All objects on the server.
using Objects = std::vector<Ref<Value>>;

/// An informer whose handlers are added and removed.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual void add_handler(Random& random) = 0;
  virtual void remove_handler(Random& random) = 0;
  /// Empty if the cache and all handlers have exactly the server's objects.
  [[nodiscard]] virtual std::string difference(const Objects& objects) const = 0;
  /// The first contradiction found by any handler, removed ones included.
  [[nodiscard]] virtual std::string contradiction() const = 0;
  [[nodiscard]] virtual std::size_t calls() const = 0;
  /// The last actions of its reflector.
  [[nodiscard]] virtual std::string history() const = 0;
  virtual void stop() = 0;
};

template <typename T>
class SubjectOf final : public Subject {
 public:
  SubjectOf(Resource<T> resource, Selection selection, InformerOptions<T> options)
      : selection_(std::move(selection)),
        queue_kind_(options.queue_kind),
        informer_(std::make_shared<ResourceListWatch<T>>(
                      std::move(resource), [this](ListOptions& list) { selection_.tweak(list); }),
                  with_history(std::move(options))) {
    thread_ = std::jthread{[this](std::stop_token stop) { informer_.run(std::move(stop)); }};
  }
  ~SubjectOf() override { stop(); }

  void add_handler(Random& random) override {
    const HandlerFaults faults{.slow_percent = chance(random, 300) ? 20 : 0,
                               .throw_percent = chance(random, 200) ? 5 : 0};
    auto checker = std::make_unique<ConsistencyChecker<T>>(static_cast<unsigned>(random()), faults);
    HandlerOptions options{.backlog = static_cast<BacklogPolicy>(random() % 3),
                           .high_water = 1 + random() % 50};
    if (chance(random, 300)) options.resync = std::chrono::seconds{random() % 200};
    handlers_.push_back({std::move(checker), {}});
    handlers_.back().registration =
        informer_.add_event_handler(handlers_.back().checker->handler(), std::move(options));
  }
  void remove_handler(Random& random) override {
    if (handlers_.empty()) return;
    const std::size_t which = random() % handlers_.size();
    Handler& handler = handlers_[which];
    // Only then are there no further calls.
    informer_.remove_event_handler(handler.registration, chance(random, 500)
                                                             ? Removal::kAtOnceAndWait
                                                             : Removal::kDrainAndWait);
    if (contradiction_.empty()) contradiction_ = handler.checker->contradiction();
    calls_ += handler.checker->calls();
    handlers_.erase(handlers_.begin() + static_cast<std::ptrdiff_t>(which));
  }
  [[nodiscard]] std::string difference(const Objects& objects) const override {
    const std::string truth =
        shown(objects, [&](const Value& map) { return selection_.matches(map); });
    const std::string cached = shown(informer_.indexer());
    if (cached != truth) return "\nserver  " + truth + "\ncache   " + cached + last_error();
    for (const Handler& handler : handlers_) {
      const std::string believed = handler.checker->believes();
      if (believed != truth) return "\nserver  " + truth + "\nhandler " + believed + last_error();
      if (!handler.registration.has_synced()) return "a handler is not synced";
    }
    return index_difference(objects);
  }
  [[nodiscard]] std::string contradiction() const override {
    if (!contradiction_.empty()) return contradiction_;
    for (const Handler& handler : handlers_) {
      if (std::string found = handler.checker->contradiction(); !found.empty()) return found;
    }
    return {};
  }
  [[nodiscard]] std::size_t calls() const override {
    std::size_t all = calls_;
    for (const Handler& handler : handlers_) all += handler.checker->calls();
    return all;
  }
  [[nodiscard]] std::string history() const override {
    const std::lock_guard guard{mutex_};
    std::string all = fmt::format("\n{}, namespace '{}', color '{}', name '{}', queue {}",
                                  detail::kObjectAccess<T>.type->name, selection_.space,
                                  selection_.color, selection_.name, static_cast<int>(queue_kind_));
    for (const std::string& line : history_) all += "\n  " + line;
    return all;
  }
  void stop() override {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  InformerOptions<T> with_history(InformerOptions<T> options) {
    options.on_state = [this](const ReflectorEvent& event) {
      const std::lock_guard guard{mutex_};
      history_.push_back(fmt::format("{} {} ({} items) {}", to_string(event.kind),
                                     event.resource_version, event.items, event.message));
      if (history_.size() > 100) history_.pop_front();
    };
    return options;
  }
  struct Handler {
    std::unique_ptr<ConsistencyChecker<T>> checker;
    HandlerRegistration registration;
  };
  [[nodiscard]] std::string last_error() const { return "\nerror   " + informer_.last_error(); }
  /// Empty if indexes and objects agree.
  [[nodiscard]] std::string index_difference(const Objects& objects) const {
    const Snapshot<T> cache = informer_.indexer().snapshot();
    std::set<std::string_view> spaces;
    for (const auto& object : objects) spaces.insert(*object->get_string("metadata.namespace"));
    std::size_t by_space = 0;
    for (const auto space : spaces) by_space += cache.by_index("namespace", space).size();
    std::size_t by_color = 0;
    for (const std::string& color : kColors) {
      by_color += cache.list("", labels::Selector::parse("color=" + color)).size();
    }
    if (by_space == cache.size() && by_color == cache.size()) return {};
    return fmt::format("{} objects, {} by namespace, {} by label", cache.size(), by_space,
                       by_color);
  }

  const Selection selection_;
  const QueueKind queue_kind_;
  mutable std::mutex mutex_;
  std::deque<std::string> history_;  // guarded by mutex_
  SharedIndexInformer<T> informer_;
  std::vector<Handler> handlers_;
  std::string contradiction_;
  std::size_t calls_ = 0;
  std::jthread thread_;
};

/// A server with writers, faults and informers.
class Model {
 public:
  explicit Model(unsigned long seed)
      : random_(static_cast<unsigned>(seed)),
        setup_(wire_setups()[random_() % wire_setups().size()]),
        server_(server_options(seed)),
        test_(server_.space()),
        spaces_{test_, server_.add_space(), server_.add_space()},
        client_(make_client()) {
    add<ConfigMap>(client_.resource<ConfigMap>(), {test_});
    add<ConfigMap>(client_.resource<ConfigMap>(spaces_[0]), {.test = test_, .space = spaces_[0]});
    add<ConfigMap>(client_.resource<ConfigMap>(), {.test = test_, .color = "red"});
    add<Value>(client_.dynamic(kConfigMaps), {.test = test_, .color = "blue"});
    add<Value>(client_.dynamic(kConfigMaps, spaces_[1]), {.test = test_, .space = spaces_[1]});
    add<Metadata>(client_.metadata(kConfigMaps), {.test = test_, .name = "m1"});
    add<Metadata>(client_.metadata(kConfigMaps, spaces_[2]),
                  {.test = test_, .space = spaces_[2], .color = "green"});
  }

  /// Runs everything concurrently until the writers have made `steps` changes.
  void run(unsigned long steps) {
    constexpr unsigned kWriters = 3;
    std::atomic<unsigned> writing = kWriters;
    std::vector<std::jthread> writers;
    for (unsigned i = 0; i < kWriters; ++i) {
      writers.emplace_back([this, &writing, i, steps, seed = random_()] {
        Random random{static_cast<unsigned>(seed)};
        for (unsigned long step = 0; step < steps / kWriters; ++step) write(random, i == 0);
        --writing;
      });
    }
    while (writing > 0) {
      if (chance(random_, 300)) {
        if (server_.is_real()) {
          make_real_trouble();
        } else {
          make_trouble();
        }
      }
      if (chance(random_, 100)) {
        Subject& subject = *subjects_[random_() % subjects_.size()];
        if (chance(random_, 550)) {
          subject.add_handler(random_);
        } else {
          subject.remove_handler(random_);
        }
      }
      if (server_.is_real()) {  // a real server is slower, so faults are rarer
        server_.wait_for([&] { return writing == 0; }, 30ms);
      } else {
        std::this_thread::yield();
      }
    }
  }
  /// Waits until all informers have the server's state. Returns the difference; empty if there is
  /// none.
  std::string settle() {
    if (!server_.is_real()) server_->faults().clear();
    server_.drop_connections();  // faults that have occurred remain in effect
    for (const auto& subject : subjects_) subject->add_handler(random_);
    Objects objects;
    for (const std::string& space : spaces_) {
      for (auto& object : server_.list(kConfigMaps, space)) objects.push_back(std::move(object));
    }
    std::string difference;
    const bool settled = server_.wait_for(
        [&] {
          difference.clear();
          for (const auto& subject : subjects_) {
            if (difference.empty()) difference = subject->difference(objects);
          }
          return difference.empty();
        },
        60s);
    for (const auto& subject : subjects_) {
      subject->stop();
      if (std::string wrong = subject->contradiction(); !wrong.empty()) {
        difference += '\n' + wrong + subject->history();
      }
    }
    return settled ? difference : "not settled: " + difference;
  }
  [[nodiscard]] std::size_t calls() const {
    std::size_t all = 0;
    for (const auto& subject : subjects_) all += subject->calls();
    return all;
  }
  [[nodiscard]] std::string describe() {
    return fmt::format("{}, {} faults struck, {} calls of handlers", setup_.name,
                       server_.is_real() ? 0 : server_->faults().struck(), calls());
  }

 private:
  testkit::ApiServerOptions server_options(unsigned long seed) {
    return {.tls = setup_.tls,
            .http2 = setup_.http2,
            .compress_watches = setup_.compress,
            .seed = seed + 1,
            .history_size = 10 + random_() % 300};
  }
  Client make_client() {
    Config config = server_.config();
    config.content_type = setup_.content_type;
    const auto patience = server_.is_real() ? 5s : 200ms;
    // HTTP/1.1 has no other way to detect a peer that no longer responds.
    if (!setup_.http2) config.timeout = patience;
    ClientOptions options{.clock = &clock_};
    options.credentials = make_credentials(config, {.clock = &clock_});
    options.transport = make_http_transport({.base_url = config.host,
                                             .credentials = options.credentials,
                                             .disable_http2 = !setup_.http2,
                                             .read_idle_timeout = patience,
                                             .ping_timeout = patience});
    return Client{std::move(config), std::move(options)};
  }
  template <typename T>
  void add(Resource<T> resource, Selection selection) {
    InformerOptions<T> options;
    options.queue_kind = chance(random_, 300) ? QueueKind::kDeltaFifo : QueueKind::kInOrder;
    if (chance(random_, 300)) options.resync = std::chrono::seconds{1 + random_() % 100};
    options.resync_chunk = 1 + random_() % 20;
    options.max_queued = chance(random_, 500) ? 0 : 1 + random_() % 30;
    options.batch_size = 1 + random_() % 30;
    options.compress = chance(random_, 300);
    options.clock = &clock_;
    options.watch_list = setup_.watch_list;
    options.page_size = chance(random_, 300) ? 1 + random_() % 5 : 0;
    options.max_internal_error_retry = chance(random_, 300) ? 10s : 0s;
    subjects_.push_back(std::make_unique<SubjectOf<T>>(std::move(resource), std::move(selection),
                                                       std::move(options)));
    subjects_.back()->add_handler(random_);
  }

  void write(Random& random, bool over_http) {
    const std::string& space = spaces_[random() % spaces_.size()];
    const std::string name = fmt::format("m{}", random() % 8);
    const std::string& color = kColors[random() % kColors.size()];
    const bool erase = chance(random, 300);
    const LabelList labels{{"test", test_}, {"color", color}};
    // No writes while the server restarts.
    const std::shared_lock guard{restarting_};
    try {
      if (!over_http) {
        if (erase) {
          server_.remove(kConfigMaps, space, name);
        } else {
          server_.create(config_map(space, name, std::to_string(random()), labels));
        }
        return;
      }
      const Resource<ConfigMap> maps = client_.resource<ConfigMap>(space);
      if (erase) {
        maps.delete_(name);
      } else if (chance(random, 500)) {
        maps.create(config_map(space, name, "new", labels));
      } else {
        maps.patch(name, PatchType::kMerge,
                   fmt::format(R"({{"metadata":{{"labels":{{"color":"{}"}}}}}})", color));
      }
    } catch (const Error&) {
      // The object exists already, or does not exist, or a fault occurred: only the server knows
      // the outcome.
    }
  }
  /// Causes faults that are possible with a real server.
  void make_real_trouble() {
    switch (random_() % 8) {
      case 0:
        server_.drop_connections();
        break;
      case 1:
        server_.stop();
        server_.start();
        break;
      default:
        break;
    }
  }
  void make_trouble() {
    const Trouble& trouble = kTroubles[random_() % kTroubles.size()];
    switch (random_() % 12) {
      case 0:
        server_->end_watches();
        break;
      case 1:
        server_->faults().drop_connections();
        break;
      case 2:
        server_->faults().expire_history();
        break;
      case 3:
        server_->shrink_history(random_() % 10);
        break;
      case 4:
        server_->faults().clear();
        break;
      case 5:
        if (chance(random_, 200)) {
          const std::unique_lock guard{restarting_};
          server_->restart(chance(random_, 200) ? ApiServer::State::kForget
                                                : ApiServer::State::kKeep);
        }
        break;
      case 6:
      case 7:
        server_->send_bookmarks();
        break;
      default: {
        testkit::RequestFilter filter{.resource = "configmaps"};
        if (trouble.only_watches || chance(random_, 300)) filter.verb = "watch";
        trouble.install(std::move(server_->faults()
                                      .next(1 + static_cast<int>(random_() % 3))
                                      .matching(filter)
                                      .after(static_cast<int>(random_() % 3))),
                        server_->revision());
      }
    }
  }
  /// Advances the clock, so that no wait takes long.
  void pass_time(const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock{mutex};
    Condition ended;
    while (!ended.wait_until(lock, stop, std::chrono::steady_clock::now() + 1ms, [] {
      return false;
    }) && !stop.stop_requested()) {
      const Clock::TimePoint next = clock_.next_deadline();
      if (next == Clock::TimePoint::max()) continue;
      if (const Clock::Duration left = next - clock_.now(); left > 0s) clock_.advance(left);
    }
  }

  Random random_;
  const WireSetup setup_;
  testkit::FakeClock clock_;  // of the client and its informers
  std::shared_mutex restarting_;
  TestServer server_;
  const std::string test_;
  const std::vector<std::string> spaces_;
  Client client_;
  std::jthread time_{[this](const std::stop_token& stop) { pass_time(stop); }};
  std::vector<std::unique_ptr<Subject>> subjects_;
};

// Consistency promise, I-28, P-2, S-13, S-19, C-8, C-9, R-15, K-1, K-2, K-30, K-36
TEST(InformerModel, EndsWithTheStateOfTheServer) {
  const unsigned long first = from_environment("KUBECXX_MODEL_SEED", 1);
  const unsigned long rounds = from_environment("KUBECXX_MODEL_ROUNDS", 4);
  const unsigned long steps = from_environment("KUBECXX_MODEL_STEPS", 1500);
  const bool by_hand = std::getenv("KUBECXX_MODEL_SEED") != nullptr;
  const std::size_t objects = live_objects();
  const std::size_t threads = thread_count();
  for (unsigned long seed = first; seed < first + rounds; ++seed) {
    SCOPED_TRACE(fmt::format("KUBECXX_MODEL_SEED={} KUBECXX_MODEL_STEPS={}", seed, steps));
    {
      Model model{seed};
      model.run(steps);
      ASSERT_EQ(model.settle(), "") << model.describe();
      EXPECT_GT(model.calls(), 0U);
      if (by_hand) fmt::print("seed {}: {}\n", seed, model.describe());
    }
    EXPECT_TRUE(threads_return_to(threads));
    EXPECT_EQ(live_objects(), objects);
  }
}

}  // namespace
}  // namespace kube
