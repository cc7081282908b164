// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/job.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "message.hpp"

namespace kube::server {

/// The part of a connection that other threads may hold: its mailbox. Outlives the connection.
///
/// Thread safety: answer(), fail(), wake() and waker() from any thread; the rest is for the
/// connection.
class Gate : public std::enable_shared_from_this<Gate> {
 public:
  /// Messages for the connection.
  struct Mail {
    /// Without a reply if the handler has failed.
    std::vector<std::pair<std::int32_t, std::optional<Reply>>> answers = {};
    /// Exchanges to be resumed.
    std::vector<std::int32_t> woken = {};
    /// Memory ran out, and something was lost: the connection must be closed.
    bool broken = false;

    [[nodiscard]] bool empty() const noexcept {
      return answers.empty() && woken.empty() && !broken;
    }
  };

  void answer(std::int32_t exchange, Reply reply) noexcept;
  void fail(std::int32_t exchange) noexcept;
  void wake(std::int32_t exchange) noexcept;
  /// Returns a function that calls wake().
  [[nodiscard]] std::function<void()> waker(std::int32_t exchange);

  /// Sets the job of the connection, which is scheduled when mail arrives.
  void open(std::weak_ptr<detail::Job> job) noexcept;
  /// The connection is running and will call take_all(): no need to schedule it.
  void attend() noexcept;
  /// Takes all mail. If there was none, the connection must be scheduled for the next.
  [[nodiscard]] Mail take_all() noexcept;
  /// Takes the answer to one exchange, if it is there; the inner optional is that of Mail.
  [[nodiscard]] std::optional<std::optional<Reply>> take_answer(std::int32_t exchange) noexcept;
  /// Drops all mail, and all that will come.
  void close() noexcept;

 private:
  template <typename Add>
  void post(Add add) noexcept;

  std::mutex mutex_;
  // Guarded by mutex_:
  std::weak_ptr<detail::Job> job_;
  Mail mail_;
  bool attended_ = false;
  bool closed_ = false;
};

}  // namespace kube::server
