// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>
#include <kube/testkit/fake_clock.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testkit/requests/engine.hpp"
#include "testkit/values/value_text.hpp"

namespace kube::testkit::detail {

/// A response, with its body decoded if it is JSON.
struct ApiReply {
  ServerResponse response;
  Ref<Value> json;

  [[nodiscard]] int status() const { return response.status; }
  [[nodiscard]] const std::string& text() const { return response.body; }
  [[nodiscard]] std::string header(std::string_view name) const {
    const std::string* value = find_header(response.headers, name);
    return value == nullptr ? "" : *value;
  }
  [[nodiscard]] std::vector<std::string> headers(std::string_view name) const {
    std::vector<std::string> values;
    for (const Header& one : response.headers) {
      if (find_header({one}, name) != nullptr) values.push_back(one.value);
    }
    return values;
  }
  /// Returns a value in the body as text, or "" if there is none.
  [[nodiscard]] std::string at(std::string_view path) const {
    if (!json) return {};
    const Value* found = json->find(path);
    if (found == nullptr || found->is_null()) return {};
    return found->is_string() ? std::string{found->as_string()} : json_text(*found);
  }
  [[nodiscard]] std::string message() const { return at("message"); }
  [[nodiscard]] std::string reason() const { return at("reason"); }
  [[nodiscard]] std::string version() const { return at("metadata.resourceVersion"); }
  /// Returns the names of the items of a list, in order.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Value& item : json->get_array("items")) {
      all.emplace_back(item.get_string("metadata.name").value_or(""));
    }
    return all;
  }
};

/// One event of a watch.
struct WatchedEvent {
  std::string type;
  Ref<Value> event;
  BodyChunk chunk;

  [[nodiscard]] std::string at(std::string_view path) const {
    const Value* found = event->find("object." + std::string{path});
    if (found == nullptr) return {};
    return found->is_string() ? std::string{found->as_string()} : json_text(*found);
  }
  [[nodiscard]] std::string name() const { return at("metadata.name"); }
  [[nodiscard]] std::string version() const { return at("metadata.resourceVersion"); }
};

/// Reads a watch as the HTTP front does.
class WatchReader {
 public:
  explicit WatchReader(std::unique_ptr<BodyStream> stream) : stream_(std::move(stream)) {}

  /// Returns the next frame; nullopt at the end. Fails the test if there is none within ten
  /// seconds.
  std::optional<BodyChunk> next_chunk() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    while (true) {
      {
        const std::lock_guard lock{signal_->mutex};
        signal_->raised = false;
      }
      BodyStream::Poll poll = stream_->poll([signal = signal_] {
        const std::lock_guard lock{signal->mutex};
        signal->raised = true;
        signal->changed.notify_all();
      });
      if (poll.state == BodyStream::Poll::State::kEnd) return std::nullopt;
      if (poll.state == BodyStream::Poll::State::kChunk) return std::move(poll.chunk);
      std::unique_lock lock{signal_->mutex};
      if (!signal_->changed.wait_until(lock, deadline, [&] { return signal_->raised; })) {
        ADD_FAILURE() << "no event within ten seconds";
        return std::nullopt;
      }
    }
  }
  WatchedEvent next() {
    std::optional<BodyChunk> chunk = next_chunk();
    if (!chunk) return {"END", parse_json("{}"), {}};
    Ref<Value> event = parse_json(chunk->bytes);
    std::string type{event->get_string("type").value_or("")};
    return {std::move(type), std::move(event), std::move(*chunk)};
  }
  /// Returns whether nothing can be read now.
  bool is_quiet() {
    return stream_->poll([] {}).state == BodyStream::Poll::State::kWait;
  }
  void close() { stream_.reset(); }
  [[nodiscard]] BodyStream& stream() { return *stream_; }

 private:
  struct Signal {
    std::mutex mutex;
    std::condition_variable changed;
    bool raised = false;
  };
  std::shared_ptr<Signal> signal_ = std::make_shared<Signal>();
  std::unique_ptr<BodyStream> stream_;
};

