// SPDX-License-Identifier: Apache-2.0
#include "tunnel.hpp"

#include "base/ip_address.hpp"
#include <kube/codec/base64.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "dial_error.hpp"
#include "peer_text.hpp"
#include "session.hpp"

namespace kube::detail {

namespace {

constexpr std::string_view kCheckProxy = "check proxy-url or HTTPS_PROXY";

/// CONNECT, for HTTP proxies.
class HttpTunnel final : public Tunnel {
 public:
  explicit HttpTunnel(const Origin& origin) : origin_(origin) {
    const std::string target = origin.server.host_and_port();
    output_ = fmt::format("CONNECT {} HTTP/1.1\r\nHost: {}\r\n", target, target);
    const Url& proxy = *origin.proxy;
    if (!proxy.user.empty() || !proxy.password.empty()) {
      output_ += fmt::format("Proxy-Authorization: Basic {}\r\n",
                             base64_encode(proxy.user + ":" + proxy.password));
    }
    output_ += "\r\n";
  }

  bool receive(std::string_view bytes) override {
    answer_.append(bytes);
    while (true) {
      const auto end = answer_.find("\r\n\r\n");
      const bool is_http =
          answer_.compare(0, 5, kHttp, 0, std::min(answer_.size(), kHttp.size())) == 0;
      if (!is_http || std::min(end, answer_.size()) > kMaxAnswer) {
        refuse("the peer is not an HTTP proxy", "the answer is not HTTP, or too long");
      }
      if (end == std::string::npos) return false;
      const int status = read_head(std::string_view{answer_}.substr(0, end));
      if (status >= 200) {
        if (answer_.size() > end + 4) {
          refuse("the proxy does not tunnel", "it sent data after its answer");
        }
        return true;
      }
      if (++informational_ > kMaxInformational) {
        refuse("the proxy does not answer",
               fmt::format("more than {} informational (1xx) answers", kMaxInformational));
      }
      answer_.erase(0, end + 4);  // another reply follows
      if (answer_.empty()) return false;
    }
  }

 private:
  static constexpr std::size_t kMaxAnswer = std::size_t{16} << 10;
  static constexpr std::string_view kHttp = "HTTP/";

  [[noreturn]] void refuse(std::string_view what, std::string_view detail) const {
    throw proxy_refused(origin_, fmt::format("{}; {}", what, kCheckProxy), detail);
  }

  /// Parses "HTTP/1.1 200 Connection established" and headers. Returns the status, and throws
  /// unless it is a success.
  [[nodiscard]] int read_head(std::string_view head) const {
    const std::string line = printable(head.substr(0, head.find("\r\n")));
    for (std::string_view rest = head; !rest.empty();) {
      const auto end = rest.find("\r\n");
      if (!is_field_text(rest.substr(0, end))) {
        refuse("the peer is not an HTTP proxy", "the answer has control characters in it");
      }
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
    }
    int status = 0;
    if (line.size() < 12 || line[8] != ' ' ||
        std::from_chars(line.data() + 9, line.data() + 12, status).ptr != line.data() + 12 ||
        status < 100) {
      refuse("the peer is not an HTTP proxy", "the answer has no status");
    }
    if (status == 407) {
      throw proxy_refused(origin_,
                          origin_.proxy->user.empty()
                              ? "the proxy wants a user and a password; put them into proxy-url or "
                                "HTTPS_PROXY"
                              : "the proxy does not accept user and password; check proxy-url or "
                                "HTTPS_PROXY",
                          line);
    }
    if (status >= 300) {
      throw proxy_refused(
          origin_, "the proxy refuses to connect; check proxy-url, HTTPS_PROXY and NO_PROXY", line);
    }
    return status;
  }

  const Origin& origin_;
  std::string answer_;
  int informational_ = 0;  ///< 1xx replies so far
};

/// SOCKS5: RFC 1928 and 1929.
class SocksTunnel final : public Tunnel {
 public:
  explicit SocksTunnel(const Origin& origin) : origin_(origin) {
    output_ = has_user() ? std::string{"\5\2\0\2", 4} : std::string{"\5\1\0", 3};
  }

