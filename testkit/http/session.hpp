// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/http/limits.hpp"
#include "testkit/http/message.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

/// What the parts of the HTTP front say to each other: a connection carries a session (HTTP/1.1 or HTTP/2),
/// which hands requests to a service and sends its replies.
namespace kube::testkit::detail {

/// How much is collected for one write to a socket.
inline constexpr std::size_t kWriteBatch = 65536;

/// A body as it is sent, faults included. Used on the strand of its connection only.
class BodySource {
 public:
  enum class State {
    kChunk,
    kWait,    ///< `wake` will be called
    kEnd,     ///< the body is complete
    kReset,   ///< the connection breaks here
    kSilent,  ///< nothing more is sent, and nothing is closed
  };
  struct Poll {
    State state = State::kWait;
    std::string bytes = {};
  };

  virtual ~BodySource() = default;
  virtual Poll poll(const std::function<void()>& wake) = 0;
};

struct Reply {
  enum class Fate {
    kAnswer,
    kReset,   ///< the connection breaks without an answer
    kSilent,  ///< no answer comes, and nothing is closed
  };
  Fate fate = Fate::kAnswer;
  int status = 200;
  Headers headers = {};
  std::string body = {};
  /// Sent after `body`; null if there is nothing more.
  std::unique_ptr<BodySource> source = nullptr;
  /// Without Content-Length, as lists and watches are (RQ-6). Implied by `source` unless `length` is given.
  bool chunked = false;
  /// What Content-Length says if a source delivers a body of known size.
  std::int64_t length = -1;
  /// Each flush becomes a complete gzip member (WT-24).
  bool gzip_flushes = false;
  /// Close the connection afterwards.
  bool close = false;
};

/// Answers requests, at once or later. `done` is called once, from any thread.
class Service {
 public:
  virtual ~Service() = default;
  virtual void serve(ServerRequest request, std::function<void(Reply)> done) = 0;
};

/// The connection as its session sees it.
class SessionHost {
 public:
  virtual ~SessionHost() = default;
  /// Has `request` answered; `done` is called on the strand, perhaps before this returns, and never after
  /// the session is gone.
  virtual void serve(ServerRequest request, std::function<void(Reply)> done) = 0;
  /// Something to be called from any thread that has Session::woken(stream) called on the strand.
  [[nodiscard]] virtual std::function<void()> waker(std::int32_t stream) = 0;
  /// There is something to send.
  virtual void wake() = 0;
  /// From now on nothing is sent or read, but the socket stays open.
  virtual void silence() = 0;
  [[nodiscard]] virtual const ConnectionLimits& limits() const = 0;
  [[nodiscard]] virtual FrontCounters& counters() = 0;
};

/// One protocol on one connection. All methods are called on the strand of the connection.
class Session {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Ending {
    kNone,
    kClose,  ///< politely
    kBreak,  ///< without the end of what was begun
    kReset,  ///< with a reset, before anything was said
  };

  virtual ~Session() = default;
  virtual void receive(std::string_view bytes) = 0;
  /// Appends what can be sent now, until there are about `limit` bytes.
  virtual void produce(std::string& out, std::size_t limit) = 0;
  virtual void woken(std::int32_t stream) = 0;
  /// Whether more bytes may be read from the peer.
  [[nodiscard]] virtual bool wants_input() const = 0;
  /// No request is here, nor a part of one.
  [[nodiscard]] virtual bool idle() const = 0;
  /// Grows with every request that has arrived.
  [[nodiscard]] virtual std::uint64_t requests() const = 0;
  /// Whether and how the connection is to end once everything produced is out.
  [[nodiscard]] virtual Ending ending() const = 0;
  /// Take no new requests, end streams, and finish.
  virtual void drain() = 0;
  /// Refuses requests that have been on their way for longer than they may.
  virtual void refuse_slow(Time now) = 0;
  /// The peer has been idle for long; say good-bye and finish.
  virtual void expire() = 0;
};

/// The bytes as one gzip member, level 1.
[[nodiscard]] std::string gzip(std::string_view bytes);
/// "Not Found" for 404; "Unknown" for what is not known.
[[nodiscard]] std::string_view reason_phrase(int status);
/// A plain-text answer made by the front itself, after which the connection is closed.
[[nodiscard]] Reply text_reply(int status, std::string body);
/// A Status, with which the connection ends.
[[nodiscard]] Reply status_reply(int status, std::string_view reason, std::string_view message);
/// 413 as RQ-7 has it.
[[nodiscard]] Reply body_too_large();
/// 408 of RQ-12; `part` is "head" or "body".
[[nodiscard]] Reply too_slow(std::string_view part, std::chrono::milliseconds limit);

}  // namespace kube::testkit::detail
