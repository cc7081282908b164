// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>
#include <kube/cache/resource_list_watch.hpp>
#include <kube/cache/shared_informer.hpp>
#include <kube/client/client.hpp>
#include <kube/config/credentials.hpp>
#include <kube/testkit/fake_clock.hpp>
#include <kube/transport/http_transport.hpp>

#include "support/items.hpp"
#include "support/recorder.hpp"
#include "support/request_trace.hpp"
#include "support/test_server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

/// Informers at the end of the whole data path: socket, HTTP, codec, client, reflector.
namespace kube::testing_support {

using core::v1::ConfigMap;
using What = ReflectorEvent::Kind;

inline const GroupVersionResource kConfigMaps{"", "v1", "configmaps"};

/// One configuration of the path from the server to the informer.
struct WireSetup {
  const char* name;
  bool tls;
  bool http2;
  std::string_view content_type;
  bool watch_list;
  bool compress = false;
};
inline void PrintTo(const WireSetup& setup, std::ostream* out) { *out << setup.name; }

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr const char* kProtobufType = "application/vnd.kubernetes.protobuf";
/// Returns the configurations for the test server: a real one speaks only TLS, and does not
/// compress watches yet.
inline std::vector<WireSetup> wire_setups() {
  std::vector<WireSetup> all{
      {"Http1JsonList", false, false, kJsonType, false},
      {"Http1ProtobufStream", false, false, kProtobufType, true},
      {"TlsHttp1JsonStream", true, false, kJsonType, true},
      {"TlsHttp2ProtobufList", true, true, kProtobufType, false},
      {"TlsHttp2JsonStream", true, true, kJsonType, true, true},
      {"TlsHttp2ProtobufStream", true, true, kProtobufType, true},
  };
  if (on_cluster()) std::erase_if(all, [](const WireSetup& setup) { return !setup.tls; });
  return all;
}

inline ConfigMap config_map(std::string_view space, std::string_view name, std::string_view text,
                            const LabelList& labels = {}) {
  ConfigMap map;
  map.metadata.namespace_ = space;
  map.metadata.name = name;
  for (const auto& [key, value] : labels) map.metadata.labels[key] = value;
  map.data["text"] = text;
  return map;
}

using Where = std::function<bool(const Value&)>;

/// Formats objects: "a/x@1 b/y@2".
inline std::string shown(const std::vector<Ref<Value>>& objects, const Where& where = nullptr) {
  std::vector<std::string> texts;
  for (const Ref<Value>& object : objects) {
    if (where && !where(*object)) continue;
    const auto& access = detail::kObjectAccess<Value>;
    texts.push_back(access.key(object.get()) + '@' +
                    std::string{access.resource_version(object.get())});
  }
  std::sort(texts.begin(), texts.end());
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : " ") + text;
  return all;
}
/// Formats the objects of the server in some namespaces.
inline std::string shown(const TestServer& server, const std::vector<std::string>& spaces,
                         const Where& where = nullptr) {
  std::vector<Ref<Value>> all;
  for (const std::string& space : spaces) {
    for (Ref<Value>& object : server.list(kConfigMaps, space)) all.push_back(std::move(object));
  }
  return shown(all, where);
}
/// Formats the objects of a cache.
template <typename T>
std::string shown(const IndexerView<T>& cache) {
  std::vector<std::string> texts;
  cache.snapshot().for_each([&](const T& object) {
    const auto& access = detail::kObjectAccess<T>;
    texts.push_back(access.key(&object) + '@' + std::string{access.resource_version(&object)});
  });
  std::sort(texts.begin(), texts.end());
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : " ") + text;
  return all;
}

