// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/transport/transport.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The HTTP server of the library: manager endpoints and the in-process API server use it.
namespace kube::server {

/// The identity in a client certificate; the name is empty if it could not be verified.
struct PeerCertificate {
  std::string common_name;
  std::vector<std::string> organizations;
};

/// The client at the other end of a connection.
struct Peer {
  /// "127.0.0.1:41234" or "[::1]:41234".
  std::string address = {};
  bool secure = false;  ///< uses TLS
  /// Only if the server asks for one (its Certificate has a CA for clients) and the client has
  /// sent it.
  std::optional<PeerCertificate> certificate = std::nullopt;
};

/// A body in pieces. The reader polls it when it can take more (back-pressure).
class BodySource {
 public:
  enum class State {
    kChunk,
    kWait,    ///< `wake` will be called
    kEnd,     ///< the body is complete
    kReset,   ///< the body ends here, incomplete; a response breaks its connection
    kSilent,  ///< nothing more is sent, but the connection stays open; only to inject faults
  };
  struct Poll {
    State state = State::kWait;
    std::string bytes = {};
  };

  virtual ~BodySource() = default;
  /// Never blocks. After kWait, `wake` is called once, from any thread, when it should be polled
  /// again. `wake` may be called after the source is destroyed.
  virtual Poll poll(const std::function<void()>& wake) = 0;
};

/// The protocol on a connection after 101 Switching Protocols. poll() returns the bytes to send;
/// after kEnd the connection is closed. Used on the loop's thread.
class UpgradedStream : public BodySource {
 public:
  /// Takes bytes from the peer; poll() is called afterwards.
  virtual void receive(std::string_view bytes) = 0;
  /// Whether it can take more bytes now. After false, it wakes the waker of the last poll().
  [[nodiscard]] virtual bool wants_input() const { return true; }
  /// The server shuts down: poll() returns kEnd soon.
  virtual void drain() = 0;
};

/// A request, as passed to a Handler.
struct Request {
  std::string method = {};
  /// Path and query as sent, percent-encoded.
  std::string target = {};
  Headers headers = {};
  std::string body = {};
  /// The body while it arrives, if the handler asked for that; `body` is empty then. Polled by one
  /// thread at a time; destroying it discards the rest.
  std::unique_ptr<BodySource> stream = nullptr;
  std::shared_ptr<const Peer> peer = nullptr;
  bool http2 = false;
};

/// The response to a request.
struct Reply {
  enum class Fate {
    kAnswer,
    kReset,   ///< the connection is broken without a response
    kSilent,  ///< no response is sent; the connection stays open; only to inject faults
  };
  Fate fate = Fate::kAnswer;
  int status = 200;
  /// Without Content-Length, Transfer-Encoding and Connection, which the server adds. Line breaks
  /// in values are replaced by spaces.
  Headers headers = {};
  std::string body = {};
  /// Sent after `body`; null if `body` is complete. Polled and destroyed on the loop's thread.
  std::unique_ptr<BodySource> source = nullptr;
  /// Send without Content-Length. Implied by `source` unless `length` is given.
  bool chunked = false;
  /// The value of Content-Length if `source` delivers a body of known size; otherwise -1.
  std::int64_t length = -1;
  /// Encodes the bytes of each flush, for instance as a gzip member.
  std::string (*encode_flush)(std::string_view) = nullptr;
  /// Close the connection after the response.
  bool close = false;
  /// Takes over the connection after a response of status 101; not for HTTP/2.
  std::unique_ptr<UpgradedStream> upgrade = nullptr;
};

/// Returns the reason phrase: "Not Found" for 404, "Unknown" for an unknown status.
[[nodiscard]] std::string_view reason_phrase(int status);
/// Creates a plain-text response.
[[nodiscard]] Reply text_reply(int status, std::string body);

}  // namespace kube::server
