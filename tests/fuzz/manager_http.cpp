// SPDX-License-Identifier: Apache-2.0
// Input: requests to the HTTP server as HTTP/1.1 and as HTTP/2, a query, and a listen address.
#include "fuzz.hpp"

#include "server/listener.hpp"
#include "server/query.hpp"
#include "server/session.hpp"
#include <kube/base/error.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

namespace {

using kube::fuzz::require;
namespace server = kube::server;

/// Answers each request at once.
class Host final : public server::SessionHost, private server::Handler {
 public:
  std::optional<server::Reply> serve(server::Request request, std::int32_t) override {
    require(request.target.starts_with('/'), "a target begins with a slash");
    require(request.target.find_first_of(" \r\n") == std::string::npos, "a target is one word");
    require(request.body.size() <= limits_.max_body, "a body has a limit");
    require(request.headers.size() <= limits_.max_headers, "headers have a limit");
    const auto [path, query] = server::split_target(request.target);
    for (const auto& [name, value] : server::parse_query(query)) {
      require(name.size() + value.size() <= query.size(), "decoding makes nothing longer");
    }
    return server::text_reply(200, std::string{path});
  }
  std::function<void()> waker(std::int32_t) override {
    return [] {};
  }
  void silence() override {}
  [[nodiscard]] kube::Clock::TimePoint now() const override { return {}; }
  [[nodiscard]] const server::Limits& limits() const override { return limits_; }
  server::Handler& handler() override { return *this; }
  [[nodiscard]] const std::shared_ptr<const server::Peer>& peer() const override { return peer_; }

 private:
  void handle(server::Request, server::Responder) override {}

  const server::Limits limits_{.max_head = 4096, .max_headers = 50, .max_body = 1000};
  const std::shared_ptr<const server::Peer> peer_ = std::make_shared<server::Peer>();
};

/// Feeds `text` in pieces, and returns what the session sends.
std::string talk(server::Session& session, std::string_view text, std::size_t step) {
  std::string sent;
  while (!text.empty() && session.ending() == server::Session::Ending::kNone) {
    session.receive(text.substr(0, step));
    text.remove_prefix(std::min(step, text.size()));
    for (std::size_t before = 0;;) {
      before = sent.size();
      session.produce(sent, before + 65536);
      if (sent.size() == before) break;
    }
  }
  return sent;
}

void try_http1(std::string_view text, std::size_t step) {
  Host host;
  const std::string sent = talk(*server::make_http1_session(host), text, step);
  require(sent.empty() || sent.starts_with("HTTP/1.1 "), "a response has a head");
}

void try_http2(std::string_view text) {
  Host host;
  const auto session = server::make_http2_session(host);
  (void)talk(*session, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 100);
  (void)talk(*session, text, 100);
}

void try_address(std::string_view text) {
  try {
    const auto address = server::parse_listen_address(std::string{text});
    require(!address.port.empty() && address.port.size() <= 20, "there is a port");
    require(std::stoull(address.port) <= 65535, "the port is one");
  } catch (const kube::Error& error) {
    const std::string_view message = error.what();
    require(std::ranges::all_of(message, [](char c) { return c >= ' ' && c <= '~'; }),
            "nothing of the address reaches a terminal as it is");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = kube::fuzz::text_of(data, size);
  try_http1(text, std::max<std::size_t>(text.size(), 1));
  try_http1(text, 7);
  try_http2(text);
  static_cast<void>(server::parse_query(text));
  try_address(text.substr(0, 200));
  return 0;
}
