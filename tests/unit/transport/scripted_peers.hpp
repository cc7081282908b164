// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "scripted_network.hpp"

namespace kube::test {

/// How often the servers of a schedule have handled each target.
using Handled = std::map<std::string, int>;

/// A peer that speaks HTTP/1.1. After end() it handles no further request.
class Http1Peer final : public ScriptedPeer {
 public:
  /// Returns the bytes of the response.
  using Answer = std::function<std::string(const std::string& target)>;

  /// `on_late_input` is called for input after end().
  Http1Peer(
      Handled& handled, Answer answer, std::function<void()> on_late_input = [] {})
      : handled_(handled), answer_(std::move(answer)), on_late_input_(std::move(on_late_input)) {}

  void receive(std::string_view bytes) override;
  /// Sends unsolicited data and closes.
  void end(std::string_view farewell = {});

 private:
  Handled& handled_;
  const Answer answer_;
  const std::function<void()> on_late_input_;
  std::string input_;
};

/// A peer that speaks HTTP/2. Responds to each complete request with its target as body, at once or
/// after release().
class Http2Peer final : public ScriptedPeer {
 public:
  explicit Http2Peer(Handled& handled, bool hold = false);
  ~Http2Peer() override;

  void receive(std::string_view bytes) override;
  void release();
  /// Sends GOAWAY and handles no further request.
  void go_away();
  /// Resets the stream if it is open.
  void reset(std::int32_t stream, std::uint32_t code);
  void ping();

 private:
  struct Callbacks;

  void answer(std::int32_t stream);
  void flush();

  Handled& handled_;
  bool hold_;
  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, std::string> targets_;
  std::int32_t last_handled_ = 0;
  bool gone_ = false;
};

}  // namespace kube::test
