// SPDX-License-Identifier: Apache-2.0
#include "testkit/faults/table.hpp"

#include <kube/api/meta/v1.hpp>
#include <kube/codec/json.hpp>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

namespace kube::testkit::detail {
namespace {

std::string_view reason_of(int status) {
  switch (status) {
    case 400:
      return "BadRequest";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 405:
      return "MethodNotAllowed";
    case 406:
      return "NotAcceptable";
    case 409:
      return "Conflict";
    case 410:
      return "Expired";
    case 413:
      return "RequestEntityTooLarge";
    case 415:
      return "UnsupportedMediaType";
    case 422:
      return "Invalid";
    case 429:
      return "TooManyRequests";
    case 500:
      return "InternalError";
    case 503:
      return "ServiceUnavailable";
    case 504:
      return "Timeout";
    default:
      return "";
  }
}

/// A body, complete or streamed, with the faults of a plan applied.
class DamagedBody final : public BodySource {
 public:
  DamagedBody(std::string body, std::unique_ptr<BodyStream> stream, FaultPlan plan, Timers& timers)
      : body_(std::move(body)),
        stream_(std::move(stream)),
        plan_(std::move(plan)),
        timers_(timers) {
    drip_ = find_fault(plan_, Fault::Kind::kDrip);
    slow_ = find_fault(plan_, Fault::Kind::kSlow);
    if (const Fault* fault = find_fault(plan_, Fault::Kind::kBreakAfterBytes)) {
      bytes_left_ = fault->count;
    }
  }

  Poll poll(const std::function<void()>& wake) override {
    if (bytes_left_ == 0) return {State::kReset};
    if (ready_->exchange(false)) pausing_ = false;
    if (pausing_) return {};
    if (pending_.empty()) {
      if (after_pending_) return {*after_pending_};
      Poll next = next_frame(wake);
      if (next.state != State::kChunk) return next;
      pending_ = std::move(next.bytes);
      if (slow_ != nullptr) pause(slow_->time, wake);
      if (pending_.empty()) return {State::kChunk};
    }
    std::string piece;
    if (drip_ != nullptr && pending_.size() > drip_->count) {
      piece = pending_.substr(0, drip_->count);
      pending_.erase(0, drip_->count);
    } else {
      piece.swap(pending_);
    }
    if (drip_ != nullptr) pause(drip_->time, wake);
    if (bytes_left_) {
      piece.resize(std::min(piece.size(), *bytes_left_));
      *bytes_left_ -= piece.size();
    }
    return {State::kChunk, std::move(piece)};
  }

 private:
  Poll next_frame(const std::function<void()>& wake) {
    BodyChunk chunk;
    if (!body_.empty()) {
      chunk.bytes = std::exchange(body_, {});
    } else if (!stream_) {
      return {State::kEnd};
    } else {
      for (;;) {
        BodyStream::Poll polled = stream_->poll(wake);
        if (polled.state == BodyStream::Poll::State::kWait) return {};
        if (polled.state == BodyStream::Poll::State::kEnd) return {State::kEnd};
        if (withheld(polled.chunk.kind)) continue;
        chunk = std::move(polled.chunk);
        break;
      }
    }
    ++frames_;
    if (chunk.kind == FrameKind::kEvent) ++events_;
    for (const Fault& fault : plan_) {
      const auto struck = strike(fault, chunk);
      if (struck) return {*struck};
    }
    return {State::kChunk, std::move(chunk.bytes)};
  }

  [[nodiscard]] bool withheld(FrameKind kind) const {
    const bool end = kind == FrameKind::kInitialEventsEnd;
    return ((end || kind == FrameKind::kBookmark) &&
            find_fault(plan_, Fault::Kind::kWithholdBookmarks) != nullptr) ||
           (end && find_fault(plan_, Fault::Kind::kWithholdInitialEnd) != nullptr);
  }

  /// Returns the state that replaces the frame, if any. May modify the chunk.
  std::optional<State> strike(const Fault& fault, BodyChunk& chunk) {
    switch (fault.kind) {
      case Fault::Kind::kSilentAfter:
        if (events_ > fault.count) return State::kSilent;
        break;
      case Fault::Kind::kDropAfter:
        if (events_ > fault.count) return State::kReset;
        // Takes effect at once: the next event may never come.
        if (events_ == fault.count) after_pending_ = State::kReset;
        break;
      case Fault::Kind::kEndAfter:
        if (events_ > fault.count) return State::kEnd;
        if (events_ == fault.count) after_pending_ = State::kEnd;
        break;
      case Fault::Kind::kDropAtRevision:
        if (chunk.revision >= fault.revision) return State::kReset;
        break;
      case Fault::Kind::kTruncate:
        if (frames_ == fault.count) {
          chunk.bytes.resize(chunk.bytes.size() / 2);
          after_pending_ = State::kEnd;
        }
        break;
      case Fault::Kind::kCorrupt:
        // Skips the length prefix of a protobuf frame. Ten such bytes are not a valid varint.
        if (frames_ == fault.count && chunk.bytes.size() > 4) {
          chunk.bytes.replace(4, std::min<std::size_t>(10, chunk.bytes.size() - 4),
                              std::min<std::size_t>(10, chunk.bytes.size() - 4), '\xff');
        }
        break;
      default:
        break;
    }
    return std::nullopt;
  }

  void pause(Clock::Duration time, const std::function<void()>& wake) {
    pausing_ = true;
    timers_.after(time, [ready = ready_, wake] {
      ready->store(true);
      wake();
    });
  }

  std::string body_;
  std::unique_ptr<BodyStream> stream_;
  const FaultPlan plan_;
  Timers& timers_;
  const Fault* drip_ = nullptr;
  const Fault* slow_ = nullptr;
  std::optional<std::size_t> bytes_left_;
  std::string pending_;
  std::optional<State> after_pending_;
  std::size_t frames_ = 0;
  std::size_t events_ = 0;
  bool pausing_ = false;
  std::shared_ptr<std::atomic<bool>> ready_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace

Reply injected_reply(const Fault& fault) {
  Reply reply;
  reply.status = fault.status;
  reply.headers = fault.headers;
  reply.body = fault.body;
  if (reply.body.empty() && fault.status >= 400) {
    meta::v1::Status status;
    status.status = "Failure";
    status.message = "injected by a test";
    status.reason = reason_of(fault.status);
    status.code = fault.status;
    if (const std::string* seconds = find_header(fault.headers, "Retry-After")) {
      status.details.emplace().retry_after_seconds = std::stoi(*seconds);
    }
    reply.body = encode_json(status) + '\n';
  }
  if (find_header(reply.headers, "Content-Type") == nullptr) {
    reply.headers.push_back({"Content-Type", "application/json"});
  }
  return reply;
}

void damage(Reply& reply, std::unique_ptr<BodyStream> stream, const FaultPlan& plan,
            Timers& timers) {
  if (!stream && !reply.chunked) {
    reply.length = static_cast<std::int64_t>(reply.body.size());
    if (find_fault(plan, Fault::Kind::kTruncate) != nullptr) reply.length /= 2;
  }
  reply.source =
      std::make_unique<DamagedBody>(std::exchange(reply.body, {}), std::move(stream), plan, timers);
}

}  // namespace kube::testkit::detail
