// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/testkit/fake_clock.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../../src/transport/http_dispatcher.hpp"

namespace kube::test {

/// While one exists, allocations belong to the test: memory_test.cpp lets only the others fail.
class TestCode {
 public:
  TestCode() { ++depth; }
  ~TestCode() { --depth; }
  TestCode(const TestCode&) = delete;
  TestCode& operator=(const TestCode&) = delete;
  [[nodiscard]] static bool runs() noexcept { return depth > 0; }

 private:
  static inline int depth = 0;
};

/// The server's end of a scripted connection.
class ScriptedPeer {
 public:
  ScriptedPeer() = default;
  virtual ~ScriptedPeer() = default;
  ScriptedPeer(const ScriptedPeer&) = delete;
  ScriptedPeer& operator=(const ScriptedPeer&) = delete;

  /// Consumes bytes sent by the client.
  virtual void receive(std::string_view bytes) = 0;

  /// All bytes sent so far.
  std::string output;
  /// The peer has closed its side.
  bool ended = false;
};

/// The state of a scripted connection in the kernel.
struct Wire {
  std::size_t index = 0;
  std::unique_ptr<ScriptedPeer> peer = nullptr;
  /// How many bytes the client can send until its socket is full.
  std::size_t room = std::string::npos;
  /// How many bytes of the peer's output have arrived; the others are in flight.
  std::size_t arriving = std::string::npos;
  std::size_t received = 0;  ///< by the client
  bool open = true;          ///< at the client
  short waits_for = 0;       ///< POLLIN, POLLOUT: events the client subscribed to
  bool ready = false;        ///< the client has been notified

  [[nodiscard]] std::size_t readable() const {
    return std::min(arriving, peer->output.size()) - received;
  }
  [[nodiscard]] bool at_end() const { return peer->ended && received == peer->output.size(); }
};

/// Records that a dispatcher has mail.
class Mail final : public detail::Waker {
 public:
  void wake() noexcept override { there = true; }
  bool there = false;
};

/// A network in which everything happens at moments chosen by the test. Each send or receive call
/// of the dispatcher is a moment, and so are the beginning and the end of each wait. Actions run at
/// the beginning of a moment, as the kernel or another thread would.
class ScriptedNetwork final : public detail::Network {
 public:
  using MakePeer = std::function<std::unique_ptr<ScriptedPeer>(std::size_t index)>;

  ScriptedNetwork(bool http2, MakePeer make_peer)
      : http2_(http2), make_peer_(std::move(make_peer)) {}

  [[nodiscard]] std::unique_ptr<detail::Dial> dial(
      std::shared_ptr<const TlsMaterial> material) override;
  void renew_tls() noexcept override { ++tls_contexts; }
  [[nodiscard]] const Clock& clock() const noexcept override { return time; }

  /// Waits like a loop: until a socket is ready, mail arrives, or `until`. Does not advance the
  /// clock.
  void wait(Clock::TimePoint until);
  void at(int moment, std::function<void()> action) { script_.emplace(moment, std::move(action)); }
  /// Starts the next moment.
  void tick();

  const std::shared_ptr<Mail> mail = std::make_shared<Mail>();
  testkit::FakeClock time;
  /// In order of creation. They outlive the dispatcher.
  std::vector<std::shared_ptr<Wire>> wires;
  /// Maximum number of bytes per call.
  std::size_t most_received = std::string::npos;
  std::size_t most_sent = std::string::npos;
  /// The number of dial, advance, send and receive calls so far; which of them fails, and how.
  int calls = 0;
  std::optional<int> failing_call;
  std::exception_ptr failure;
  int tls_contexts = 1;
  /// How many of the next waits fail: all sockets have to be tried then.
  int failing_waits = 0;
  int now = 0;         ///< the current moment
  int turn_began = 0;  ///< when the last wait ended
  bool script_is_over() const { return script_.empty(); }
  /// The timeout of the last wait in milliseconds, if nothing was left to happen in it, not even an
  /// action. Negative: no timeout.
  std::optional<int> asleep;

  /// Throws if this call is to fail.
  void count_call();

 private:
  bool look() const;

  const bool http2_;
  const MakePeer make_peer_;
  std::multimap<int, std::function<void()>> script_;
};

/// A dispatcher on a scripted network, with the exchanges posted to it.
class Schedule {
 public:
  Schedule(bool http2, ScriptedNetwork::MakePeer make_peer, TransportOptions options = {});

  [[nodiscard]] ScriptedNetwork& network() noexcept { return *network_; }
  /// May also be called by an action.
  std::shared_ptr<detail::Exchange> post(HttpRequest request);
  /// Runs one turn of the dispatcher and the wait after it.
  void step();
  /// Runs until all exchanges are done and all actions have run. Time advances only when nothing
  /// else can happen. Returns false if the dispatcher would sleep for ever, or does not come to an
  /// end.
  [[nodiscard]] bool run();
  /// Destroys the dispatcher and describes what is left behind; should be empty.
  [[nodiscard]] std::string leftovers();

 private:
  ScriptedNetwork* network_;  // owned by the dispatcher
  std::vector<std::shared_ptr<Wire>> wires_;
  std::unique_ptr<detail::HttpDispatcher> dispatcher_;
  std::vector<std::shared_ptr<detail::Exchange>> exchanges_;
};

/// Returns "200 body", "error: text" or "nothing yet".
[[nodiscard]] std::string outcome(detail::Exchange& exchange);

}  // namespace kube::test
