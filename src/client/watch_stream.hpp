// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "admission.hpp"

#include <kube/base/byte_budget.hpp>
#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/client/watch.hpp>
#include <kube/codec/decoder.hpp>
#include <kube/codec/format.hpp>
#include <kube/transport/transport.hpp>

#include "codec/watch_splitter.hpp"
#include "engine/polling.hpp"
#include "transport/polled_stream.hpp"

#include <boost/container/deque.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace kube::detail {

/// Dependencies of a watch.
struct WatchContext {
  Logger log = {};
  std::shared_ptr<ByteBudget> budget = nullptr;
  Clock* clock = &system_clock();
  std::string name = {};  ///< for messages
  Poller poller = {};     ///< for poll_next()
};

/// Reads the events of a watch from a response.
class WatchOfStream final : public WatchCore {
 public:
  /// If `stream` is null, the watch has already ended.
  WatchOfStream(std::unique_ptr<PolledStream> stream, Format format, const Type& type,
                const DecoderOptions& decoding, WatchContext context);

  [[nodiscard]] std::optional<AnyWatchEvent> next(std::stop_token stop) override;
  [[nodiscard]] std::optional<AnyWatchEvent> next_for(std::chrono::nanoseconds timeout,
                                                      std::stop_token stop) override;
  /// Non-blocking next() (engine/polling.hpp). Returns nothing while pending, and after the end
  /// (has_ended()).
  [[nodiscard]] std::optional<AnyWatchEvent> poll_next();
  /// When to poll even if the waker has not been called.
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept { return admission_.wake_at(); }
  void stop() noexcept override;
  [[nodiscard]] bool has_next() const noexcept override { return !ready_.empty(); }
  [[nodiscard]] bool has_ended() const noexcept override {
    return stopped_ || (ended_ && ready_.empty());
  }

 private:
  [[nodiscard]] std::optional<AnyWatchEvent> take(const std::stop_token& stop);
  /// Reads if the last read has been processed, and decodes complete events. `read()` returns bytes
  /// of the stream, empty at its end, or nothing while pending. Returns false in the last case.
  template <typename Read>
  bool read_more(const Read& read);
  template <typename Read>
  bool read_and_decode(const Read& read);
  /// Used by next() and next_for().
  void wait_for_more(const std::stop_token& stop);
  void decode(const WatchFrame& frame);
  void end_with(Ref<meta::v1::Status> error);

  const std::unique_ptr<PolledStream> stream_;
  const Format format_;
  WatchSplitter splitter_;
  DecoderCore decoder_;
  const bool projected_;
  const Logger log_;
  const Poller poller_;
  ByteAccount account_;
  Admission admission_{account_};
  std::string_view unread_;  // bytes of the last read that have not been processed
  boost::container::deque<AnyWatchEvent> ready_;  // an empty std::deque takes half a kilobyte
  bool ended_ = false;
  std::atomic<bool> stopped_ = false;
};

}  // namespace kube::detail
