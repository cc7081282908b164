// SPDX-License-Identifier: Apache-2.0
#include "scripted_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace kube::test {

namespace {

using detail::ByteStream;
using detail::Dial;
using detail::DialTimes;
using detail::Exchange;

constexpr int kFirstSocket = 1'000'000;

class ScriptedStream final : public ByteStream {
 public:
  ScriptedStream(ScriptedNetwork& network, std::shared_ptr<Wire> wire)
      : network_(network), wire_(std::move(wire)) {}
  ~ScriptedStream() override { wire_->open = false; }

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

  [[nodiscard]] int socket() const noexcept override { return wire_->socket; }

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
  void watch(std::vector<pollfd>&) const override {}
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
  wire->socket = kFirstSocket + static_cast<int>(wires.size());
  wire->peer = make_peer_(wires.size());
  auto stream = std::make_unique<ScriptedStream>(*this, wire);
  auto made = std::make_unique<ScriptedDial>(*this, std::move(material), http2_, std::move(stream));
  wires.push_back(wire);
  return made;
}

int ScriptedNetwork::poll(std::span<pollfd> sockets, int timeout_ms) noexcept {
  const TestCode here;
  tick();
  if (failing_polls > 0) {
    --failing_polls;
    turn_began = now;
    errno = ENOMEM;
    return -1;
  }
  bool ready = look(sockets);
  while (!ready && timeout_ms != 0 && !script_.empty()) {
    tick();
    ready = look(sockets);
  }
  asleep = !ready && timeout_ms != 0 ? std::optional{timeout_ms} : std::nullopt;
  tick();
  turn_began = now;
  return static_cast<int>(
      std::ranges::count_if(sockets, [](const pollfd& one) { return one.revents != 0; }));
}

bool ScriptedNetwork::look(std::span<pollfd> sockets) const {
  bool ready = false;
  for (pollfd& socket : sockets) {
    socket.revents = 0;
    if (socket.fd < kFirstSocket) {
      ::poll(&socket, 1, 0);  // that of the mailbox
    } else {
      const Wire& wire = *wires[static_cast<std::size_t>(socket.fd - kFirstSocket)];
      if (wire.readable() > 0 || wire.at_end()) socket.revents |= POLLIN;
      if (wire.room > 0) socket.revents |= POLLOUT;
      socket.revents &= socket.events;
    }
    ready |= socket.revents != 0;
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
  loop_ = std::make_unique<detail::Loop>(std::move(options), std::move(network));
}

std::shared_ptr<Exchange> Schedule::post(HttpRequest request) {
  static const auto material = std::make_shared<const TlsMaterial>();
  const auto exchange =
      std::make_shared<Exchange>(std::move(request), material, loop_->mailbox(),
                                 loop_->options().stream_buffer_bytes, network_->clock());
  exchanges_.push_back(exchange);
  loop_->mailbox()->post(exchange);
  return exchange;
}

void Schedule::step() { loop_->step(); }

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
  loop_.reset();
  std::string found;
  for (const auto& exchange : exchanges_) {
    if (!exchange->done()) found += fmt::format("{} is not done. ", exchange->request.target);
    if (exchange->connection != nullptr) {
      found += fmt::format("{} has a connection. ", exchange->request.target);
    }
  }
  for (const auto& wire : wires_) {
    if (wire->open) found += fmt::format("connection {} is open. ", wire->socket - kFirstSocket);
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
