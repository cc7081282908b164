// SPDX-License-Identifier: Apache-2.0
#include "base/fork.hpp"
#include "base/no_wait.hpp"
#include "engine/blocking_call.hpp"
#include "engine/scheduler.hpp"
#include <kube/engine/runtime.hpp>
#include <kube/transport/http_transport.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "config/credentials_refresh.hpp"
#include "dial_error.hpp"
#include "dispatcher_job.hpp"
#include "http_stream.hpp"
#include "polled_stream.hpp"

namespace kube {

namespace {

using Kind = TransportError::Kind;
using detail::DispatcherJob;
using detail::Exchange;
using detail::HttpDispatcher;
using detail::HttpStream;
using detail::Mailbox;

/// Refuses anything that would end a line and thereby start another request (request smuggling).
void check_request(const HttpRequest& request) {
  const auto is_line_break = [](unsigned char letter) {
    return letter == '\r' || letter == '\n' || letter == '\0';
  };
  const auto is_control = [](unsigned char letter) { return letter <= ' ' || letter == 0x7f; };
  if (request.method.empty() || std::ranges::any_of(request.method, is_control)) {
    throw std::invalid_argument("the method of a request is empty, or has blanks in it");
  }
  if (!request.target.starts_with('/') || std::ranges::any_of(request.target, is_control)) {
    throw std::invalid_argument("the target of a request has to begin with / and be encoded");
  }
  for (const Header& header : request.headers) {
    if (header.name.empty() || std::ranges::any_of(header.name, is_control) ||
        header.name.find(':') != std::string::npos ||
        std::ranges::any_of(header.value, is_line_break)) {
      throw std::invalid_argument("a header of a request has a name or value that cannot be sent");
    }
  }
}

/// Closes connections made with an old certificate even if only watches are running.
std::shared_ptr<void> listen_for_identity(const HttpDispatcher& dispatcher,
                                          const std::shared_ptr<detail::Scheduler>& scheduler) {
  const std::shared_ptr<Credentials>& credentials = dispatcher.options().credentials;
  if (credentials == nullptr) return nullptr;
  auto* const ready = dynamic_cast<detail::NonBlockingCredentials*>(credentials.get());
  auto changed = [mailbox = dispatcher.mailbox(), log = dispatcher.options().log,
                  weak = std::weak_ptr{credentials}, ready] {
    try {
      const auto alive = weak.lock();
      if (alive) mailbox->announce(ready != nullptr ? ready->last_tls() : alive->tls());
    } catch (const std::exception& error) {
      log.warning("connections keep the older client certificate: {}", error.what());
    } catch (...) {
      log.warning("connections keep the older client certificate");
    }
  };
  if (ready != nullptr) return ready->on_identity_change(std::move(changed), scheduler);
  return credentials->on_identity_change(std::move(changed));
}

/// Returns the Runtime of the options, or a new one. Throws TransportError.
std::shared_ptr<Runtime> runtime_of(HttpDispatcher& dispatcher) {
  if (std::shared_ptr<Runtime> given = dispatcher.take_runtime()) return given;
  const TransportOptions& options = dispatcher.options();
  try {
    return std::make_shared<Runtime>(
        RuntimeOptions{.log = options.log, .metrics = options.metrics});
  } catch (const std::system_error& error) {
    const int code = error.code().value();
    if (code != EAGAIN) throw connect_failed(dispatcher.origin(), code, error.code().message());
    throw TransportError(Kind::kConnect,
                         fmt::format("{}: no connection: there is no thread for it; end some, or "
                                     "raise the limit ({})",
                                     dispatcher.origin().name, error.code().message()));
  }
}

class HttpTransport final : public Transport, public detail::AsyncTransport {
 public:
  explicit HttpTransport(std::unique_ptr<HttpDispatcher> dispatcher)
      : dispatcher_(*dispatcher),
        runtime_(runtime_of(*dispatcher)),
        no_material_(std::make_shared<TlsMaterial>()),
        ready_credentials_(std::dynamic_pointer_cast<detail::NonBlockingCredentials>(
            dispatcher_.options().credentials)),
        refresh_(ready_credentials_),
        job_(std::make_shared<DispatcherJob>(std::move(dispatcher),
                                             detail::Inside::core(*runtime_))),
        identity_changes_(listen_for_identity(dispatcher_, detail::Inside::core(*runtime_))) {
    job_->start();
  }

  ~HttpTransport() override {
    if (process_.is_of_parent()) {
      detail::keep_for_ever(job_);
      detail::keep_for_ever(runtime_);
      detail::keep_for_ever(identity_changes_);
    } else {
      job_->stop();
    }
  }

  [[nodiscard]] std::unique_ptr<ResponseStream> open(HttpRequest request,
                                                     std::stop_token stop) override {
    process_.check("the Transport");
    check_request(request);
    detail::require_may_wait(fmt::format("{} {}", request.method, request.target),
                             "use the asynchronous form of the call");
    if (stop.stop_requested()) {  // do not even connect
      throw TransportError(TransportError::Kind::kCanceled,
                           dispatcher_.origin().name + ": canceled");
    }
    std::unique_ptr<HttpStream> stream = send(std::move(request), material(stop), {});
    // From here on the transport may be destroyed.
    // A pointer, because the return statement empties `stream` before the callback is destroyed.
    const std::stop_callback cancel_on_stop{stop, [raw = stream.get()] { raw->cancel(); }};
    stream->wait_head();
    return stream;
  }

