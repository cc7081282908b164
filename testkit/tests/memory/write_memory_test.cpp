// SPDX-License-Identifier: Apache-2.0
// Every allocation of a write fails in turn, or a hook throws: the write takes effect completely,
// or not at all.
#include "engine/engine_fixture.hpp"
#include "failing_new.hpp"
#include "testkit/server/persistence.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

namespace kube::testkit::detail {
namespace {

/// The objects according to a watch: versions by name.
class Mirror {
 public:
  explicit Mirror(WatchReader watch) : watch_(std::move(watch)) {}

  void catch_up() {
    while (true) {
      BodyStream::Poll poll = watch_.stream().poll([] {});
      if (poll.state != BodyStream::Poll::State::kChunk) return;
      const Ref<Value> event = parse_json(poll.chunk.bytes);
      const std::string name{event->get_string("object.metadata.name").value_or("")};
      const std::string type{event->get_string("type").value_or("")};
      const std::string version{event->get_string("object.metadata.resourceVersion").value_or("")};
      EXPECT_GT(std::stoull(version), last_) << "versions must increase";
      last_ = std::stoull(version);
      if (type == "DELETED") {
        EXPECT_EQ(objects_.erase(name), 1U);
      } else {
        EXPECT_EQ(objects_.contains(name), type == "MODIFIED");
        objects_[name] = version;
      }
    }
  }
  [[nodiscard]] const std::map<std::string, std::string>& objects() const { return objects_; }

 private:
  WatchReader watch_;
  std::map<std::string, std::string> objects_;
  std::uint64_t last_ = 0;
};

std::map<std::string, std::string> stored(const Engine& engine, const GroupResource& resource) {
  std::map<std::string, std::string> found;
  for (const Ref<Value>& object : engine.list(resource)) {
    found.emplace(object->get_string("metadata.name").value_or(""),
                  object->get_string("metadata.resourceVersion").value_or(""));
  }
  return found;
}

struct Write {
  /// The object stored before the write; null if the write creates one.
  const char* seed;
  const char* method;
  std::string target;
  std::string body;
  std::string type = "application/json";
};

/// Makes every allocation of each write fail in turn, and compares the store with the watch and the
/// journal.
void torture(Api& api, const GroupResource& resource, const std::string& list,
             const std::vector<Write>& writes, std::map<std::string, std::uint64_t>& journal) {
  Mirror mirror{
      api.watch(list + "?watch=1&resourceVersion=" + std::to_string(api.engine.revision()))};
  for (const Write& write : writes) {
    ServerRequest request;
    request.method = write.method;
    request.target = write.target;
    request.body = write.body;
    request.headers = {{"Content-Type", write.type}};
    int status = 0;
    for (std::size_t n = 1; n < 100000; ++n) {
      for (const auto& [name, version] : stored(api.engine, resource)) {
        api.engine.remove(resource, "default", name);
      }
      if (write.seed != nullptr) api.engine.seed(write.seed);
      const auto before = stored(api.engine, resource);
      const std::uint64_t revision = api.engine.revision();
      bool failed = false;
      {
        const FailingNew failing{n};
        status = api.engine.handle(request).status;
        failed = failing.has_failed();
      }
      mirror.catch_up();
      const auto after = stored(api.engine, resource);
      ASSERT_EQ(mirror.objects(), after) << write.method << ' ' << write.target << ' ' << n;
      ASSERT_EQ(after == before, api.engine.revision() == revision) << n;
      ASSERT_EQ(journal.size(), after.size()) << n;
      for (const auto& [name, version] : after) {
        ASSERT_EQ(std::to_string(journal.at(name)), version) << n;
      }
      if (!failed) break;
      // A committed write may get an error response, but a failed one never gets a success.
      ASSERT_TRUE(status >= 300 || after != before) << n;
    }
    ASSERT_LT(status, 300) << "without a failure";
  }
}

EngineOptions with_journal(std::map<std::string, std::uint64_t>& journal, std::string resource) {
  EngineOptions options;
  options.garbage_collection = true;
  options.journal = [&journal, resource = std::move(resource)](const Change& change) {
    if (change.resource != resource) return;
    if (change.type == Change::Type::kDeleted) {
      journal.erase(std::string{change.name});
    } else {
      journal[std::string{change.name}] = change.revision;
    }
  };
  return options;
}

TEST(WriteMemory, EveryWriteIsAtomic) {
  std::map<std::string, std::uint64_t> journal;
  Api api{with_journal(journal, "configmaps")};
  const std::string one = std::string{kConfigMaps} + "/a";
  const char* const seed =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"0"}})";

  torture(api, {"", "configmaps"}, kConfigMaps,
          {{nullptr, "POST", kConfigMaps, R"({"metadata":{"name":"a"},"data":{"k":"1"}})"},
           {seed, "PUT", one, R"({"metadata":{"name":"a"},"data":{"k":"2"}})"},
           {seed, "PATCH", one, R"({"data":{"k":"3"}})", "application/merge-patch+json"},
           {seed, "PATCH", one, R"({"data":{"k":"4"}})", "application/strategic-merge-patch+json"},
           {seed, "PATCH", one, R"([{"op":"add","path":"/data/x","value":"5"}])",
            "application/json-patch+json"},
           {seed, "PATCH", one + "?fieldManager=m&force=true",
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"6"}})",
            "application/apply-patch+yaml"},
           {seed, "DELETE", one, ""}},
          journal);
}

