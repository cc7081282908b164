// SPDX-License-Identifier: Apache-2.0
#include "scripted_network.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <utility>

namespace kube::test {

namespace {

using detail::ByteStream;
using detail::Dial;
using detail::DialTimes;
using detail::Exchange;

class ScriptedStream final : public ByteStream {
 public:
  ScriptedStream(ScriptedNetwork& network, std::shared_ptr<Wire> wire)
      : network_(network), wire_(std::move(wire)) {}
  ~ScriptedStream() override {
    wire_->open = false;
    wire_->waits_for = 0;
    wire_->ready = false;
  }

  [[nodiscard]] Result receive(std::span<char> buffer, std::size_t& received) override {
    const TestCode here;
    network_.tick();
    network_.count_call();
    received = std::min({buffer.size(), wire_->readable(), network_.most_received});
    std::copy_n(wire_->peer->output.begin() + static_cast<std::ptrdiff_t>(wire_->received),
                received, buffer.begin());
    wire_->received += received;
    if (received > 0) return received < buffer.size() ? Result::kAllBytes : Result::kBytes;
    return wire_->at_end() ? Result::kEnd : Result::kAgain;
  }

  [[nodiscard]] std::size_t send(std::string_view bytes) override {
    const TestCode here;
    network_.tick();
    network_.count_call();
    const std::size_t size = std::min({bytes.size(), wire_->room, network_.most_sent});
    if (wire_->room != std::string::npos) wire_->room -= size;
    if (size > 0) wire_->peer->receive(bytes.substr(0, size));
    return size;
  }

  void finish() noexcept override {}
  void wait_for(short events) noexcept override { wire_->waits_for = events; }
  [[nodiscard]] bool take_ready() noexcept override { return std::exchange(wire_->ready, false); }

 private:
  ScriptedNetwork& network_;
  const std::shared_ptr<Wire> wire_;
};

class ScriptedDial final : public Dial {
 public:
  ScriptedDial(ScriptedNetwork& network, std::shared_ptr<const TlsMaterial> material, bool http2,
               std::unique_ptr<ByteStream> stream)
      : network_(network),
        material_(std::move(material)),
        http2_(http2),
        stream_(std::move(stream)) {}

  [[nodiscard]] bool advance(TimePoint) override {
    network_.count_call();
    return true;
  }
  void wait() noexcept override {}
  void extend_deadlines(Clock::Duration) noexcept override {}
  [[nodiscard]] TimePoint next_step() const override { return {}; }
  [[nodiscard]] const std::shared_ptr<const TlsMaterial>& material() const noexcept override {
    return material_;
  }
  [[nodiscard]] bool negotiated_http2() const override { return http2_; }
  [[nodiscard]] std::unique_ptr<ByteStream> take_stream() override { return std::move(stream_); }
  [[nodiscard]] const DialTimes& times() const noexcept override { return times_; }

 private:
  ScriptedNetwork& network_;
  const std::shared_ptr<const TlsMaterial> material_;
  const bool http2_;
  std::unique_ptr<ByteStream> stream_;
  const DialTimes times_;
};

}  // namespace

std::unique_ptr<Dial> ScriptedNetwork::dial(std::shared_ptr<const TlsMaterial> material) {
  const TestCode here;
  count_call();
  const auto wire = std::make_shared<Wire>();
  wire->index = wires.size();
  wire->peer = make_peer_(wires.size());
  auto stream = std::make_unique<ScriptedStream>(*this, wire);
  auto made = std::make_unique<ScriptedDial>(*this, std::move(material), http2_, std::move(stream));
  wires.push_back(wire);
  return made;
}

void ScriptedNetwork::wait(Clock::TimePoint until) {
  const TestCode here;
  tick();
  if (failing_waits > 0) {
    --failing_waits;
    turn_began = now;
    for (const auto& wire : wires) wire->ready = wire->waits_for != 0;
    return;
  }
  int timeout_ms = -1;
  if (until == Clock::TimePoint::min()) {
    timeout_ms = 0;
  } else if (until != Clock::TimePoint::max()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - time.now());
    timeout_ms = std::max(0, static_cast<int>(left.count()));
  }
  bool ready = look();
  while (!ready && timeout_ms != 0 && !script_.empty()) {
    tick();
    ready = look();
  }
  asleep = !ready && timeout_ms != 0 ? std::optional{timeout_ms} : std::nullopt;
  tick();
  turn_began = now;
}

bool ScriptedNetwork::look() const {
  bool ready = mail->there;
  for (const auto& wire : wires) {
    short events = 0;
    if (wire->readable() > 0 || wire->at_end()) events |= POLLIN;
    if (wire->room > 0) events |= POLLOUT;
    wire->ready = wire->ready || (events & wire->waits_for) != 0;
    ready |= wire->ready;
  }
  return ready;
}

void ScriptedNetwork::tick() {
  ++now;
  while (!script_.empty() && script_.begin()->first <= now) {
    const auto action = std::move(script_.extract(script_.begin()).mapped());
    action();
  }
}

void ScriptedNetwork::count_call() {
  if (calls++ == failing_call) std::rethrow_exception(failure);
}

Schedule::Schedule(bool http2, ScriptedNetwork::MakePeer make_peer, TransportOptions options) {
  auto network = std::make_unique<ScriptedNetwork>(http2, std::move(make_peer));
  network_ = network.get();
  options.base_url = http2 ? "https://scripted" : "http://scripted";
  dispatcher_ = std::make_unique<detail::HttpDispatcher>(std::move(options), std::move(network));
  dispatcher_->mailbox()->open(network_->mail);
}

std::shared_ptr<Exchange> Schedule::post(HttpRequest request) {
  static const auto material = std::make_shared<const TlsMaterial>();
  const auto exchange =
      std::make_shared<Exchange>(std::move(request), material, dispatcher_->mailbox(),
                                 dispatcher_->options().stream_buffer_bytes, network_->clock());
  exchanges_.push_back(exchange);
  dispatcher_->mailbox()->post(exchange);
  return exchange;
}

void Schedule::step() {
  network_->mail->there = false;
  network_->wait(dispatcher_->turn());
}

bool Schedule::run() {
  constexpr int kMany = 2000;
  for (int steps = 0; steps < kMany; ++steps) {
    step();
    const bool done =
        std::ranges::all_of(exchanges_, [](const auto& exchange) { return exchange->done(); });
    if (done && network_->script_is_over()) return true;
    if (!network_->asleep) continue;
    if (*network_->asleep < 0) return false;
    network_->time.advance(std::chrono::milliseconds{*network_->asleep});
  }
  return false;
}

std::string Schedule::leftovers() {
  wires_ = network_->wires;
  dispatcher_.reset();
  std::string found;
  for (const auto& exchange : exchanges_) {
    if (!exchange->done()) found += fmt::format("{} is not done. ", exchange->request.target);
    if (exchange->connection != nullptr) {
      found += fmt::format("{} has a connection. ", exchange->request.target);
    }
  }
  for (const auto& wire : wires_) {
    if (wire->open) found += fmt::format("connection {} is open. ", wire->index);
  }
  return found;
}

std::string outcome(Exchange& exchange) {
  if (!exchange.done()) return "nothing yet";
  try {
    std::string result = fmt::format("{} ", exchange.wait_head().status);
    std::string bytes;
    do {
      exchange.take(bytes);
      result += bytes;
    } while (!bytes.empty());
    return result;
  } catch (const TransportError& error) {
    return fmt::format("error: {}", error.what());
  }
}

}  // namespace kube::test
