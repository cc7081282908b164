// SPDX-License-Identifier: Apache-2.0
#include "http_stream.hpp"

#include "base/no_wait.hpp"
#include "engine/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace kube::detail {

namespace {

constexpr std::size_t kMinDecodedAtOnce = std::size_t{4} << 10;
constexpr std::size_t kMaxDecodedAtOnce = std::size_t{64} << 10;

}  // namespace

void HttpStream::drive_loop(const std::function<bool()>& ready,
                            std::chrono::steady_clock::time_point deadline) const {
  if (scheduler_->is_without_threads()) scheduler_->loop().drive(ready, deadline);
}

HttpStream::~HttpStream() {
  cancel();
  if (process_.is_of_parent()) keep_for_ever(exchange_);
}

void HttpStream::cancel() noexcept {
  if (!process_.is_of_parent()) exchange_->cancel();
}

void HttpStream::wait_head() {
  drive_loop([this] { return exchange_->poll_head() != nullptr; }, EventLoop::TimePoint::max());
  (void)exchange_->wait_head();
  accept();
}

bool HttpStream::poll_head() {
  if (head_.status != 0) return true;
  if (exchange_->poll_head() == nullptr) return false;
  accept();
  return true;
}

void HttpStream::accept() {
  head_ = exchange_->take_head();
  const std::string* encoding = find_header(head_.headers, "Content-Encoding");
  if (encoding == nullptr || *encoding != "gzip") return;
  inflater_.emplace();
  // These headers describe the compressed body, not the bytes that are returned here.
  std::erase_if(head_.headers, [](const Header& header) {
    return find_header({header}, "Content-Encoding") != nullptr ||
           find_header({header}, "Content-Length") != nullptr;
  });
}

template <typename Take>
std::optional<std::string_view> HttpStream::next(const Take& take) {
  if (!inflater_) return take() ? std::optional<std::string_view>{bytes_} : std::nullopt;
  for (;;) {
    if (has_compressed()) {
      const std::size_t limit =
          std::clamp(compressed_.size() * 8, kMinDecodedAtOnce, kMaxDecodedAtOnce);
      inflater_->run(compressed_, decoded_, limit, host_);
      if (!decoded_.empty()) return decoded_;
    } else {
      // An idle watch should not keep the memory that it needed to decode an event.
      inflater_->rest();
      std::string{}.swap(decoded_);
      if (!take()) return std::nullopt;
      compressed_ = bytes_;
      if (!bytes_.empty()) continue;
      if (!inflater_->complete()) {
        throw TransportError(TransportError::Kind::kProtocol,
                             host_ + ": the gzip body ends in the middle");
      }
      return std::string_view{};
    }
  }
}

std::string_view HttpStream::read(std::stop_token stop) {
  process_.check("the connection");
  const std::stop_callback cancel_on_stop{stop, [this] { cancel(); }};
  require_may_wait("reading an answer", "use the asynchronous form of the call");
  return *next([this] {
    bool taken = false;
    drive_loop([&] { return taken = exchange_->poll_take(bytes_); }, EventLoop::TimePoint::max());
    if (!taken) exchange_->take(bytes_);
    return true;
  });
}

std::optional<std::string_view> HttpStream::poll_read() {
  return next([this] { return exchange_->poll_take(bytes_); });
}

bool HttpStream::wait(std::chrono::nanoseconds timeout, std::stop_token stop) {
  process_.check("the connection");
  if (has_compressed()) return true;
  require_may_wait("waiting for an answer", "use the asynchronous form of the call");
  const std::stop_callback cancel_on_stop{stop, [this] { cancel(); }};
  const auto end = std::chrono::steady_clock::now() + timeout;
  drive_loop([&] { return exchange_->is_readable(); }, end);
  return exchange_->wait(end - std::chrono::steady_clock::now());
}

}  // namespace kube::detail
