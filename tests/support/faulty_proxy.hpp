// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace kube::testing_support {

/// A TCP proxy on loopback that injects network faults. It is independent of HTTP and TLS.
///
/// Thread safety: all methods, from any thread.
class FaultyProxy {
 public:
  using Clock = std::chrono::steady_clock;

  explicit FaultyProxy(std::uint16_t target);
  ~FaultyProxy();
  FaultyProxy(const FaultyProxy&) = delete;
  FaultyProxy& operator=(const FaultyProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

  /// Resets all connections.
  void cut();
  /// Stalls all traffic for a while; connections appear alive (half-open).
  void hold(Clock::duration time);
  /// Adds a delay to each piece of data, for a while.
  void delay(Clock::duration by, Clock::duration time);
  /// Limits the rate in bytes per second and direction, for a while.
  void throttle(std::size_t bytes_per_second, Clock::duration time);
  /// Flips a bit in the next piece of data from the server.
  void corrupt();
  /// Closes new connections at once, for a while.
  void refuse(Clock::duration time);
  /// Resets all connections and stops listening until open_port().
  void close_port();
  void open_port();
  /// Ends all active faults.
  void heal();

  [[nodiscard]] std::size_t connections() const;

 private:
  struct Piece {
    std::string bytes;
    Clock::time_point due;
  };
  struct Direction {
    std::deque<Piece> waiting;
    std::size_t size = 0;
    bool ended = false;
    double allowance = 0;
  };
  struct Connection {
    int client = -1;
    int server = -1;
    Direction up;
    Direction down;
    bool dead = false;
  };

  void run(const std::stop_token& stop);
  void accept_one();
  void receive(int from, Direction& direction, bool from_server, bool& dead);
  void send(int to, Direction& direction, double elapsed, bool& dead);

  const std::uint16_t target_;
  std::uint16_t port_ = 0;

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  int listener_ = -1;  // -1 while the port is closed
  std::vector<std::unique_ptr<Connection>> connections_;
  Clock::time_point held_until_;
  Clock::time_point delayed_until_;
  Clock::duration delay_{};
  Clock::time_point throttled_until_;
  std::size_t rate_ = 0;
  Clock::time_point refused_until_;
  bool corrupt_next_ = false;
  bool cut_ = false;

  std::jthread thread_;
};

}  // namespace kube::testing_support