/// An engine with a FakeClock, and shorthands for requests.
class Api {
 public:
  explicit Api(EngineOptions options = {}) : engine(with_clock(std::move(options))) {}

  ApiReply send(std::string_view method, std::string_view target, std::string body = {},
                Headers headers = {}) {
    ServerRequest request;
    request.method = method;
    request.target = target;
    request.headers = std::move(headers);
    if (find_header(request.headers, "User-Agent") == nullptr) {
      request.headers.push_back({"User-Agent", "tester/1.0"});
    }
    request.body = std::move(body);
    ApiReply reply{engine.handle(request), {}};
    if (reply.header("Content-Type").starts_with("application/json") && !reply.text().empty()) {
      reply.json = parse_json(reply.text());
    }
    return reply;
  }
  ApiReply get(std::string_view target, std::string accept = {}) {
    return send("GET", target, {}, accept.empty() ? Headers{} : Headers{{"Accept", accept}});
  }
  ApiReply post(std::string_view target, std::string body) {
    return send("POST", target, std::move(body), {{"Content-Type", "application/json"}});
  }
  ApiReply put(std::string_view target, const Value& body) {
    return send("PUT", target, json_text(body), {{"Content-Type", "application/json"}});
  }
  ApiReply patch(std::string_view target, std::string body, std::string type = "merge-patch+json") {
    return send("PATCH", target, std::move(body), {{"Content-Type", "application/" + type}});
  }
  ApiReply remove(std::string_view target, std::string body = {}) {
    return send("DELETE", target, std::move(body), {{"Content-Type", "application/json"}});
  }
  WatchReader watch(std::string_view target, std::string accept = {}) {
    ApiReply reply = get(target, std::move(accept));
    EXPECT_EQ(reply.status(), 200) << reply.text();
    return WatchReader{std::move(reply.response.stream)};
  }

  ApiReply make_config_map(const std::string& name, const std::string& namespace_ = "default",
                           const std::string& labels = "{}") {
    return post(
        "/api/v1/namespaces/" + namespace_ + "/configmaps",
        R"({"metadata":{"name":")" + name + R"(","labels":)" + labels + R"(},"data":{"a":"1"}})");
  }
  ApiReply make_pod(const std::string& name, const std::string& spec = "") {
    return post("/api/v1/namespaces/default/pods",
                R"({"metadata":{"name":")" + name + R"("},"spec":{)" + spec +
                    R"("containers":[{"name":"c","image":"busybox"}]}})");
  }
  /// Creates a definition of widgets in example.com, and waits until it is served.
  ApiReply make_widgets(const std::string& version_extra = "", const std::string& properties = "") {
    ApiReply reply = post(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        R"({"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",)"
        R"("names":{"plural":"widgets","kind":"Widget","shortNames":["wd"]},"versions":[{"name":"v1",)"
        R"("served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{)"
        R"("spec":{"type":"object","properties":{"color":{"type":"string"},"size":{"type":"integer","default":3,"minimum":1},)"
        R"("replicas":{"type":"integer"}}},"status":{"type":"object","properties":{"phase":{"type":"string"},)"
        R"("replicas":{"type":"integer"},"selector":{"type":"string"}}})" +
            properties + "}}}" + version_extra + "}]}}");
    EXPECT_TRUE(engine.settle());
    return reply;
  }

  FakeClock clock;
  Engine engine;

 private:
  EngineOptions with_clock(EngineOptions options) {
    options.clock = &clock;
    if (options.seed == 0) options.seed = 7;
    return options;
  }
};

inline constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";
inline constexpr const char* kPods = "/api/v1/namespaces/default/pods";
inline constexpr const char* kSecrets = "/api/v1/namespaces/default/secrets";
inline constexpr const char* kWidgets = "/apis/example.com/v1/namespaces/default/widgets";
inline constexpr const char* kDefinitions =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

}  // namespace kube::testkit::detail
