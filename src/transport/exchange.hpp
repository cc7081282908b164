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

/// Wakes the dispatcher from another thread for an exchange that needs attention: it is new, its reader made room, or it
/// was canceled. An exchange is in the queue once, however often it is posted.
///
/// Thread safety: all methods may be called from any thread. Outlives the dispatcher.
class Mailbox {
 public:
  /// Sets the job that is woken from now on. Before the first post().
  void open(std::weak_ptr<Waker> waker) noexcept;
  /// Returns false if the dispatcher has ended.
  bool post(std::shared_ptr<Exchange> exchange) noexcept;
  /// Makes the dispatcher look around.
  void nudge() noexcept;
  /// How many exchanges next() returns.
  [[nodiscard]] std::size_t collect() noexcept;
  /// The exchange that was posted first, or null.
  [[nodiscard]] std::shared_ptr<Exchange> next() noexcept;
  /// Connections are to be made with this from now on.
  void announce(std::shared_ptr<const TlsMaterial> material) noexcept;
  /// What was announced since the last call, or null.
  [[nodiscard]] std::shared_ptr<const TlsMaterial> take_announced() noexcept;
  /// Nothing is accepted from now on.
  void close() noexcept;

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::weak_ptr<Waker> waker_;
  bool closed_ = false;
  ExchangeQueue posted_{ExchangeLink::kPosted};
  std::shared_ptr<const TlsMaterial> announced_;
};

/// A request and its answer, between the thread that asked and the loop.
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

  // --- what both sides read -------------------------------------------------------------------------------
  const HttpRequest request;
  const std::shared_ptr<const TlsMaterial> material;
  const TimePoint started;

  // --- the side of the caller: any thread -----------------------------------------------------------------
  /// Waits for the head. Throws TransportError.
  const HttpResponseHead& wait_head();
  /// Waits until there are bytes and moves them to `bytes`, whose memory is used for what comes next. Empty
  /// at the end. Throws TransportError.
  void take(std::string& bytes);
  /// Whether take() would not wait, or would not after `timeout` at the latest.
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout);
  /// Whether take() would not wait.
  [[nodiscard]] bool is_readable() const {
    const std::lock_guard guard{mutex_};
    return is_readable_locked();
  }
  /// Woken when a poll that was pending should be repeated. To be set before the exchange is posted.
  void set_waker(std::weak_ptr<Waker> waker) noexcept { waker_ = std::move(waker); }
  /// wait_head() without waiting: null while it is pending.
  [[nodiscard]] const HttpResponseHead* poll_head();
  /// take() without waiting: false while it is pending. The buffers are then released, as for a reader at rest.
  [[nodiscard]] bool poll_take(std::string& bytes);
  void cancel() noexcept;

  // --- the side of the loop -------------------------------------------------------------------------------
  /// Lets less wait for the reader than was said first. To be called before anything arrives.
  void limit_buffer(std::size_t bytes);
  void on_head(HttpResponseHead head);
  void on_bytes(std::string_view bytes);
  void on_end() noexcept;
  /// Wakes the reader: once for all that arrived together.
  void flush() noexcept;
  /// Wakes the reader, too. The text of the error is lost if there is no memory for it.
  void fail(const TransportError& error) noexcept;
  /// The reader is behind: no more bytes until it has made room.
  [[nodiscard]] bool full() const;
  [[nodiscard]] bool canceled() const;
  /// How many bytes the reader took since the last call.
  [[nodiscard]] std::size_t take_credit();

  /// Nothing more will happen.
  [[nodiscard]] bool done() const noexcept { return done_; }
  [[nodiscard]] const std::optional<TransportError::Kind>& failure() const noexcept {
    return failure_;
  }
  [[nodiscard]] bool has_head() const noexcept { return status != 0; }

  // For the loop alone:
  ExchangeQueue* finished = nullptr;  ///< gets it when it is done
  /// The connection whose session has it; null before, after, and once it is done.
  Connection* connection = nullptr;
  int attempts = 0;        ///< how often it was given to a connection
  int status = 0;          ///< of the head
  std::size_t offset = 0;  ///< of the body: sent up to here
  std::int32_t stream_id = 0;
  std::uint64_t received = 0;
  TimePoint head_at{};
  TimePoint last_byte = started;
  /// How long its connection took, if it was made for it.
  std::optional<std::chrono::microseconds> resolved, connected, secured;
  /// For ExchangeQueue alone; guarded like the queue.
  std::array<std::shared_ptr<Exchange>, kExchangeLinks> next;

 private:
  friend class Mailbox;

  void finish() noexcept;
  [[nodiscard]] bool is_readable_locked() const {
    return !bytes_.empty() || ended_ || canceled_ || failed_;
  }
  [[nodiscard]] bool knows_head_locked() const { return head_there_ || canceled_ || failed_; }
  [[nodiscard]] const HttpResponseHead& head_locked() const;
  /// Moves what is readable to `bytes`. True if the loop has to be told that there is room.
  [[nodiscard]] bool take_locked(std::string& bytes);
  void release_buffers_locked(std::string& bytes);
  void ask_for_more(std::unique_lock<std::mutex>& lock);
  void charge_locked(std::size_t bytes);
  [[noreturn]] void throw_locked() const;

  const Clock& clock_;
  const std::shared_ptr<Mailbox> mailbox_;
  const std::shared_ptr<ByteBudget> budget_;
  std::weak_ptr<Waker> waker_;            // constant once it is posted
  std::atomic<bool> is_pending_ = false;  // a poll was, and the waker has not been woken since
  // For the loop alone:
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
  std::size_t charged_ = 0;  // to the budget: bytes_, and what the reader took last
  mutable bool withheld_ =
      false;  // the budget kept the loop from reading, or from opening the window
};

}  // namespace kube::detail