/// Runs an informer in a thread, and stops it.
template <typename T>
class Running {
 public:
  Running(std::shared_ptr<ListWatch<T>> source, InformerOptions<T> options)
      : informer(std::move(source), std::move(options)) {
    registration = informer.add_event_handler(recorder.handler());
    thread_ = std::jthread{[this](std::stop_token stop) { informer.run(std::move(stop)); }};
  }
  ~Running() { stop(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  void stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

  RecorderOf<T> recorder;
  SharedIndexInformer<T> informer;
  HandlerRegistration registration;

 private:
  std::jthread thread_;
};

/// Returns the number of live objects, without those that the first server of a process makes for
/// all.
inline std::size_t live_objects() {
  static const bool made = [] {
    testkit::ApiServer{}.create(ConfigMap{.metadata = {.name = "a"}});
    return true;
  }();
  (void)made;
  return block_totals().blocks;
}

/// A server, a client, and a clock for the client and its informers. Their waits take no time.
class WireTest : public ::testing::Test {
 protected:
  explicit WireTest(const WireSetup& taken, testkit::ApiServerOptions server_options = {})
      : setup(taken),
        own_server(std::make_unique<TestServer>(with_setup(std::move(server_options)))),
        server(*own_server),
        space(server.space()) {}
  ~WireTest() override {
    running.reset();
    client.reset();
    own_server.reset();
    EXPECT_TRUE(threads_return_to(threads_before));  // K-36
    EXPECT_EQ(live_objects(), objects_before);
  }

  [[nodiscard]] testkit::ApiServerOptions with_setup(testkit::ApiServerOptions options) const {
    options.tls = setup.tls;
    options.http2 = setup.http2;
    options.compress_watches = setup.compress;
    options.seed = 1;
    return options;
  }

  /// Returns a client with this configuration. After `patience` without a byte, HTTP/2 detects a
  /// dead peer; HTTP/1.1 cannot.
  Client make_client(Config config, std::shared_ptr<Credentials> credentials = nullptr) {
    config.qps = -1;
    config.content_type = setup.content_type;
    ClientOptions options = trace.following({.clock = &clock, .log = Logger{}});
    options.credentials =
        credentials ? std::move(credentials) : make_credentials(config, {.clock = &clock});
    options.transport = make_http_transport({.base_url = config.host,
                                             .credentials = options.credentials,
                                             .disable_http2 = !setup.http2,
                                             .read_idle_timeout = patience,
                                             .ping_timeout = patience});
    return Client{std::move(config), std::move(options)};
  }
  Config config() const { return server.config(); }

  template <typename T>
  InformerOptions<T> informer_options() {
    InformerOptions<T> options;
    options.clock = &clock;
    options.log = Logger{};
    options.watch_list = setup.watch_list;
    options.on_state = [this](const ReflectorEvent& event) {
      const std::lock_guard guard{mutex};
      ++states[event.kind];
      history += std::string{to_string(event.kind)} + ": " + event.message + '\n';
    };
    return options;
  }
  /// Starts an informer of the config maps of this test.
  void start(Resource<ConfigMap> resource, std::function<void(ListOptions&)> tweak = nullptr) {
    running = std::make_unique<Running<ConfigMap>>(
        std::make_shared<ResourceListWatch<ConfigMap>>(std::move(resource), std::move(tweak)),
        informer_options<ConfigMap>());
  }
  void start() {
    if (!client) client.emplace(make_client(config()));
    start(client->resource<ConfigMap>(space));
  }
  void start_and_sync() {
    start();
    ASSERT_TRUE(in_step());
    ASSERT_TRUE(eventually([&] { return is_watching(); }));
  }
  bool is_watching() { return seen(What::kWatching) + seen(What::kStreamingState) > 0; }

  /// Waits until `condition` holds, and advances the clock meanwhile.
  bool eventually(const std::function<bool()>& condition) {
    return server.wait_for([&] {
      if (condition()) return true;
      if (clock.sleepers() > 0) {
        const auto next = clock.next_deadline();
        if (next > clock.now() && next != Clock::TimePoint::max()) {
          clock.advance(next - clock.now());
        }
      }
      return false;
    });
  }
  /// Checks that cache and handler have exactly the server's objects.
  [[nodiscard]] ::testing::AssertionResult in_step() {
    const std::string truth = shown(server, {space});
    const bool equal = eventually([&] {
      return running->informer.has_synced() && shown(running->informer.indexer()) == truth &&
             running->recorder.believes() == truth;
    });
    const std::string told = running->recorder.contradiction();
    if (equal && told.empty() && same_content()) return ::testing::AssertionSuccess();
    const std::lock_guard guard{mutex};
    return ::testing::AssertionFailure()
           << "\nserver  " << truth << "\ncache   " << shown(running->informer.indexer())
           << "\nhandler " << running->recorder.believes() << "\ncontradiction " << told
           << "\nlast error " << running->informer.last_error() << "\n"
           << history;
  }
  /// Compares every field, not only versions.
  bool same_content() {
    for (const Ref<Value>& object : server.list(kConfigMaps, space)) {
      const auto expected = decode_json<ConfigMap>(encode_json(*object));
      const auto found = running->informer.indexer().find(expected->metadata.namespace_.view(),
                                                          expected->metadata.name.view());
      if (found == nullptr || *found != *expected) return false;
    }
    return true;
  }
  int seen(What kind) {
    const std::lock_guard guard{mutex};
    return states[kind];
  }
  /// Returns the resource version.
  std::string put(std::string_view name, std::string_view text, const LabelList& labels = {}) {
    return server.create(config_map(space, name, text, labels))->metadata.resource_version.str();
  }
  void remove(std::string_view name) { EXPECT_TRUE(server.remove<ConfigMap>(space, name)); }
  /// Returns the number of requests that the server has begun to answer.
  [[nodiscard]] std::size_t requests(const std::string& verb) const {
    const auto all = trace.all(verb, "configmaps");
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [](const auto& request) { return request.status != 0; }));
  }

  const WireSetup setup;
  std::chrono::milliseconds patience = std::chrono::seconds{30};
  std::size_t threads_before = thread_count();
  std::size_t objects_before = live_objects();
  testkit::FakeClock clock;
  std::mutex mutex;
  std::map<What, int> states;  // guarded by mutex
  std::string history;         // guarded by mutex
  RequestTrace trace;
  std::unique_ptr<TestServer> own_server;
  TestServer& server;
  const std::string space;
  std::optional<Client> client;
  std::unique_ptr<Running<ConfigMap>> running;
};

inline std::string setup_name(const ::testing::TestParamInfo<WireSetup>& info) {
  return info.param.name;
}

}  // namespace kube::testing_support
