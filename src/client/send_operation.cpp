// SPDX-License-Identifier: Apache-2.0
#include "send_operation.hpp"

#include "connect.hpp"
#include "rest_client.hpp"

#include "transport/blocking_exchange.hpp"

#include <algorithm>
#include <utility>

namespace kube::detail {

using namespace std::chrono_literals;

namespace {

/// Maximum number of bytes read from a discarded response, to reuse its connection.
constexpr std::size_t kMostDrained = 2048;
/// Large enough for a Status with thousands of causes.
constexpr std::size_t kMostErrorBody = std::size_t{1} << 20;

bool is_success(const Request& request, int status) {
  return request.kind == Request::Kind::kWatch ? status == 200 : status >= 200 && status <= 206;
}

bool is_passing(const Request& request, TransportError::Kind kind) {
  if (request.method != "GET") return false;
  return kind == TransportError::Kind::kConnectionLost ||
         (request.kind == Request::Kind::kWatch && kind == TransportError::Kind::kTimeout);
}

/// Caps a delay that the server asks for.
Clock::Duration at_most_a_day(std::chrono::seconds wait) {
  return std::min<std::chrono::seconds>(wait, 24h);
}

void add_header(Headers& headers, const char* name, std::string value) {
  if (!value.empty() && find_header(headers, name) == nullptr) {
    headers.push_back({name, std::move(value)});
  }
}

}  // namespace

SendOperation::SendOperation(RestClient& rest, const Request& request, Poller poller)
    : rest_(rest), request_(request), poller_(std::move(poller)) {
  rest_.process_.check("the Client");
}

SendOperation::~SendOperation() {
  if (reserved_ != nullptr) reserved_->give_back();
}

TransportError SendOperation::canceled() const {
  return {TransportError::Kind::kCanceled,
          rest_.describe(request_) + (state_ == State::kRateLimit
                                          ? ": canceled while waiting for the rate limit"
                                          : ": canceled")};
}

Poll SendOperation::poll() {
  for (;;) {
    bool goes_on = true;
    switch (state_) {
      case State::kNew:
        begin();
        break;
      case State::kRateLimit:
        goes_on = poll_rate_limit();
        break;
      case State::kDelay:
        goes_on = poll_delay();
        break;
      case State::kDone:
        return Poll::kReady;
      default:
        goes_on = poll_attempt();
    }
    if (!goes_on) return Poll::kPending;
  }
}

void SendOperation::begin() {
  if (is_watch()) {
    passed_rate_limit();
  } else {
    begin_rate_limit();
  }
}

void SendOperation::begin_rate_limit() {
  state_ = State::kRateLimit;
  limiter_ = rest_.limiter_for(request_.limiter);
  if (limiter_ == nullptr) return passed_rate_limit();
  if (poller_.stop.stop_requested()) throw canceled();
  limited_since_ = rest_.clock().now();
  auto* const bucket = dynamic_cast<TokenBucket*>(limiter_.get());
  if (bucket != nullptr && &bucket->clock() == &rest_.clock()) {
    until_ = bucket->reserve();
    reserved_ = bucket;
  } else {
    limiting_.emplace(poller_, "RateLimiter", [limiter = limiter_](std::stop_token stop) {
      return limiter->wait(std::move(stop));
    });
  }
}

bool SendOperation::poll_rate_limit() {
  const Clock::TimePoint now = rest_.clock().now();
  if (limiting_) {
    const std::optional<bool> turn = limiting_->poll();
    if (!turn) return false;
    limiting_.reset();
    if (!*turn) throw canceled();
  } else {
    if (now < until_) return false;
    reserved_ = nullptr;
    until_ = Clock::TimePoint::max();
  }
  limiter_ = nullptr;
  rest_.count_limited(request_, rest_.clock().now() - limited_since_);
  passed_rate_limit();
  return true;
}

void SendOperation::passed_rate_limit() {
  if (attempt_ > 0) {
    state_ = State::kPrepare;
    return;
  }
  if (request_.timeout) deadline_ = rest_.clock().now() + *request_.timeout;
  begin_delay(rest_.backoff_.delay());
}

void SendOperation::begin_delay(Clock::Duration delay) noexcept {
  state_ = State::kDelay;
  delay_ = delay;
}

bool SendOperation::poll_delay() {
  const Clock::TimePoint now = rest_.clock().now();
  if (until_ == Clock::TimePoint::max()) {
    until_ = now + std::max(delay_, Clock::Duration::zero());
    if (deadline_ && delay_ > Clock::Duration::zero() && until_ > *deadline_) {
      throw TransportError(TransportError::Kind::kTimeout,
                           rest_.describe(request_) + ": the time is too short for another try");
    }
  }
  if (now < until_) return false;
  until_ = Clock::TimePoint::max();
  if (attempt_ == 0) {
    state_ = State::kPrepare;
  } else {
    begin_rate_limit();
  }
  return true;
}

bool SendOperation::poll_attempt() {
  try {
    switch (state_) {
      case State::kPrepare:
        prepare();
        return true;
      case State::kCredentials:
        return poll_credentials();
      case State::kDrain:
        return poll_drain();
      case State::kErrorBody:
        return poll_error_body();
      default:
        return poll_exchange();
    }
  } catch (const TransportError& error) {
    if (!is_passing(request_, error.kind())) throw;
    if (attempt_ >= rest_.options().max_retries) {
      if (!is_watch()) throw;
      stream_.reset();
      state_ = State::kDone;
      return true;
    }
    rest_.log_.debug("{}, trying again", error.what());
  }
  try_again(1s);
  return true;
}

void SendOperation::try_again(Clock::Duration wait) noexcept {
  stream_.reset();
  starting_.reset();
  refresh_.reset();
  authorizing_.reset();
  ++attempt_;
  begin_delay(std::max(wait, rest_.backoff_.delay()));
}

void SendOperation::prepare() {
  http_ = {.method = request_.method,
           .target = request_.path + request_.query.str(),
           .headers = request_.headers,
           .body = request_.body,
           .lane = is_watch() ? Lane::kWatches : Lane::kRequests};
  add_header(http_.headers, "Accept", request_.accept);
  add_header(http_.headers, "Content-Type", request_.content_type);
  if (rest_.options().on_request) rest_.options().on_request(http_);
  add_header(http_.headers, "User-Agent", rest_.user_agent_);
  state_ = State::kCredentials;
}

bool SendOperation::poll_credentials() {
  const std::shared_ptr<Credentials>& credentials = rest_.credentials_;
  if (!credentials || find_header(http_.headers, "Authorization") != nullptr) {
    authorize({});
    return true;
  }
  std::optional<std::string> authorization;
  if (rest_.ready_credentials_ != nullptr && poller_.scheduler != nullptr) {
    if (!refresh_) authorization = rest_.ready_credentials_->try_authorization();
    if (!refresh_ && !authorization) refresh_ = rest_.refresh_.join(poller_);
    if (refresh_ && CredentialsRefresh::poll(*refresh_)) {
      authorization = rest_.ready_credentials_->last_authorization();
    }
  } else {
    if (!authorizing_) refresh_ = rest_.renew_on_own_loop(poller_.stop);
    if (refresh_ && CredentialsRefresh::poll(*refresh_)) {
      authorization = rest_.ready_credentials_->last_authorization();
    } else if (!authorizing_) {
      authorizing_.emplace(poller_, "Credentials", [credentials](std::stop_token stop) {
        return credentials->authorization(std::move(stop));
      });
    }
    if (authorizing_) authorization = authorizing_->poll();
  }
  if (!authorization) return false;
  refresh_.reset();
  authorizing_.reset();
  if (!authorization->empty()) require_protected(rest_.server(), rest_.options());
  authorize(std::move(*authorization));
  return true;
}

/// Adds the Authorization header, which completes the request.
void SendOperation::authorize(std::string authorization) {
  add_header(http_.headers, "Authorization", std::move(authorization));
  rest_.add_impersonation(http_.headers);
  const std::string* const shown = find_header(http_.headers, "Authorization");
  shown_ = shown == nullptr ? SecretText{} : SecretText{*shown};
  http_.timeout = timeout();
  body_size_ = http_.body.size();
  started_ = rest_.clock().now();
  state_ = State::kStart;
}

std::optional<std::chrono::milliseconds> SendOperation::timeout() const {
  std::optional<std::chrono::milliseconds> timeout = http_.timeout;
  if (rest_.config().timeout > 0ms) timeout = rest_.config().timeout;
  if (request_.ends_within) {
    timeout = std::min(*request_.ends_within, timeout.value_or(*request_.ends_within));
  }
  if (deadline_) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - rest_.clock().now());
    timeout = std::max(1ms, std::min(left, timeout.value_or(left)));
  }
  return timeout;
}

