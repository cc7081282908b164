// SPDX-License-Identifier: Apache-2.0
#include "message.hpp"

#include <boost/beast/http/status.hpp>

#include <utility>

namespace kube::server {

std::string_view reason_phrase(int status) {
  if (status < 100 || status > 999) return "Unknown";
  const auto text =
      boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(status));
  return {text.data(), text.size()};
}

Reply text_reply(int status, std::string body) {
  Reply reply;
  reply.status = status;
  reply.headers = {{"Content-Type", "text/plain; charset=utf-8"}};
  reply.body = std::move(body);
  return reply;
}

}  // namespace kube::server
