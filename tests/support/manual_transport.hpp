// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../src/engine/blocking_call.hpp"
#include "../../src/transport/polled_stream.hpp"

namespace kube::test {

/// The server's side of an exchange with a ManualTransport: data written by the test arrives at
/// once and wakes the reader.
struct ManualExchange {
  HttpRequest request;
  std::weak_ptr<detail::Waker> waker;
  std::optional<HttpResponseHead> head = std::nullopt;
  std::deque<std::string> chunks = {};
  bool ended = false;
  std::optional<TransportError::Kind> failure = std::nullopt;
  bool canceled = false;  ///< set when the client cancels
  int reads = 0;          ///< number of polls of the body

  void wake() const {
    if (const auto owner = waker.lock()) owner->wake();
  }
  void answer(int status, Headers headers = {{"Content-Type", "application/json"}}) {
    head = HttpResponseHead{status, std::move(headers)};
    wake();
  }
  void send(std::string bytes) {
    chunks.push_back(std::move(bytes));
    wake();
  }
  void end() {
    ended = true;
    wake();
  }
  void fail(TransportError::Kind kind) {
    failure = kind;
    wake();
  }
};

/// A transport for single-threaded tests that play the server themselves. Supports polled
/// operations only.
class ManualTransport final : public Transport, public detail::AsyncTransport {
 public:
  [[nodiscard]] std::unique_ptr<ResponseStream> open(HttpRequest, std::stop_token) override {
    throw std::logic_error("a ManualTransport cannot be waited for");
  }
  [[nodiscard]] std::unique_ptr<detail::PolledStream> try_start(
      HttpRequest& request, std::weak_ptr<detail::Waker> waker) override {
    if (would_block) return nullptr;
    return send(std::move(request), std::move(waker));
  }
  [[nodiscard]] std::unique_ptr<detail::PendingRequest> start(
      HttpRequest request, const detail::Poller& poller) override {
    return std::make_unique<Pending>(*this, std::move(request), poller);
  }

  [[nodiscard]] std::size_t size() const { return exchanges_.size(); }
  [[nodiscard]] ManualExchange& exchange(std::size_t number) { return *exchanges_.at(number); }
  [[nodiscard]] ManualExchange& last() { return *exchanges_.back(); }

  /// Makes the start of an exchange require a worker, as credentials of the program do.
  bool would_block = false;

 private:
  class Pending final : public detail::PendingRequest {
   public:
    Pending(ManualTransport& transport, HttpRequest request, const detail::Poller& poller)
        : transport_(transport),
          request_(std::move(request)),
          waker_(poller.waker),
          asking_(poller, "Credentials", [](const std::stop_token&) { return true; }) {}
    [[nodiscard]] std::unique_ptr<detail::PolledStream> poll() override {
      if (!asking_.poll()) return nullptr;
      return transport_.send(std::move(request_), waker_);
    }

   private:
    ManualTransport& transport_;
    HttpRequest request_;
    const std::weak_ptr<detail::Waker> waker_;
    detail::BlockingCall<bool> asking_;
  };

  std::unique_ptr<detail::PolledStream> send(HttpRequest request,
                                             std::weak_ptr<detail::Waker> waker) {
    exchanges_.push_back(std::make_shared<ManualExchange>(
        ManualExchange{.request = std::move(request), .waker = std::move(waker)}));
    return std::make_unique<Stream>(exchanges_.back());
  }

  class Stream final : public detail::PolledStream {
   public:
    explicit Stream(std::shared_ptr<ManualExchange> exchange) : exchange_(std::move(exchange)) {}
    ~Stream() override { exchange_->canceled = true; }

    [[nodiscard]] bool poll_head() override {
      if (exchange_->head) return true;
      if (exchange_->failure) throw TransportError(*exchange_->failure, "failed by the test");
      return false;
    }
    [[nodiscard]] const HttpResponseHead& head() const noexcept override {
      return *exchange_->head;
    }
    [[nodiscard]] std::optional<std::string_view> poll_read() override {
      ++exchange_->reads;
      if (!exchange_->chunks.empty()) {
        last_ = std::move(exchange_->chunks.front());
        exchange_->chunks.pop_front();
        return last_;
      }
      if (exchange_->failure) throw TransportError(*exchange_->failure, "failed by the test");
      if (exchange_->ended) return std::string_view{};
      return std::nullopt;
    }
    [[nodiscard]] std::string_view read(std::stop_token) override {
      throw std::logic_error("a ManualTransport cannot be waited for");
    }
    void cancel() noexcept override { exchange_->canceled = true; }

   private:
    const std::shared_ptr<ManualExchange> exchange_;
    std::string last_;
  };

  std::vector<std::shared_ptr<ManualExchange>> exchanges_;
};

}  // namespace kube::test
