// SPDX-License-Identifier: Apache-2.0
#include "watch_stream.hpp"

#include "answer.hpp"

#include <kube/codec/error.hpp>

#include <algorithm>

namespace kube::detail {

namespace {

/// Maximum number of events that are decoded ahead, if they have arrived, so that they can be
/// passed on in batches.
constexpr std::size_t kAhead = 64;
/// Maximum number of bytes decoded ahead, so that few large objects are held.
constexpr std::size_t kAheadBytes = std::size_t{512} << 10;

constexpr std::size_t kMostFrame = std::size_t{16} << 20;

DecoderOptions for_watch(DecoderOptions options) {
  options.limits.max_frame = std::min(options.limits.max_frame, kMostFrame);
  return options;
}

}  // namespace

WatchOfStream::WatchOfStream(std::unique_ptr<PolledStream> stream, Format format, const Type& type,
                             const DecoderOptions& decoding, WatchContext context)
    : stream_(std::move(stream)),
      format_(format),
      splitter_(format, for_watch(decoding).limits),
      decoder_(type, for_watch(decoding)),
      projected_(decoding.projection.root() != nullptr),
      log_(std::move(context.log)),
      poller_(std::move(context.poller)),
      account_(std::move(context.budget), *context.clock, std::move(context.name)),
      ended_(stream_ == nullptr) {}

std::optional<AnyWatchEvent> WatchOfStream::next(std::stop_token stop) {
  while (ready_.empty() && !ended_ && !stopped_) wait_for_more(stop);
  return take(stop);
}

std::optional<AnyWatchEvent> WatchOfStream::next_for(std::chrono::nanoseconds timeout,
                                                     std::stop_token stop) {
  using SteadyClock = std::chrono::steady_clock;
  const SteadyClock::time_point now = SteadyClock::now();
  const SteadyClock::time_point end = timeout < SteadyClock::time_point::max() - now
                                          ? now + timeout
                                          : SteadyClock::time_point::max();
  while (ready_.empty() && !ended_ && !stopped_) {
    if (unread_.empty() && !stream_->wait(end - SteadyClock::now(), stop)) break;
    wait_for_more(stop);
  }
  return take(stop);
}

std::optional<AnyWatchEvent> WatchOfStream::poll_next() {
  const auto read = [this]() -> std::optional<std::string_view> {
    if (!admission_.poll(splitter_.held(), poller_)) return std::nullopt;
    return stream_->poll_read();
  };
  while (ready_.empty() && !ended_ && !stopped_) {
    if (read_more(read)) continue;
    decoder_.rest();
    decltype(ready_){}.swap(ready_);
    return std::nullopt;
  }
  return take({});
}

void WatchOfStream::wait_for_more(const std::stop_token& stop) {
  (void)read_more([&]() -> std::optional<std::string_view> {
    account_.admit(splitter_.held(), stop);
    return stream_->read(stop);
  });
}

/// Returns the oldest decoded event, if there is one.
std::optional<AnyWatchEvent> WatchOfStream::take(const std::stop_token& stop) {
  if (stop.stop_requested()) this->stop();
  if (stopped_ || ready_.empty()) return std::nullopt;
  AnyWatchEvent event = std::move(ready_.front());
  ready_.pop_front();
  return event;
}

void WatchOfStream::stop() noexcept {
  if (!stopped_.exchange(true) && stream_) stream_->cancel();
}

template <typename Read>
bool WatchOfStream::read_and_decode(const Read& read) {
  if (unread_.empty()) {
    account_.hold(splitter_.held());
    const std::optional<std::string_view> bytes = read();
    if (!bytes) return false;
    unread_ = *bytes;
    if (unread_.empty()) ended_ = true;
  }
  const std::size_t most = account_.is_crowded() ? 1 : kAhead;
  std::size_t bytes = 0;
  while (!unread_.empty() && ready_.size() < most && bytes < kAheadBytes) {
    const auto frame = splitter_.next(unread_);
    if (!frame) continue;
    bytes += frame->object.size();
    decoder_.prepare(splitter_.upcoming(unread_));
    decode(*frame);
  }
  account_.hold(splitter_.held() + bytes);
  return true;
}

template <typename Read>
bool WatchOfStream::read_more(const Read& read) {
  try {
    if (!read_and_decode(read)) return false;
  } catch (const CodecError& error) {
    end_with(watch_decoding_status(error.what()));
  } catch (const BudgetError& error) {
    end_with(watch_failure_status(error.what()));
  } catch (const TransportError& error) {
    ended_ = true;
    if (error.kind() == TransportError::Kind::kProtocol) {
      end_with(watch_decoding_status(error.what()));
    } else if (error.kind() != TransportError::Kind::kCanceled) {
      log_.debug("a watch was cut off: {}", error.what());
    }
  } catch (...) {
    // An event may be lost, for example because memory is exhausted. Later events must not be
    // delivered.
    ended_ = true;
    stream_->cancel();
    throw;
  }
  // Release the connection, whatever the server still sends.
  if (ended_) stream_->cancel();
  return true;
}

void WatchOfStream::decode(const WatchFrame& frame) {
  if (frame.type == EventType::kError) {
    Ref<meta::v1::Status> status = find_status(frame.object, format_);
    if (!status)
      throw CodecError("object", "the object of an ERROR event is no Status", frame.offset);
    ready_.push_back({frame.type, nullptr, std::move(status)});
    return;
  }
  // A bookmark carries its content in annotations, which a projection may drop.
  std::optional<DecoderCore> whole;
  if (frame.type == EventType::kBookmark && projected_)
    whole.emplace(decoder_.type(), DecoderOptions{});
  DecoderCore& decoder = whole ? *whole : decoder_;
  Block* block = format_ == Format::kJson ? decoder.json(frame.object, frame.offset)
                                          : decoder.enveloped(frame.object, frame.offset);
  ObjectRef object = ObjectRef::own(*block);
  if (frame.type == EventType::kDeleted) decoder.forget(*block);
  ready_.push_back({frame.type, std::move(object), nullptr});
}

void WatchOfStream::end_with(Ref<meta::v1::Status> error) {
  ready_.push_back({EventType::kError, nullptr, std::move(error)});
  ended_ = true;
}

}  // namespace kube::detail
