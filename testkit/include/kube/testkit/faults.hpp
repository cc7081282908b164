// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/inside.hpp>
#include <kube/testkit/request_log.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace kube::testkit {

class Faults;

namespace detail {
struct Fault;
struct FaultRule;
class FaultTable;
}  // namespace detail

/// Builds a fault: first the requests it applies to, then its effect. The call that names the
/// effect installs it.
///
///     server.faults().next(3).matching({.verb = "list", .resource = "pods"}).respond(503, 1s);
class FaultBuilder {
 public:
  FaultBuilder(const FaultBuilder&) = delete;
  FaultBuilder& operator=(const FaultBuilder&) = delete;
  ~FaultBuilder();

  /// Restricts the fault to requests that match `filter`.
  FaultBuilder& matching(RequestFilter filter);
  /// Applies the fault to each matching request with this probability; the server's seed determines
  /// which.
  FaultBuilder& with_probability(double probability);
  /// Skips this many matching requests first.
  FaultBuilder& after(int requests);

  /// Responds immediately, without calling the engine. Without a body, sends a Status for the code.
  Faults& respond(int status, std::optional<std::chrono::seconds> retry_after = std::nullopt,
                  std::string body = {}, Headers headers = {});
  /// Delays the response by `time` of the server's clock.
  Faults& delay(Clock::Duration time);
  /// Resets the connection instead of responding. The request is not executed.
  Faults& break_before_head();
  /// Executes the request, then resets the connection: the client cannot know whether it was
  /// executed.
  Faults& lose_answer();
  /// Breaks the connection after the response head.
  Faults& break_after_head();
  /// Breaks the connection after `bytes` bytes of the body.
  Faults& break_after_bytes(std::size_t bytes);
  /// Sends no response and leaves the connection open until the client closes it.
  Faults& go_silent();
  /// Watches only: sends nothing more after `events` events, and leaves the connection open.
  Faults& go_silent_after(int events);
  /// Watches only: breaks the connection after `events` events.
  Faults& drop_after(int events);
  /// Watches only: ends the stream properly after `events` events.
  Faults& end_after(int events);
  /// Watches only: breaks the connection instead of delivering `revision` or a later one.
  Faults& drop_at_revision(std::uint64_t revision);
  /// Sends half of the n-th frame (from 1) and ends the body properly. A response without frames
  /// counts as one frame.
  Faults& truncate_frame(int number = 1);
  /// Corrupts the n-th frame (from 1) so that it is neither JSON nor protobuf.
  Faults& corrupt_frame(int number = 1);
  /// Suppresses all bookmarks of a watch, including the one at the end of the initial events.
  Faults& withhold_bookmarks();
  /// Suppresses the bookmark at the end of the initial events.
  Faults& withhold_initial_events_end();
  /// Sends the body in pieces of `bytes` bytes, one per interval of the server's clock.
  Faults& drip(std::size_t bytes, Clock::Duration every);
  /// Sends one frame per interval of the server's clock.
  Faults& slow_down(Clock::Duration per_frame);

 private:
  friend class Faults;
  FaultBuilder(Faults& faults, int count);
  Faults& install(detail::Fault fault);

  Faults& faults_;
  std::unique_ptr<detail::FaultRule> rule_;
};

/// Reproducible fault injection between the server and its clients. The requests affected depend
/// only on their order and on the seed. Several faults may apply to one request; if more than one
/// of them responds, the first installed wins.
///
/// Thread safety: all methods, from any thread.
class Faults {
 public:
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;
  ~Faults();

  /// Begins a fault for the next `count` matching requests.
  [[nodiscard]] FaultBuilder next(int count = 1);
  /// Begins a fault for all matching requests until clear().
  [[nodiscard]] FaultBuilder always();

  /// Breaks the connection of every watch, current and future, after `events` events.
  Faults& drop_watches_after(int events);
  /// Discards the server's watch history: watches and lists at an old version get 410.
  Faults& expire_history();
  /// Breaks all open connections.
  Faults& drop_connections();
  /// Removes all faults. Exchanges that a fault already applies to are not restored.
  void clear();

  /// Returns the number of requests to which a fault has applied so far.
  [[nodiscard]] std::uint64_t struck() const;
  /// Returns the number of installed faults that have not been used up.
  [[nodiscard]] std::size_t waiting() const;

 private:
  friend class FaultBuilder;
  friend struct kube::detail::Inside;
  explicit Faults(std::unique_ptr<detail::FaultTable> core);

  std::unique_ptr<detail::FaultTable> core_;
};

}  // namespace kube::testkit
