// SPDX-License-Identifier: Apache-2.0
// Input: bytes from an HTTP/2 server, in chunks, while requests begin, are canceled and wait for
// capacity. Each exchange must end or be handed back.
#include "exchanges.hpp"

namespace {

using namespace kube;
using detail::Exchange;

class Client {
 public:
  void begin(HttpRequest request) {
    if (session_->room() == 0) return;
    exchanges_.push_back(fuzz::make_exchange(std::move(request)));
    session_->begin(exchanges_.back());
  }

  void feed(std::string_view bytes) {
    fuzz::drive(*session_, bytes);
    switch (++chunks_ % 4) {
      case 1:
        begin({.method = "POST", .body = std::string(100, 'b')});
        break;
      case 2:
        (void)session_->ping();
        break;
      case 3:
        if (!exchanges_.front()->done()) {
          exchanges_.front()->fail({TransportError::Kind::kCanceled, "canceled"});
          session_->attend(exchanges_.front());
        }
        break;
      default:
        for (const auto& exchange : exchanges_) session_->attend(exchange);
    }
  }

  void run(std::string_view bytes, unsigned seed) {
    try {
      begin({});
      while (!session_->output().empty()) session_->sent(session_->output().size());
      fuzz::in_chunks(bytes, seed, [this](std::string_view chunk) { feed(chunk); });
      session_->end_of_input();
    } catch (const TransportError& error) {
      session_->fail_all(error);
    }
    fuzz::require(session_->active() == 0 && !session_->reusable(), "the session is over");
    std::size_t open = 0;
    for (const auto& exchange : exchanges_) {
      if (exchange->done()) {
        (void)fuzz::result_of(*exchange);
      } else {
        ++open;
      }
    }
    while (const auto exchange = returned_.pop()) {
      if (!exchange->done()) --open;  // it may have been canceled before
    }
    fuzz::require(open == 0, "each exchange is done or was handed back, once");
  }

 private:
  detail::ExchangeQueue returned_{detail::ExchangeLink::kWaiting};
  const std::unique_ptr<detail::Session> session_ =
      detail::make_http2_session(fuzz::session_settings(), returned_);
  std::vector<std::shared_ptr<Exchange>> exchanges_;
  unsigned chunks_ = 0;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Client{}.run(fuzz::text_of(data + 1, size - 1), data[0]);
  return 0;
}
