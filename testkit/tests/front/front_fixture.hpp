// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "raw_client.hpp"
#include "testkit/http/front.hpp"
#include "testkit/http/pipeline.hpp"

#include <kube/testkit/fake_clock.hpp>
#include <kube/testkit/faults.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

/// The HTTP front with a test handler in place of the engine.
namespace kube::testkit::detail {

/// Frames that a test hands out one by one, to one stream at a time.
class Script {
 public:
  void push(std::string bytes, FrameKind kind = FrameKind::kEvent, std::uint64_t revision = 0) {
    std::function<void()> wake;
    {
      const std::lock_guard guard{mutex_};
      frames_.push_back({std::move(bytes), kind, revision});
      wake = std::exchange(wake_, {});
    }
    if (wake) wake();
  }
  void end() {
    std::function<void()> wake;
    {
      const std::lock_guard guard{mutex_};
      ended_ = true;
      wake = std::exchange(wake_, {});
    }
    if (wake) wake();
  }
  /// Returns the number of frames handed out so far.
  [[nodiscard]] std::size_t taken() const {
    const std::lock_guard guard{mutex_};
    return taken_;
  }
  [[nodiscard]] bool wait_until_dropped() {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, std::chrono::seconds{10}, [this] { return streams_ == 0; });
  }
  std::unique_ptr<BodyStream> open() {
    const std::lock_guard guard{mutex_};
    ++streams_;
    return std::make_unique<Stream>(*this);
  }

 private:
  struct Stream final : BodyStream {
    explicit Stream(Script& of) : script(of) {}
    ~Stream() override {
      const std::lock_guard guard{script.mutex_};
      script.wake_ = {};
      --script.streams_;
      script.changed_.notify_all();
    }
    Poll poll(std::function<void()> wake) override {
      const std::lock_guard guard{script.mutex_};
      if (!script.frames_.empty()) {
        Poll next{Poll::State::kChunk, std::move(script.frames_.front())};
        script.frames_.pop_front();
        ++script.taken_;
        return next;
      }
      if (script.ended_) return {Poll::State::kEnd};
      script.wake_ = std::move(wake);
      return {};
    }
    Script& script;
  };

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<BodyChunk> frames_;
  std::function<void()> wake_;
  std::size_t taken_ = 0;
  int streams_ = 0;
  bool ended_ = false;
};

class TestHandler final : public RequestHandler {
 public:
  std::function<ServerResponse(const ServerRequest&)> answer = [](const ServerRequest& request) {
    return ServerResponse{.body = request.method + ' ' + request.target + ' ' + request.body};
  };
  ServerResponse handle(const ServerRequest& request) override {
    ++requests;
    return answer(request);
  }
  std::atomic<int> requests = 0;
};

struct FrontUnderTest {
  explicit FrontUnderTest(FrontOptions options = {})
      : front(pipeline, counted(std::move(options), counters)) {}

  [[nodiscard]] std::uint16_t port() const { return front.port(); }
  /// Answers every GET with the frames of the script.
  void stream_script() {
    handler.answer = [this](const ServerRequest&) {
      return ServerResponse{.stream = script.open()};
    };
  }

  static FrontOptions counted(FrontOptions options, FrontCounters& counters) {
    options.counters = &counters;
    return options;
  }

  FrontCounters counters;
  Script script;
  FakeClock clock;
  TestHandler handler;
  RequestLog log;
  Faults faults = kube::detail::Inside::make<Faults>(std::make_unique<FaultTable>(
      1, FaultTable::Hooks{[] {}, [this] { front.drop_connections(); }}));
  Pipeline pipeline{handler,
                    {.clock = &clock,
                     .faults = kube::detail::Inside::core(faults).get(),
                     .log = &log,
                     .compress_watches = true}};
  HttpFront front;
};

}  // namespace kube::testkit::detail
