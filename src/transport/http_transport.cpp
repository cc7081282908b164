// SPDX-License-Identifier: Apache-2.0
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

#include "dial_error.hpp"
#include "dispatcher_job.hpp"
#include "inflater.hpp"

namespace kube {

namespace {

using Kind = TransportError::Kind;
using detail::DispatcherJob;
using detail::Exchange;
using detail::HttpDispatcher;
using detail::Inflater;
using detail::Mailbox;

class HttpStream final : public ResponseStream {
 public:
  HttpStream(std::shared_ptr<Exchange> exchange, std::string host)
      : exchange_(std::move(exchange)), host_(std::move(host)), head_(exchange_->wait_head()) {
    const std::string* encoding = find_header(head_.headers, "Content-Encoding");
    if (encoding == nullptr || *encoding != "gzip") return;
    inflater_.emplace();
    // What is said of the compressed body is not true of the bytes that come out here.
    std::erase_if(head_.headers, [](const Header& header) {
      return find_header({header}, "Content-Encoding") != nullptr ||
             find_header({header}, "Content-Length") != nullptr;
    });
  }
  ~HttpStream() override { exchange_->cancel(); }

  [[nodiscard]] const HttpResponseHead& head() const noexcept override { return head_; }

  [[nodiscard]] std::string_view read(std::stop_token stop) override {
    const std::stop_callback cancel_on_stop{stop, [this] { cancel(); }};
    if (!inflater_) {
      exchange_->take(bytes_);
      return bytes_;
    }
    while (true) {
      if (!compressed_.empty() || inflater_->has_more()) {
        const std::size_t limit =
            std::clamp(compressed_.size() * 8, kMinDecodedAtOnce, kMaxDecodedAtOnce);
        inflater_->run(compressed_, decoded_, limit, host_);
        if (!decoded_.empty()) return decoded_;
      } else {
        // A watch at rest should not hold what it needed to decode an event.
        inflater_->rest();
        std::string{}.swap(decoded_);
        exchange_->take(bytes_);
        compressed_ = bytes_;
        if (!bytes_.empty()) continue;
        if (!inflater_->complete()) {
          throw TransportError(Kind::kProtocol, host_ + ": the gzip body ends in the middle");
        }
        return {};
      }
    }
  }

  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout, std::stop_token stop) override {
    if (!compressed_.empty() || (inflater_ && inflater_->has_more())) return true;
    const std::stop_callback cancel_on_stop{stop, [this] { cancel(); }};
    return exchange_->wait(timeout);
  }

  void cancel() noexcept override { exchange_->cancel(); }

 private:
  static constexpr std::size_t kMinDecodedAtOnce = std::size_t{4} << 10;
  static constexpr std::size_t kMaxDecodedAtOnce = std::size_t{64} << 10;

  const std::shared_ptr<Exchange> exchange_;
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

/// Connections made with an old certificate end even if nothing but watches runs.
std::shared_ptr<void> listen_for_identity(const HttpDispatcher& dispatcher) {
  const std::shared_ptr<Credentials>& credentials = dispatcher.options().credentials;
  if (credentials == nullptr) return nullptr;
  return credentials->on_identity_change([mailbox = dispatcher.mailbox(),
                                          log = dispatcher.options().log,
                                          weak = std::weak_ptr{credentials}] {
    try {
      if (const auto alive = weak.lock()) mailbox->announce(alive->tls());
    } catch (const std::exception& error) {
      log.warning("connections keep the older client certificate: {}", error.what());
    } catch (...) {
      log.warning("connections keep the older client certificate");
    }
  });
}

/// That of the options, or one of its own. Throws TransportError.
std::shared_ptr<Runtime> runtime_of(const HttpDispatcher& dispatcher) {
  const TransportOptions& options = dispatcher.options();
  if (options.runtime) return options.runtime;
  try {
    return std::make_shared<Runtime>(RuntimeOptions{.threads = 1, .log = options.log});
  } catch (const std::system_error& error) {
    const int code = error.code().value();
    if (code != EAGAIN) throw connect_failed(dispatcher.origin(), code, error.code().message());
    throw TransportError(Kind::kConnect,
                         fmt::format("{}: no connection: there is no thread for it; end some, or "
                                     "raise the limit ({})",
                                     dispatcher.origin().name, error.code().message()));
  }
}

class HttpTransport final : public Transport {
 public:
  explicit HttpTransport(std::unique_ptr<HttpDispatcher> dispatcher)
      : dispatcher_(*dispatcher),
        runtime_(runtime_of(*dispatcher)),
        no_material_(std::make_shared<TlsMaterial>()),
        job_(std::make_shared<DispatcherJob>(std::move(dispatcher),
                                             detail::Inside::core(*runtime_))),
        identity_changes_(listen_for_identity(dispatcher_)) {
    job_->start();
  }

  ~HttpTransport() override { job_->stop(); }

  [[nodiscard]] std::unique_ptr<ResponseStream> open(HttpRequest request,
                                                     std::stop_token stop) override {
    check_request(request);
    if (job_->is_here()) {
      throw std::logic_error(
          "a request was made on the thread that would have to receive its answer (kube-io, or the "
          "one that runs the loop); make it on another thread");
    }
    const TransportOptions& options = dispatcher_.options();
    std::shared_ptr<const TlsMaterial> material =
        options.credentials ? options.credentials->tls(stop) : no_material_;
    std::string name = dispatcher_.origin().name;
    const std::shared_ptr<Mailbox> mailbox = dispatcher_.mailbox();
    const auto exchange =
        std::make_shared<Exchange>(std::move(request), std::move(material), mailbox,
                                   options.stream_buffer_bytes, system_clock(), options.budget);
    const std::stop_callback cancel_on_stop{stop, [&exchange] { exchange->cancel(); }};
    if (!mailbox->post(exchange)) exchange->cancel();
    // From here on the transport may be destroyed.
    try {
      return std::make_unique<HttpStream>(exchange, std::move(name));
    } catch (...) {
      exchange->cancel();  // without a reader, the answer would stay under way
      throw;
    }
  }

 private:
  const HttpDispatcher& dispatcher_;  // of the job
  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<const TlsMaterial> no_material_;
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
