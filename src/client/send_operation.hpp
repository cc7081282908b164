// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "body_reader.hpp"
#include "credentials_refresh.hpp"
#include "request.hpp"

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

/// A request on its way to the answer, with all its attempts. See RestClient::send() and engine/polling.hpp. Without a
/// scheduler it is pending only to wait for wake_at().
class SendOperation {
 public:
  /// `rest` and `request` must outlive it. Nothing happens before the first poll.
  SendOperation(RestClient& rest, const Request& request, Poller poller);
  SendOperation(const SendOperation&) = delete;
  SendOperation& operator=(const SendOperation&) = delete;
  ~SendOperation();

  /// Throws as RestClient::send().
  [[nodiscard]] Poll poll();
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept { return until_; }
  /// The answer, once it is ready.
  [[nodiscard]] std::unique_ptr<PolledStream> take() noexcept { return std::move(stream_); }
  /// The error of a caller that does not want to wait any longer.
  [[nodiscard]] TransportError canceled() const;

 private:
  enum class State : std::uint8_t {
    kNew,        ///< nothing has been done
    kRateLimit,  ///< waits for its turn by the client's own rate limit
    kDelay,    ///< waits before an attempt: the host's back-off, or what the last attempt asked for
    kPrepare,  ///< an attempt begins: the headers that are known
    kCredentials,  ///< asks who the client is, for which a plugin may have to run
    kStart,        ///< has the transport begin, which may need credentials as well
    kHead,         ///< the request is under way, the answer has not begun
    kDrain,  ///< reads a little of an answer that asks for another attempt: its connection can be used again
    kErrorBody,  ///< reads the answer that is the error
    kDone,       ///< the answer is a success, and at its body
  };

  void begin();
  void begin_rate_limit();
  [[nodiscard]] bool poll_rate_limit();
  void passed_rate_limit();
  void begin_delay(Clock::Duration delay) noexcept;
  [[nodiscard]] bool poll_delay();
  // One attempt; of these, TransportError may lead to another one:
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
  std::optional<Clock::TimePoint> deadline_;  // of all attempts
  Clock::TimePoint until_ = Clock::TimePoint::max();

  // Of the rate limit:
  std::shared_ptr<RateLimiter> limiter_;
  TokenBucket* reserved_ = nullptr;  // limiter_, while it keeps a turn for this
  std::optional<BlockingCall<bool>> limiting_;
  Clock::TimePoint limited_since_{};
  Clock::Duration delay_{};

  // Of the attempt:
  HttpRequest http_;
  std::shared_ptr<CredentialsRefresh::Call> refresh_;
  std::optional<BlockingCall<std::string>> authorizing_;
  SecretText shown_;  // the Authorization that was sent
  std::optional<BlockingCall<std::unique_ptr<PolledStream>>> starting_;
  Clock::TimePoint started_{};
  std::size_t body_size_ = 0;
  std::unique_ptr<PolledStream> stream_;
  std::optional<BodyReader> body_;
};

}  // namespace kube::detail
