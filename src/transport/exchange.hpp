// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/waker.hpp"
#include <kube/base/byte_budget.hpp>
#include <kube/base/clock.hpp>
#include <kube/config/credentials.hpp>
#include <kube/transport/transport.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "exchange_queue.hpp"

namespace kube::detail {

class Connection;

/// Wakes the dispatcher from another thread for an exchange that needs attention: it is new, its
/// reader has made room, or it was canceled. Posts of one exchange are coalesced.
///
/// Thread safety: all methods may be called from any thread. Outlives the dispatcher.
class Mailbox {
 public:
  /// Sets the job to wake. Call before the first post().
  void open(std::weak_ptr<Waker> waker) noexcept;
  /// Returns false if the dispatcher has ended.
  bool post(std::shared_ptr<Exchange> exchange) noexcept;
  /// Wakes the dispatcher without an exchange.
  void nudge() noexcept;
  /// Returns the number of posted exchanges.
  [[nodiscard]] std::size_t posted_count() noexcept;
  /// Removes and returns the exchange that was posted first, or null.
  [[nodiscard]] std::shared_ptr<Exchange> next() noexcept;
  /// Sets the TLS material for new connections.
  void announce(std::shared_ptr<const TlsMaterial> material) noexcept;
  /// Returns the material announced since the last call, or null.
  [[nodiscard]] std::shared_ptr<const TlsMaterial> take_announced() noexcept;
  /// Rejects all further posts.
  void close() noexcept;

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::weak_ptr<Waker> waker_;
  bool closed_ = false;
  ExchangeQueue posted_{ExchangeLink::kPosted};
  std::shared_ptr<const TlsMaterial> announced_;
};

/// A request and its response, shared by the calling thread and the loop.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  using TimePoint = Clock::TimePoint;

  /// `clock` must outlive it.
  Exchange(HttpRequest what, std::shared_ptr<const TlsMaterial> with,
           std::shared_ptr<Mailbox> mailbox, std::size_t buffer_bytes,
           const Clock& clock = system_clock(), std::shared_ptr<ByteBudget> budget = nullptr)
      : request(std::move(what)),
        material(std::move(with)),
        started(clock.now()),
        clock_(clock),
        mailbox_(std::move(mailbox)),
        budget_(std::move(budget)),
        buffer_bytes_(buffer_bytes) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() {
    if (budget_) budget_->remove(charged_);
  }

  // --- read by both sides ---------------------------------------------------------------------
  HttpRequest request;  ///< constant, but its headers are released when the head has arrived
  const std::shared_ptr<const TlsMaterial> material;
  const TimePoint started;

  // --- caller's side: any thread --------------------------------------------------------------
  /// Waits for the head. Throws TransportError.
  const HttpResponseHead& wait_head();
  /// Waits until bytes have arrived and moves them to `bytes`; the old capacity of `bytes` is
  /// reused for what arrives next. Empty at the end. Throws TransportError.
  void take(std::string& bytes);
  /// Waits at most `timeout`; returns whether take() would not block.
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout);
  /// Returns whether take() would not block.
  [[nodiscard]] bool is_readable() const {
    const std::lock_guard guard{mutex_};
    return is_readable_locked();
  }
  /// Sets the waker for pending polls. Call before the exchange is posted.
  void set_waker(std::weak_ptr<Waker> waker) noexcept { waker_ = std::move(waker); }
  /// Polled form of wait_head(): null while pending.
  [[nodiscard]] const HttpResponseHead* poll_head();
  /// Moves the head out, once it is known.
  [[nodiscard]] HttpResponseHead take_head();
  /// Polled form of take(): false while pending. The buffers are then released, as for an idle
  /// reader.
  [[nodiscard]] bool poll_take(std::string& bytes);
  void cancel() noexcept;

  // --- loop's side ----------------------------------------------------------------------------
  /// Lowers the limit of buffered bytes. Call before anything arrives.
  void limit_buffer(std::size_t bytes);
  void on_head(HttpResponseHead head);
  void on_bytes(std::string_view bytes);
  void on_end() noexcept;
  /// Wakes the reader, once for all bytes that arrived together.
  void flush() noexcept;
  /// Fails the exchange and wakes the reader. The error text is lost if memory is exhausted.
  void fail(const TransportError& error) noexcept;
  /// True if the buffer is full: no more bytes until the reader has made room.
  [[nodiscard]] bool full() const;
  [[nodiscard]] bool canceled() const;
  /// Returns how many bytes the reader has taken since the last call.
  [[nodiscard]] std::size_t take_credit();

  /// True once the exchange has ended.
  [[nodiscard]] bool done() const noexcept { return done_; }
  [[nodiscard]] const std::optional<TransportError::Kind>& failure() const noexcept {
    return failure_;
  }
  [[nodiscard]] bool has_head() const noexcept { return status != 0; }

  // Used on the loop's thread only:
  ExchangeQueue* finished = nullptr;  ///< receives the exchange when it is done
  /// The connection whose session has the exchange; null before, after, and once it is done.
  Connection* connection = nullptr;
  int attempts = 0;        ///< how often it was given to a connection
  int status = 0;          ///< status code of the head
  std::size_t offset = 0;  ///< how much of the body has been sent
  std::int32_t stream_id = 0;
  std::uint64_t received = 0;
  TimePoint head_at{};
  TimePoint last_byte = started;
  /// Durations of the connection setup, if a connection was made for this exchange.
  std::optional<std::chrono::microseconds> resolved, connected, secured;
  /// Used by ExchangeQueue only; guarded like the queue.
  std::array<std::shared_ptr<Exchange>, kExchangeLinks> next;

 private:
  friend class Mailbox;

  void finish() noexcept;
  [[nodiscard]] bool is_readable_locked() const {
    return !bytes_.empty() || ended_ || canceled_ || failed_;
  }
  [[nodiscard]] bool knows_head_locked() const { return head_there_ || canceled_ || failed_; }
  [[nodiscard]] const HttpResponseHead& head_locked() const;
  /// Moves the buffered bytes to `bytes`. Returns true if the loop must be notified that there is
  /// room.
  [[nodiscard]] bool take_locked(std::string& bytes);
  void release_buffers_locked(std::string& bytes);
  void ask_for_more(std::unique_lock<std::mutex>& lock);
  void charge_locked(std::size_t bytes);
  [[noreturn]] void throw_locked() const;

  const Clock& clock_;
  const std::shared_ptr<Mailbox> mailbox_;
  const std::shared_ptr<ByteBudget> budget_;
  std::weak_ptr<Waker> waker_;            // constant once posted
  std::atomic<bool> is_pending_ = false;  // a poll was pending; the waker has not been called
  // Used on the loop's thread only:
  bool done_ = false;
  std::optional<TransportError::Kind> failure_;  // constant once failed_
  // Guarded by the mailbox:
  bool posted_ = false;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_:
  std::size_t buffer_bytes_;
  HttpResponseHead head_;
  bool head_there_ = false;
  bool ended_ = false;
  bool canceled_ = false;
  bool failed_ = false;
  std::string message_;  // copies of an exception would share theirs between threads
  std::string bytes_;
  std::size_t credit_ = 0;
  std::size_t charged_ = 0;        // to the budget: bytes_, and what the reader took last
  mutable bool withheld_ = false;  // the budget prevented reading, or opening the window
};

}  // namespace kube::detail
