// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "limits.hpp"
#include "message.hpp"

namespace kube::server {

class Gate;

/// Why the server answers a request itself. The connection is closed afterwards.
enum class Refusal {
  kMalformed,
  kVersion,  ///< an unknown version of HTTP
  kLargeHead,
  kLargeBody,
  kSlowHead,
  kSlowBody,
  kSlowAnswer,  ///< the handler did not answer within Limits::answer_timeout
  kCrowded,     ///< too many connections
  kReplaced,    ///< too many connections, and this one is the oldest
  kFailed,      ///< the handler threw, or dropped its Responder
};

/// Reported to Handler::on_incident(), for counters.
enum class Incident {
  kSlowHead,
  kSlowBody,
  kSlowAnswer,
  kSlowReader,
  kIdle,
  kLargeHead,
  kLargeBody,
  kCrowded,       ///< a connection beyond the limit, refused or replaced
  kStreamResets,  ///< a client that only opens and resets streams
};

/// Answers one request, once, from any thread. Destroyed without an answer, it sends a 500.
class Responder {
 public:
  Responder(std::shared_ptr<Gate> gate, std::int32_t exchange) noexcept
      : gate_(std::move(gate)), exchange_(exchange) {}
  Responder(Responder&&) noexcept = default;
  Responder& operator=(Responder&&) = delete;
  ~Responder();

  /// Does nothing if the connection has ended. Never blocks and never throws: without memory, the
  /// connection is closed.
  void operator()(Reply reply) noexcept;

 private:
  std::shared_ptr<Gate> gate_;
  const std::int32_t exchange_;
};

/// Answers the requests of a server.
///
/// Thread safety: the methods are called on the loops' threads, concurrently if the server has
/// several. They must not block.
class Handler {
 public:
  Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  virtual ~Handler() = default;

  /// Answers now, or keeps the Responder and answers later. An exception becomes a 500.
  virtual void handle(Request request, Responder respond) = 0;
  /// Whether the body is to be passed on while it arrives (Request::stream). `head` has no body.
  [[nodiscard]] virtual bool streams_body(const Request& head) const {
    (void)head;
    return false;
  }
  /// The response to a request that the server refuses; by default plain_refusal().
  [[nodiscard]] virtual Reply refuse(Refusal why, const Limits& limits) const;
  virtual void on_incident(Incident incident) noexcept { (void)incident; }
};

/// A refusal as plain text.
[[nodiscard]] Reply plain_refusal(Refusal why, const Limits& limits);

}  // namespace kube::server
