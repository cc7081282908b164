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

/// The surroundings of a watch.
struct WatchContext {
  Logger log = {};
  std::shared_ptr<ByteBudget> budget = nullptr;
  Clock* clock = &system_clock();
  std::string name = {};  ///< for messages
  Poller poller = {};     ///< for poll_next()
};

/// Reads the events of a watch from the answer of a server.
class WatchOfStream final : public WatchCore {
 public:
  /// `stream` may be null: such a watch has ended already.
  WatchOfStream(std::unique_ptr<PolledStream> stream, Format format, const Type& type,
                const DecoderOptions& decoding, WatchContext context);

  [[nodiscard]] std::optional<AnyWatchEvent> next(std::stop_token stop) override;
  [[nodiscard]] std::optional<AnyWatchEvent> next_for(std::chrono::nanoseconds timeout,
                                                      std::stop_token stop) override;
  /// next() without waiting (engine/polling.hpp). Nothing: it is pending, unless has_ended().
  [[nodiscard]] std::optional<AnyWatchEvent> poll_next();
  /// When to poll although the waker has not been woken.
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept { return admission_.wake_at(); }
  void stop() noexcept override;
  [[nodiscard]] bool has_next() const noexcept override { return !ready_.empty(); }
  [[nodiscard]] bool has_ended() const noexcept override {
    return stopped_ || (ended_ && ready_.empty());
  }

 private:
  [[nodiscard]] std::optional<AnyWatchEvent> take(const std::stop_token& stop);
  /// Reads if nothing is left of the last read, and decodes what is complete. `read()` returns bytes of the stream, empty
  /// at its end, or nothing if it has to wait. False in the last case.
  template <typename Read>
  bool read_more(const Read& read);
  template <typename Read>
  bool read_and_decode(const Read& read);
  /// For next() and next_for().
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
  std::string_view unread_;  // what the stream gave last and was not looked at yet
  boost::container::deque<AnyWatchEvent> ready_;  // of std, an empty one takes half a kilobyte
  bool ended_ = false;
  std::atomic<bool> stopped_ = false;
};

}  // namespace kube::detail
