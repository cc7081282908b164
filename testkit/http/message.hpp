// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/transport/transport.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Requests and responses, as passed between the HTTP front and the engine.
namespace kube::testkit::detail {

/// The identity in a client certificate; the name is empty if it could not be verified.
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

/// The kind of a chunk of a streamed body, for faults that select frames.
enum class FrameKind { kData, kEvent, kBookmark, kInitialEventsEnd, kError };

struct BodyChunk {
  std::string bytes;
  FrameKind kind = FrameKind::kData;
  /// The resourceVersion of the frame; 0 if none.
  std::uint64_t revision = 0;
};

/// A body of unknown length: a watch. Each chunk is one complete frame.
class BodyStream {
 public:
  struct Poll {
    enum class State { kChunk, kWait, kEnd } state = State::kWait;
    BodyChunk chunk = {};
  };

  virtual ~BodyStream() = default;
  /// Returns the next chunk, if there is one. Never blocks. After kWait, `wake` is called once,
  /// from any thread, when the stream should be polled again. Destroying the stream ends the watch;
  /// `wake` is not called afterwards.
  virtual Poll poll(std::function<void()> wake) = 0;
};

struct ServerResponse {
  int status = 200;
  Headers headers = {};
  std::string body = {};
  /// If set, streamed (chunked) after `body`.
  std::unique_ptr<BodyStream> stream = nullptr;
};

/// Answers requests. Thread safety: handle() is called concurrently and may block briefly.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  virtual ServerResponse handle(const ServerRequest& request) = 0;
};

}  // namespace kube::testkit::detail
