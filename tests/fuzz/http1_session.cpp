// SPDX-License-Identifier: Apache-2.0
// Input: the answer to an HTTP/1.1 request, fed whole and in chunks, which must give the same
// result.
#include "exchanges.hpp"

namespace {

using namespace kube;
using detail::Exchange;

template <typename Feed>
std::string answer(bool head_only, Feed feed) {
  detail::ExchangeQueue returned{detail::ExchangeLink::kWaiting};
  const auto session = detail::make_http1_session(fuzz::session_settings(), returned);
  const auto exchange = fuzz::make_exchange({.method = head_only ? "HEAD" : "GET"});
  session->begin(exchange);
  while (!session->output().empty()) session->sent(session->output().size());
  try {
    feed([&](std::string_view bytes) { fuzz::drive(*session, bytes); });
    session->end_of_input();
  } catch (const TransportError& error) {
    session->fail_all(error);
  }
  fuzz::require(session->active() == 0 && !session->reusable(), "the session is over");
  fuzz::require(returned.empty(), "a first request is not sent again");
  fuzz::require(exchange->done() && exchange->connection == nullptr, "the exchange is done");
  return fuzz::result_of(*exchange);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
  const bool head_only = (data[0] & 1) != 0;
  const std::string whole = answer(head_only, [&](auto feed) { feed(bytes); });
  const std::string cut =
      answer(head_only, [&](auto feed) { fuzz::in_chunks(bytes, data[0], feed); });
  fuzz::require(whole == cut, "chunks do not change the answer");
  return 0;
}
