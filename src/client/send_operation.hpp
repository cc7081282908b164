// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "body_reader.hpp"
#include "request.hpp"

#include "config/credentials_refresh.hpp"
#include "engine/blocking_call.hpp"
#include "engine/polling.hpp"
#include "transport/polled_stream.hpp"
#include <kube/base/clock.hpp>
#include <kube/base/secret_text.hpp>
#include <kube/client/rate_limiter.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace kube::detail {

class RestClient;

/// Sends a request, with all its attempts. See RestClient::send() and engine/polling.hpp. Without a
/// scheduler it is pending only until wake_at().
class SendOperation {
 public:
  /// `rest` and `request` must outlive it. Nothing is sent before the first poll.
  SendOperation(RestClient& rest, const Request& request, Poller poller);
  SendOperation(const SendOperation&) = delete;
  SendOperation& operator=(const SendOperation&) = delete;
  ~SendOperation();

  /// Throws like RestClient::send().
  [[nodiscard]] Poll poll();
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept { return until_; }
  /// Returns the response, once ready.
  [[nodiscard]] std::unique_ptr<PolledStream> take() noexcept { return std::move(stream_); }
  /// Returns the error for a caller that stops waiting.
  [[nodiscard]] TransportError canceled() const;

 private:
  enum class State : std::uint8_t {
    kNew,          ///< initial
    kRateLimit,    ///< waits for the client-side rate limit
    kDelay,        ///< waits before an attempt: host back-off, or Retry-After
    kPrepare,      ///< builds the headers of an attempt
    kCredentials,  ///< waits for credentials, for which a plugin may have to run
    kStart,        ///< starts the exchange, which may need other credentials
    kHead,         ///< request sent, waiting for the head of the response
    kDrain,        ///< reads a small rest of a response to be retried, to reuse its connection
    kErrorBody,    ///< reads the body of an error response
    kDone,         ///< successful head received
  };

  void begin();
  void begin_rate_limit();
  [[nodiscard]] bool poll_rate_limit();
  void passed_rate_limit();
  void begin_delay(Clock::Duration delay) noexcept;
  [[nodiscard]] bool poll_delay();
  // Steps of one attempt. A TransportError in these may lead to another attempt:
  [[nodiscard]] bool poll_attempt();
  void prepare();
  [[nodiscard]] bool poll_credentials();
  void authorize(std::string authorization);
  [[nodiscard]] std::optional<std::chrono::milliseconds> timeout() const;
  [[nodiscard]] bool poll_exchange();
  [[nodiscard]] bool poll_start();
  void count(int status);
  void answered();
  [[nodiscard]] bool poll_drain();
  [[nodiscard]] bool poll_error_body();
  void try_again(Clock::Duration wait) noexcept;

  [[nodiscard]] bool is_watch() const noexcept { return request_.kind == Request::Kind::kWatch; }

  RestClient& rest_;
  const Request& request_;
  const Poller poller_;
  State state_ = State::kNew;
  int attempt_ = 0;
  std::optional<Clock::TimePoint> deadline_;  // for all attempts together
  Clock::TimePoint until_ = Clock::TimePoint::max();

  // Rate limit:
  std::shared_ptr<RateLimiter> limiter_;
  TokenBucket* reserved_ = nullptr;  // limiter_, while it holds a token reserved for this
  std::optional<BlockingCall<bool>> limiting_;
  Clock::TimePoint limited_since_{};
  Clock::Duration delay_{};

  // Current attempt:
  HttpRequest http_;
  std::shared_ptr<CredentialsRefresh::Call> refresh_;
  std::optional<BlockingCall<std::string>> authorizing_;
  SecretText shown_;  // the Authorization header that was sent
  std::unique_ptr<PendingRequest> starting_;
  Clock::TimePoint started_{};
  std::size_t body_size_ = 0;
  std::unique_ptr<PolledStream> stream_;
  std::optional<BodyReader> body_;
};

}  // namespace kube::detail
