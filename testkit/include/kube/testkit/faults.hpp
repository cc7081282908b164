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

/// A fault in the making: which requests, then what happens to them. The last call installs it.
///
///     server.faults().next(3).matching({.verb = "list", .resource = "pods"}).respond(503, 1s);
class FaultBuilder {
 public:
  FaultBuilder(const FaultBuilder&) = delete;
  FaultBuilder& operator=(const FaultBuilder&) = delete;
  ~FaultBuilder();

  FaultBuilder& matching(RequestFilter filter);
  /// Strikes each matching request only with this probability; the server's seed decides.
  FaultBuilder& with_probability(double probability);
  /// Lets this many matching requests pass first.
  FaultBuilder& after(int requests);

  /// Answers at once, without asking the engine. Without a body, a Status that fits the code is sent.
  Faults& respond(int status, std::optional<std::chrono::seconds> retry_after = std::nullopt,
                  std::string body = {}, Headers headers = {});
  /// Answers that much later, by the server's clock.
  Faults& delay(Clock::Duration time);
  /// Resets the connection instead of answering. The request is not carried out.
  Faults& break_before_head();
  /// Carries out the request, then resets the connection: the client cannot know that it was done.
  Faults& lose_answer();
  /// Breaks the connection after the head of the answer.
  Faults& break_after_head();
  /// Breaks the connection after that many bytes of the body.
  Faults& break_after_bytes(std::size_t bytes);
  /// No answer, and no sign that the connection is dead. It stays so until the client closes it.
  Faults& go_silent();
  /// Of a watch: falls silent after so many events.
  Faults& go_silent_after(int events);
  /// Of a watch: the connection breaks after so many events.
  Faults& drop_after(int events);
  /// Of a watch: the stream ends properly after so many events.
  Faults& end_after(int events);
  /// Of a watch: the connection breaks instead of delivering that revision or a later one.
  Faults& drop_at_revision(std::uint64_t revision);
  /// Sends half of the n-th frame (from 1) and ends the body properly. An answer without frames counts as one.
  Faults& truncate_frame(int number = 1);
  /// Damages the n-th frame (from 1) so that it is neither JSON nor protobuf.
  Faults& corrupt_frame(int number = 1);
  /// Holds back all bookmarks of a watch, the one at the end of the initial events included.
  Faults& withhold_bookmarks();
  /// Holds back the bookmark at the end of the initial events.
  Faults& withhold_initial_events_end();
  /// Sends the body in pieces of so many bytes, one per interval of the server's clock.
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

/// What goes wrong between the server and its clients, on purpose and repeatably: which requests are struck
/// depends on their order and on the seed only. Several faults may strike one request; of those that answer,
/// the first installed wins.
///
/// Thread safety: all methods, from any thread.
class Faults {
 public:
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;
  ~Faults();

  /// For the next `count` matching requests.
  [[nodiscard]] FaultBuilder next(int count = 1);
  /// For all matching requests until clear().
  [[nodiscard]] FaultBuilder always();

  /// All watches, also later ones, lose their connection after so many events.
  Faults& drop_watches_after(int events);
  /// The server forgets its history: watches and lists at an old version get 410.
  Faults& expire_history();
  /// Breaks all connections that are open.
  Faults& drop_connections();
  /// Takes all faults away; exchanges that were struck already stay so.
  void clear();

  /// How many requests were struck so far.
  [[nodiscard]] std::uint64_t struck() const;
  /// How many faults still wait for a request.
  [[nodiscard]] std::size_t waiting() const;

 private:
  friend class FaultBuilder;
  friend struct kube::detail::Inside;
  explicit Faults(std::unique_ptr<detail::FaultTable> core);

  std::unique_ptr<detail::FaultTable> core_;
};

}  // namespace kube::testkit
