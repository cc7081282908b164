// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/transport/transport.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What passes between the HTTP front of the in-process API server and the engine that answers.
namespace kube::testkit::detail {

/// Who a client certificate says the peer is.
struct PeerCertificate {
  std::string common_name;
  std::vector<std::string> organizations;
};

struct ServerRequest {
  std::string method;
  /// Path and query as sent, percent-encoded.
  std::string target;
  Headers headers;
  std::string body;
  std::optional<PeerCertificate> certificate;
};

/// What a piece of a streamed body is, for faults that pick frames.
enum class FrameKind { kData, kEvent, kBookmark, kInitialEventsEnd, kError };

struct BodyChunk {
  std::string bytes;
  FrameKind kind = FrameKind::kData;
  /// The resourceVersion that the frame speaks of; 0 if none.
  std::uint64_t revision = 0;
};

/// A body without a known end: a watch. Each chunk is one whole frame.
class BodyStream {
 public:
  struct Poll {
    enum class State { kChunk, kWait, kEnd } state = State::kWait;
    BodyChunk chunk = {};
  };

  virtual ~BodyStream() = default;
  /// The next chunk, if there is one. After kWait, `wake` is called once, from any thread, when it is worth
  /// asking again. Never blocks. Destroying the stream ends the watch; `wake` is not called afterwards.
  virtual Poll poll(std::function<void()> wake) = 0;
};

struct ServerResponse {
  int status = 200;
  Headers headers = {};
  std::string body = {};
  /// If set, the body is streamed (chunked) after `body`.
  std::unique_ptr<BodyStream> stream = nullptr;
};

/// Answers requests. Thread safety: handle() is called from several threads at once and may block shortly.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  virtual ServerResponse handle(const ServerRequest& request) = 0;
};

}  // namespace kube::testkit::detail
