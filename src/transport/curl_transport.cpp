// SPDX-License-Identifier: Apache-2.0
#include <kube/transport/curl_transport.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <thread>

#include "inflater.hpp"
#include "loop.hpp"

namespace kube {

namespace {

using Kind = TransportError::Kind;
using detail::Exchange;
using detail::Inflater;
using detail::Loop;
using detail::Mailbox;

/// Asks the credentials now and then, in the thread of whoever reads a stream, so that connections made with
/// an old certificate end even if nothing but watches runs.
class Renewal {
 public:
  Renewal(const TransportOptions& options, std::shared_ptr<Mailbox> mailbox)
      : credentials_(options.credentials),
        interval_(options.credentials_check),
        log_(options.log),
        mailbox_(std::move(mailbox)),
        next_(credentials_ && interval_.count() > 0 ? system_clock().now() + interval_
                                                    : Clock::TimePoint::max()) {}

  [[nodiscard]] Clock::TimePoint next() const noexcept { return next_.load(); }

  void check(const std::stop_token& stop) {
    Clock::TimePoint due = next_.load();
    const Clock::TimePoint now = system_clock().now();
    // One reader asks for all.
    if (now < due || !next_.compare_exchange_strong(due, now + interval_)) return;
    try {
      mailbox_->announce(credentials_->tls(stop));
    } catch (const std::exception& error) {
      log_.warning("connections keep their certificate: {}", error.what());
    }
  }

 private:
  const std::shared_ptr<Credentials> credentials_;
  const std::chrono::milliseconds interval_;
  const Logger log_;
  const std::shared_ptr<Mailbox> mailbox_;
  std::atomic<Clock::TimePoint> next_;
};

class CurlStream final : public ResponseStream {
 public:
  CurlStream(std::shared_ptr<Exchange> exchange, std::shared_ptr<Renewal> renewal, std::string host)
      : exchange_(std::move(exchange)),
        renewal_(std::move(renewal)),
        host_(std::move(host)),
        head_(exchange_->wait_head()) {
    const std::string* encoding = find_header(head_.headers, "Content-Encoding");
    if (encoding == nullptr || *encoding != "gzip") return;
    inflater_.emplace();
    // What is said of the compressed body is not true of the bytes that come out here.
    std::erase_if(head_.headers, [](const Header& header) {
      return find_header({header}, "Content-Encoding") != nullptr ||
             find_header({header}, "Content-Length") != nullptr;
    });
  }
  ~CurlStream() override { exchange_->cancel(); }

  [[nodiscard]] const HttpResponseHead& head() const noexcept override { return head_; }

  [[nodiscard]] std::string_view read(std::stop_token stop) override {
    const std::stop_callback cancel_on_stop{stop, [this] { cancel(); }};
    if (!inflater_) {
      fetch(stop);
      return bytes_;
    }
    while (true) {
      if (!compressed_.empty() || inflater_->has_more()) {
        inflater_->run(compressed_, decoded_, kDecodedAtOnce, host_);
        if (!decoded_.empty()) return decoded_;
      } else {
        fetch(stop);
        compressed_ = bytes_;
        if (!bytes_.empty()) continue;
        if (!inflater_->complete()) {
          throw TransportError(Kind::kProtocol, host_ + ": the gzip body ends in the middle");
        }
        return {};
      }
    }
  }

  void cancel() noexcept override { exchange_->cancel(); }

 private:
  static constexpr std::size_t kDecodedAtOnce = std::size_t{64} << 10;

  void fetch(const std::stop_token& stop) {
    while (!exchange_->take(bytes_, renewal_->next())) renewal_->check(stop);
  }

  const std::shared_ptr<Exchange> exchange_;
  const std::shared_ptr<Renewal> renewal_;
  const std::string host_;
  HttpResponseHead head_;
  std::optional<Inflater> inflater_;
  std::string bytes_;
  std::string_view compressed_;
  std::string decoded_;
};

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

class CurlTransport final : public Transport {
 public:
  explicit CurlTransport(TransportOptions options)
      : loop_(std::move(options)),
        renewal_(std::make_shared<Renewal>(loop_.options(), loop_.mailbox())),
        no_material_(std::make_shared<TlsMaterial>()),
        thread_([this](const std::stop_token& stop) { loop_.run(stop); }) {}

  ~CurlTransport() override {
    thread_.request_stop();
    loop_.mailbox()->nudge();
  }

  [[nodiscard]] std::unique_ptr<ResponseStream> open(HttpRequest request,
                                                     std::stop_token stop) override {
    check_request(request);
    const auto& credentials = loop_.options().credentials;
    std::shared_ptr<const TlsMaterial> material =
        credentials ? credentials->tls(stop) : no_material_;
    const auto exchange =
        std::make_shared<Exchange>(std::move(request), std::move(material), loop_.mailbox(),
                                   loop_.options().stream_buffer_bytes);
    const std::stop_callback cancel_on_stop{stop, [&exchange] { exchange->cancel(); }};
    if (!loop_.mailbox()->post(exchange)) exchange->cancel();
    return std::make_unique<CurlStream>(exchange, renewal_, loop_.origin().name);
  }

 private:
  Loop loop_;
  const std::shared_ptr<Renewal> renewal_;
  const std::shared_ptr<const TlsMaterial> no_material_;
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

std::unique_ptr<Transport> make_curl_transport(TransportOptions options) {
  return std::make_unique<CurlTransport>(std::move(options));
}

}  // namespace kube
