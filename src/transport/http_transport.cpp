// SPDX-License-Identifier: Apache-2.0
#include <kube/transport/http_transport.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "config/non_blocking_credentials.hpp"
#include "http_stream.hpp"
#include "loop.hpp"
#include "polled_stream.hpp"

namespace kube {

namespace {

using Kind = TransportError::Kind;
using detail::Exchange;
using detail::HttpStream;
using detail::Loop;
using detail::Mailbox;

/// Nothing that would end a line, and with it begin another request.
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

/// Connections made with an old certificate end even if nothing but watches runs.
std::shared_ptr<void> listen_for_identity(const Loop& loop) {
  const std::shared_ptr<Credentials>& credentials = loop.options().credentials;
  if (credentials == nullptr) return nullptr;
  return credentials->on_identity_change(
      [mailbox = loop.mailbox(), log = loop.options().log, weak = std::weak_ptr{credentials}] {
        try {
          if (const auto alive = weak.lock()) mailbox->announce(alive->tls());
        } catch (const std::exception& error) {
          log.warning("connections keep the older client certificate: {}", error.what());
        } catch (...) {
          log.warning("connections keep the older client certificate");
        }
      });
}

class HttpTransport final : public Transport, public detail::AsyncTransport {
 public:
  explicit HttpTransport(TransportOptions options)
      : shared_loop_(std::make_shared<Loop>(std::move(options))),
        loop_(*shared_loop_),
        no_material_(std::make_shared<TlsMaterial>()),
        ready_credentials_(
            dynamic_cast<detail::NonBlockingCredentials*>(loop_.options().credentials.get())),
        identity_changes_(listen_for_identity(loop_)),
        thread_(start()) {}

  ~HttpTransport() override {
    thread_.request_stop();
    loop_.mailbox()->nudge();
    // A job that the loop has woken may be the last owner. A thread cannot wait for itself; it ends by itself.
    if (thread_.get_id() == std::this_thread::get_id()) thread_.detach();
  }

  [[nodiscard]] std::unique_ptr<ResponseStream> open(HttpRequest request,
                                                     std::stop_token stop) override {
    check_request(request);
    std::unique_ptr<HttpStream> stream = send(std::move(request), material(stop), {});
    // From here on the transport may be destroyed.
    const std::stop_callback cancel_on_stop{stop, [&stream] { stream->cancel(); }};
    stream->wait_head();
    return stream;
  }

  [[nodiscard]] std::unique_ptr<detail::PolledStream> start(HttpRequest request,
                                                            std::weak_ptr<detail::Waker> waker,
                                                            std::stop_token stop) override {
    check_request(request);
    return send(std::move(request), material(std::move(stop)), std::move(waker));
  }

  [[nodiscard]] std::unique_ptr<detail::PolledStream> try_start(
      HttpRequest& request, std::weak_ptr<detail::Waker> waker) override {
    check_request(request);
    std::shared_ptr<const TlsMaterial> material;
    if (loop_.options().credentials == nullptr) material = no_material_;
    if (ready_credentials_ != nullptr) material = ready_credentials_->try_tls();
    if (material == nullptr) return nullptr;
    return send(std::move(request), std::move(material), std::move(waker));
  }

 private:
  [[nodiscard]] std::shared_ptr<const TlsMaterial> material(std::stop_token stop) const {
    const auto& credentials = loop_.options().credentials;
    return credentials ? credentials->tls(std::move(stop)) : no_material_;
  }

  [[nodiscard]] std::unique_ptr<HttpStream> send(HttpRequest request,
                                                 std::shared_ptr<const TlsMaterial> material,
                                                 std::weak_ptr<detail::Waker> waker) {
    const std::shared_ptr<Mailbox> mailbox = loop_.mailbox();
    const auto exchange = std::make_shared<Exchange>(std::move(request), std::move(material),
                                                     mailbox, loop_.options().stream_buffer_bytes,
                                                     system_clock(), loop_.options().budget);
    exchange->set_waker(std::move(waker));
    auto stream = std::make_unique<HttpStream>(exchange, loop_.origin().name);
    if (!mailbox->post(exchange)) exchange->cancel();
    return stream;
  }

  std::jthread start() {
    try {
      return std::jthread{[loop = shared_loop_](const std::stop_token& stop) { loop->run(stop); }};
    } catch (const std::system_error& error) {
      throw TransportError(Kind::kConnect,
                           fmt::format("{}: no connection: there is no thread for it; end some, or "
                                       "raise the limit ({})",
                                       loop_.origin().name, error.code().message()));
    }
  }

  const std::shared_ptr<Loop> shared_loop_;  // with its thread
  Loop& loop_;
  const std::shared_ptr<const TlsMaterial> no_material_;
  detail::NonBlockingCredentials* const ready_credentials_;  // those of the loop, or null
  const std::shared_ptr<void> identity_changes_;
  std::jthread thread_;
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
  return std::make_unique<HttpTransport>(std::move(options));
}

}  // namespace kube