// BK-3: a stored event must also have an expiry.
TEST(WriteMemory, StoredEventAlwaysExpires) {
  std::map<std::string, std::uint64_t> journal;
  Api api{with_journal(journal, "events")};
  const std::string events = "/api/v1/namespaces/default/events";

  torture(api, {"", "events"}, events,
          {{nullptr, "POST", events,
            R"({"metadata":{"name":"e"},"involvedObject":{"namespace":"default"},"reason":"r"})"}},
          journal);
  ASSERT_EQ(api.engine.list({"", "events"}).size(), 1U);
  for (int i = 0; i < 3; ++i) {
    api.clock.advance(std::chrono::minutes{40});
    ASSERT_TRUE(api.engine.settle());
  }

  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (!api.engine.list({"", "events"}).empty() && std::chrono::steady_clock::now() < deadline) {
    api.clock.advance(std::chrono::seconds{1});
  }
  EXPECT_TRUE(api.engine.list({"", "events"}).empty());
}

// AD-8: a failed count is repeated with the next write.
TEST(WriteMemory, QuotasAreEventuallyCounted) {
  const std::string quotas = "/api/v1/namespaces/default/resourcequotas";
  const std::string quota =
      R"({"metadata":{"name":"q"},"spec":{"hard":{"configmaps":"9","resourcequotas":"9"}}})";
  const std::string map = R"({"metadata":{"name":"a"}})";
  for (const auto& [target, body] : {std::pair{std::string{kConfigMaps}, map}, {quotas, quota}}) {
    for (std::size_t n = 1; n < 100000; ++n) {
      Api api;
      if (target != quotas) api.post(quotas, quota);
      ServerRequest request;
      request.method = "POST";
      request.target = target;
      request.body = body;
      bool failed = false;
      {
        const FailingNew failing{n};
        api.engine.handle(request);
        failed = failing.has_failed();
      }
      if (target == quotas) api.post(quotas, quota);
      ASSERT_EQ(api.make_config_map("b").status(), 201);

      const std::size_t stored_maps = api.engine.list({"", "configmaps"}).size();
      ASSERT_EQ(api.get(quotas + "/q").at("status.used"),
                R"({"configmaps":")" + std::to_string(stored_maps) + R"(","resourcequotas":"1"})")
          << target << ' ' << n;
      if (!failed) break;
    }
  }
}

TEST(WriteMemory, FailedWatchLeavesNothingBehind) {
  Api api;
  ServerRequest request;
  request.method = "GET";
  request.target = std::string{kConfigMaps} + "?watch=1&sendInitialEvents=true" +
                   "&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";

  for (std::size_t n = 1;; ++n) {
    bool failed = false;
    {
      const FailingNew failing{n};
      const ServerResponse response = api.engine.handle(request);
      failed = failing.has_failed();
      ASSERT_TRUE(failed || response.status == 200);
    }
    ASSERT_EQ(api.engine.watch_count(), 0U) << n;
    if (!failed) break;
  }
  EXPECT_EQ(api.make_config_map("after").status(), 201);
}