  bool receive(std::string_view bytes) override {
    answer_.append(bytes);
    const std::optional<std::size_t> size = answer_size();
    if (!size || answer_.size() < *size) return false;
    if (answer_.size() > *size) refuse("it sent more than its answer");
    const std::string answer = std::exchange(answer_, {});
    switch (step_) {
      case Step::kMethod:
        choose_method(static_cast<unsigned char>(answer[1]));
        return false;
      case Step::kUser:
        if (answer[0] != 1 || answer[1] != 0) {
          throw proxy_refused(
              origin_,
              "the proxy does not accept user and password; check proxy-url or HTTPS_PROXY",
              "SOCKS5");
        }
        ask();
        return false;
      case Step::kConnect:
        break;
    }
    return true;
  }

 private:
  enum class Step { kMethod, kUser, kConnect };

  [[nodiscard]] bool has_user() const { return !origin_.proxy->user.empty(); }

  [[noreturn]] void refuse(std::string_view detail) const {
    throw proxy_refused(origin_, fmt::format("the proxy refuses; {}", kCheckProxy),
                        fmt::format("SOCKS5: {}", detail));
  }

  /// Returns the size of the expected reply once it is known. Validates as early as possible.
  [[nodiscard]] std::optional<std::size_t> answer_size() const {
    if (step_ != Step::kUser && !answer_.empty() && answer_[0] != 5) {
      refuse("the peer does not speak it");
    }
    if (step_ != Step::kConnect) return 2;
    if (answer_.size() >= 2 && answer_[1] != 0) {
      refuse(refusal(static_cast<unsigned char>(answer_[1])));
    }
    if (answer_.size() < 5) return std::nullopt;
    constexpr std::size_t kHead = 4;
    constexpr std::size_t kPort = 2;
    switch (answer_[3]) {
      case 1:
        return kHead + 4 + kPort;
      case 3:
        return kHead + 1 + static_cast<unsigned char>(answer_[4]) + kPort;
      case 4:
        return kHead + 16 + kPort;
      default:
        refuse("the answer has an address of an unknown kind");
    }
  }

  static std::string refusal(unsigned code) {
    switch (code) {
      case 1:
        return "general failure";
      case 2:
        return "not allowed by its rules";
      case 3:
        return "network unreachable";
      case 4:
        return "host unreachable";
      case 5:
        return "connection refused";
      case 6:
        return "TTL expired";
      case 7:
        return "command not supported";
      case 8:
        return "address type not supported";
      default:
        return fmt::format("code {}", code);
    }
  }

  void choose_method(unsigned method) {
    if (method == 0) return ask();
    if (method == 2 && has_user()) {
      const Url& proxy = *origin_.proxy;
      output_ = '\1';
      append_text(proxy.user);
      append_text(proxy.password);
      step_ = Step::kUser;
      return;
    }
    if (method != 0xff) refuse("it chose a method that was not offered");
    throw proxy_refused(origin_,
                        has_user() ? "the proxy wants another kind of authentication than user and "
                                     "password"
                                   : "the proxy wants a user and a password; put them into "
                                     "proxy-url or HTTPS_PROXY",
                        "SOCKS5");
  }

  void ask() {
    output_ = std::string{"\5\1\0", 3};
    if (const auto address = parse_ip_address(origin_.server.host)) {
      output_ += address->v4 ? '\1' : '\4';
      for (const unsigned char byte : address->own_bytes()) output_ += static_cast<char>(byte);
    } else {
      output_ += '\3';
      append_text(origin_.server.host);
    }
    output_ += static_cast<char>(origin_.server.port >> 8);
    output_ += static_cast<char>(origin_.server.port & 0xff);
    step_ = Step::kConnect;
  }

  void append_text(const std::string& text) {
    output_ += static_cast<char>(text.size());
    output_ += text;
  }

  const Origin& origin_;
  Step step_ = Step::kMethod;
  std::string answer_;
};

}  // namespace

std::unique_ptr<Tunnel> make_tunnel(const Origin& origin) {
  if (origin.proxy->scheme == "socks5") return std::make_unique<SocksTunnel>(origin);
  return std::make_unique<HttpTunnel>(origin);
}

}  // namespace kube::detail