/// Starts the exchange and waits for its head.
bool SendOperation::poll_exchange() {
  try {
    if (state_ == State::kStart && !poll_start()) return false;
    state_ = State::kHead;
    if (!stream_->poll_head()) return false;
  } catch (const TransportError& error) {
    count(0);
    throw rest_.in_context(request_, error);
  }
  answered();
  return true;
}

bool SendOperation::poll_start() {
  AsyncTransport* const transport = rest_.async_transport_;
  if (transport == nullptr || poller_.scheduler == nullptr) {
    stream_ = std::make_unique<BlockingExchange>(rest_.transport_, std::move(http_), poller_);
    return true;
  }
  if (!starting_) {
    stream_ = transport->try_start(http_, poller_.waker);
    if (stream_ != nullptr) return true;
    starting_ = transport->start(std::move(http_), poller_);
  }
  stream_ = starting_->poll();
  if (stream_ == nullptr) return false;
  starting_.reset();
  return true;
}

void SendOperation::count(int status) {
  rest_.count_attempt(request_, status, attempt_, rest_.clock().now() - started_, body_size_);
}

/// Handles the head of the response.
void SendOperation::answered() {
  const HttpResponseHead& head = stream_->head();
  count(head.status);
  if (head.status == 401 && rest_.credentials_) rest_.credentials_->refused(shown_);
  if (is_success(request_, head.status)) {
    rest_.report_warnings(head.headers);
    stream_ = rest_.metrics_.measure(request_.method, std::move(stream_), rest_.transport_);
    state_ = State::kDone;
    return;
  }
  const std::optional<int> seconds = retry_after_of(head.headers);
  if (attempt_ >= rest_.options().max_retries || !seconds ||
      (head.status != 429 && head.status < 500)) {
    rest_.report_warnings(head.headers);
    body_.emplace(kMostErrorBody);
    state_ = State::kErrorBody;
    return;
  }
  rest_.log_.debug("{}: answered {}, trying again in {} s", rest_.describe(request_), head.status,
                   *seconds);
  delay_ = at_most_a_day(std::chrono::seconds{*seconds});
  body_.emplace(kMostDrained);
  state_ = State::kDrain;
}

bool SendOperation::poll_drain() {
  try {
    if (!body_->poll(*stream_)) return false;
  } catch (const TransportError&) {
    // The connection cannot be reused then.
  }
  body_.reset();
  try_again(delay_);
  return true;
}

bool SendOperation::poll_error_body() {
  std::string body;
  try {
    if (!body_->poll(*stream_)) return false;
    body = body_->take();
  } catch (const TransportError&) {
    // The status code is sufficient, unless the caller wants to stop.
    if (poller_.stop.stop_requested()) throw;
  }
  throw error_of(request_, stream_->head(), body);
}

}  // namespace kube::detail