TEST(WriteMemory, ThrowingHookResultsInAnErrorResponse) {
  EngineOptions options;
  int what = 0;
  options.authorize = [&](const AccessRequest&) -> AccessDecision {
    if (what == 1) throw std::runtime_error("a runtime error");
    if (what == 2) throw 7;  // NOLINT: that is the point
    return {};
  };
  Api api{std::move(options)};

  for (what = 1; what <= 2; ++what) {
    EXPECT_EQ(api.make_config_map("a").status(), 500) << what;
    EXPECT_TRUE(api.engine.list({"", "configmaps"}).empty());
  }
  EXPECT_EQ(api.make_config_map("a").status(), 201);
}

TEST(WriteMemory, ThrowingJournalPreventsTheWrite) {
  EngineOptions options;
  bool broken = false;
  options.journal = [&](const Change&) {
    if (broken) throw 7;  // NOLINT: that is the point
  };
  Api api{std::move(options)};
  Mirror mirror{api.watch(std::string{kConfigMaps} +
                          "?watch=1&resourceVersion=" + std::to_string(api.engine.revision()))};
  const std::uint64_t revision = api.engine.revision();

  broken = true;
  EXPECT_EQ(api.make_config_map("a").status(), 500);
  EXPECT_EQ(api.engine.revision(), revision);
  broken = false;
  EXPECT_EQ(api.make_config_map("b").status(), 201);

  mirror.catch_up();
  EXPECT_EQ(mirror.objects(), stored(api.engine, {"", "configmaps"}));
  EXPECT_EQ(api.engine.revision(), revision + 1);
}

// A hook may be added while memory runs out; if that fails, cleaning up must not wait for itself.
TEST(WriteMemory, AddingAHookIsAtomic) {
  Api api;
  for (std::size_t n = 1;; ++n) {
    bool failed = false;
    try {
      const FailingNew failing{n};
      const auto token = api.engine.on_change({"", "configmaps"}, [](const Change&) {});
      failed = failing.has_failed();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    if (!failed) break;
  }
  EXPECT_EQ(api.make_config_map("after").status(), 201);
  EXPECT_TRUE(api.engine.settle());
}

// Controllers retry: a definition whose status could not be written would never be served.
TEST(WriteMemory, ControllersRetry) {
  for (std::size_t n = 1; n < 3000; n += n < 200 ? 1 : 61) {
    Api api;
    const ServerRequest request{
        "POST",
        kDefinitions,
        {{"Content-Type", "application/json"}},
        R"({"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})",
        std::nullopt};
    {
      const FailingNew failing{n, FailingNew::Where::kOtherThreads};
      ASSERT_EQ(api.engine.handle(request).status, 201);
      ASSERT_TRUE(api.engine.settle());
    }
    ASSERT_EQ(api.get(kWidgets).status(), 200) << n;
  }
}

// A write that cannot be persisted because memory runs out must fail.
TEST(WriteMemory, FileMatchesTheStore) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("kubecxx-memory-" + std::to_string(::getpid()) + ".sqlite");
  std::filesystem::remove(file);
  {
    Persistence persistence{file};
    EngineOptions options;
    options.journal = [&](const Change& change) { persistence.record(change); };
    Api api{std::move(options)};
    for (std::size_t n = 1; n < 100000; ++n) {
      const ServerRequest request{"POST",
                                  kConfigMaps,
                                  {{"Content-Type", "application/json"}},
                                  R"({"metadata":{"generateName":"a-"}})",
                                  std::nullopt};
      bool failed = false;
      {
        const FailingNew failing{n};
        static_cast<void>(api.engine.handle(request));
        failed = failing.has_failed();
      }
      std::size_t kept = 0;
      const Persistence::Content content = persistence.load();
      for (const ObjectState& object : content.objects) kept += object.resource == "configmaps";
      ASSERT_EQ(kept, api.engine.list({"", "configmaps"}).size()) << n;
      ASSERT_EQ(content.revision, api.engine.revision()) << n;
      if (!failed) break;
    }
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace kube::testkit::detail
