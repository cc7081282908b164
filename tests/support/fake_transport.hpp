// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/condition.hpp>
#include <kube/transport/transport.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kube::test {

/// A scripted answer of a FakeTransport.
struct FakeAnswer {
  int status = 200;
  Headers headers = {{"Content-Type", "application/json"}};
  /// The results of successive read() calls.
  std::vector<std::string> chunks = {};
  /// After the chunks: the end of the body, or this error.
  std::optional<TransportError::Kind> cut = std::nullopt;
  /// After the chunks: read() blocks until the exchange is canceled.
  bool hangs = false;
  /// The exchange fails without an answer.
  std::optional<TransportError::Kind> failure = std::nullopt;

  static FakeAnswer json(std::string body, int status = 200) {
    return {.status = status, .chunks = {std::move(body)}};
  }
  static FakeAnswer protobuf(std::string body, int status = 200) {
    return {.status = status,
            .headers = {{"Content-Type", "application/vnd.kubernetes.protobuf"}},
            .chunks = {std::move(body)}};
  }
  static FakeAnswer text(std::string body, int status, std::string content_type = "text/plain") {
    return {.status = status,
            .headers = {{"Content-Type", std::move(content_type)}},
            .chunks = {std::move(body)}};
  }
  static FakeAnswer error(TransportError::Kind kind) { return {.failure = kind}; }
  FakeAnswer with(std::string name, std::string value) && {
    headers.push_back({std::move(name), std::move(value)});
    return std::move(*this);
  }
};

/// The number of open answers, and of all reads.
struct FakeStreamTotals {
  int open = 0;
  int canceled = 0;
  int reads = 0;
};

class FakeTransport;

class FakeStream final : public ResponseStream {
 public:
  FakeStream(FakeTransport& transport, FakeAnswer answer);
  FakeStream(const FakeStream&) = delete;
  FakeStream& operator=(const FakeStream&) = delete;
  ~FakeStream() override;

  [[nodiscard]] const HttpResponseHead& head() const noexcept override { return head_; }
  [[nodiscard]] std::string_view read(std::stop_token stop) override;
  void cancel() noexcept override;

 private:
  FakeTransport& transport_;
  const FakeAnswer answer_;
  const HttpResponseHead head_;
  std::mutex mutex_;
  Condition changed_;
  std::size_t next_ = 0;
  bool canceled_ = false;  // guarded by mutex_
};

/// A Transport that answers from a script and records its requests. A request beyond the end of the
/// script fails as if the connection were refused.
class FakeTransport final : public Transport {
 public:
  /// Appends an answer to the script.
  FakeTransport& answer(FakeAnswer answer) {
    const std::lock_guard guard{mutex_};
    script_.push_back(std::move(answer));
    return *this;
  }
  /// Sets a handler that is called for every request before the script; if it returns a value, that
  /// is the answer.
  void on_request(std::function<std::optional<FakeAnswer>(const HttpRequest&)> handler) {
    const std::lock_guard guard{mutex_};
    handler_ = std::move(handler);
  }

  [[nodiscard]] std::unique_ptr<ResponseStream> open(HttpRequest request,
                                                     std::stop_token stop) override {
    FakeAnswer answer = FakeAnswer::error(TransportError::Kind::kConnect);
    {
      const std::lock_guard guard{mutex_};
      requests_.push_back(request);
      changed_.notify_all();
      if (stop.stop_requested()) throw TransportError(TransportError::Kind::kCanceled, "canceled");
      std::optional<FakeAnswer> handled = handler_ ? handler_(request) : std::nullopt;
      if (handled) {
        answer = std::move(*handled);
      } else if (!script_.empty()) {
        answer = std::move(script_.front());
        script_.pop_front();
      }
    }
    if (answer.failure) throw TransportError(*answer.failure, "scripted failure");
    return std::make_unique<FakeStream>(*this, std::move(answer));
  }

  [[nodiscard]] std::vector<HttpRequest> requests() const {
    const std::lock_guard guard{mutex_};
    return requests_;
  }
  [[nodiscard]] HttpRequest last() const {
    const std::lock_guard guard{mutex_};
    return requests_.empty() ? HttpRequest{} : requests_.back();
  }
  /// Waits, in real time, until that many requests were made.
  [[nodiscard]] bool wait_for_requests(std::size_t count) const {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, std::chrono::seconds{10},
                             [&] { return requests_.size() >= count; });
  }
  /// Waits, in real time, until that many reads of bodies were made.
  [[nodiscard]] bool wait_for_reads(int count) const {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, std::chrono::seconds{10},
                             [&] { return totals_.reads >= count; });
  }
  [[nodiscard]] FakeStreamTotals totals() const {
    const std::lock_guard guard{mutex_};
    return totals_;
  }

 private:
  friend class FakeStream;
  void count(int open, int canceled, int reads) noexcept {
    const std::lock_guard guard{mutex_};
    totals_.open += open;
    totals_.canceled += canceled;
    totals_.reads += reads;
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  // Guarded by mutex_:
  std::deque<FakeAnswer> script_;
  std::function<std::optional<FakeAnswer>(const HttpRequest&)> handler_;
  std::vector<HttpRequest> requests_;
  FakeStreamTotals totals_;
};

inline FakeStream::FakeStream(FakeTransport& transport, FakeAnswer answer)
    : transport_(transport), answer_(std::move(answer)), head_{answer_.status, answer_.headers} {
  transport_.count(1, 0, 0);
}

inline FakeStream::~FakeStream() { transport_.count(-1, 0, 0); }

inline std::string_view FakeStream::read(std::stop_token stop) {
  transport_.count(0, 0, 1);
  std::unique_lock lock{mutex_};
  if (!canceled_ && !stop.stop_requested()) {
    if (next_ < answer_.chunks.size()) return answer_.chunks[next_++];
    if (answer_.cut) throw TransportError(*answer_.cut, "scripted cut");
    if (!answer_.hangs) return {};
    changed_.wait(lock, stop, [&] { return canceled_; });
  }
  throw TransportError(TransportError::Kind::kCanceled, "canceled");
}

inline void FakeStream::cancel() noexcept {
  {
    const std::lock_guard guard{mutex_};
    if (canceled_) return;
    canceled_ = true;
    changed_.notify_all();
  }
  transport_.count(0, 1, 0);
}

/// Returns the value of a request header; empty if it is missing.
inline std::string header(const HttpRequest& request, std::string_view name) {
  const std::string* value = find_header(request.headers, name);
  return value == nullptr ? std::string{} : *value;
}

}  // namespace kube::test