  [[nodiscard]] std::unique_ptr<detail::PolledStream> try_start(
      HttpRequest& request, std::weak_ptr<detail::Waker> waker) override {
    check_request(request);
    std::shared_ptr<const TlsMaterial> material;
    if (dispatcher_.options().credentials == nullptr) material = no_material_;
    if (ready_credentials_ != nullptr) material = ready_credentials_->try_tls();
    if (material == nullptr) return nullptr;
    return send(std::move(request), std::move(material), std::move(waker));
  }

  [[nodiscard]] std::unique_ptr<detail::PendingRequest> start(
      HttpRequest request, const detail::Poller& poller) override {
    process_.check("the Transport");
    check_request(request);
    return std::make_unique<Pending>(*this, std::move(request), poller);
  }

  [[nodiscard]] std::shared_ptr<Runtime> runtime() const noexcept override { return runtime_; }

 private:
  class Pending final : public detail::PendingRequest {
   public:
    Pending(HttpTransport& transport, HttpRequest request, const detail::Poller& poller)
        : transport_(transport), request_(std::move(request)), waker_(poller.waker) {
      if (transport_.ready_credentials_ != nullptr) {
        renewal_ = transport_.refresh_.join(poller);
      } else {
        asking_.emplace(poller, "Credentials",
                        [credentials = transport_.dispatcher_.options().credentials](
                            std::stop_token stop) { return credentials->tls(std::move(stop)); });
      }
    }

    [[nodiscard]] std::unique_ptr<detail::PolledStream> poll() override {
      std::shared_ptr<const TlsMaterial> material;
      if (renewal_ != nullptr) {
        if (!detail::CredentialsRefresh::poll(*renewal_)) return nullptr;
        material = transport_.ready_credentials_->last_tls();
      } else {
        std::optional<std::shared_ptr<const TlsMaterial>> answer = asking_->poll();
        if (!answer) return nullptr;
        material = std::move(*answer);
      }
      return transport_.send(std::move(request_), std::move(material), waker_);
    }

   private:
    HttpTransport& transport_;
    HttpRequest request_;
    const std::weak_ptr<detail::Waker> waker_;
    // One of these:
    std::shared_ptr<detail::CredentialsRefresh::Call> renewal_;
    std::optional<detail::BlockingCall<std::shared_ptr<const TlsMaterial>>> asking_;
  };

  [[nodiscard]] std::shared_ptr<const TlsMaterial> material(std::stop_token stop) const {
    const auto& credentials = dispatcher_.options().credentials;
    return credentials ? credentials->tls(std::move(stop)) : no_material_;
  }

  [[nodiscard]] std::unique_ptr<HttpStream> send(HttpRequest request,
                                                 std::shared_ptr<const TlsMaterial> material,
                                                 std::weak_ptr<detail::Waker> waker) {
    const TransportOptions& options = dispatcher_.options();
    const std::shared_ptr<Mailbox> mailbox = dispatcher_.mailbox();
    const auto exchange =
        std::make_shared<Exchange>(std::move(request), std::move(material), mailbox,
                                   options.stream_buffer_bytes, system_clock(), options.budget);
    exchange->set_waker(std::move(waker));
    auto stream =
        std::make_unique<HttpStream>(exchange, dispatcher_.origin().name, job_->scheduler());
    if (!mailbox->post(exchange)) exchange->cancel();
    return stream;
  }

  const detail::ProcessMark process_;
  const HttpDispatcher& dispatcher_;  // owned by the job
  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<const TlsMaterial> no_material_;
  const std::shared_ptr<detail::NonBlockingCredentials> ready_credentials_;  // or null
  detail::CredentialsRefresh refresh_;
  const std::shared_ptr<DispatcherJob> job_;
  const std::shared_ptr<void> identity_changes_;
};

}  // namespace

TransportOptions with_environment(TransportOptions options) {
  const auto seconds = [&](const char* name, std::chrono::milliseconds& value) {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0') return;
    char* end = nullptr;
    const long number = std::strtol(text, &end, 10);
    constexpr long kYear = 365L * 24 * 3600;
    if (*end != '\0' || number < 0 || number > kYear) {
      options.log.warning("{}={} is not a number of seconds; it stays at {}", name, text,
                          std::chrono::duration_cast<std::chrono::seconds>(value).count());
      return;
    }
    value = std::chrono::seconds{number};
  };
  seconds("HTTP2_READ_IDLE_TIMEOUT_SECONDS", options.read_idle_timeout);
  seconds("HTTP2_PING_TIMEOUT_SECONDS", options.ping_timeout);
  const char* disabled = std::getenv("DISABLE_HTTP2");
  if (disabled != nullptr && *disabled != '\0') options.disable_http2 = true;
  return options;
}

std::unique_ptr<Transport> make_http_transport(TransportOptions options) {
  return std::make_unique<HttpTransport>(std::make_unique<HttpDispatcher>(std::move(options)));
}

}  // namespace kube
