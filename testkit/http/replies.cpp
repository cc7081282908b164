// SPDX-License-Identifier: Apache-2.0
#include "testkit/http/replies.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <chrono>
#include <new>
#include <utility>

namespace kube::testkit::detail {
namespace {

Reply too_slow(std::string_view part, std::chrono::milliseconds limit) {
  return status_reply(
      408, "Timeout",
      fmt::format("the {} of the request did not arrive within {} ms; send it at once", part,
                  limit.count()));
}

Reply too_many_connections(std::size_t limit) {
  Reply reply = status_reply(
      503, "ServiceUnavailable",
      fmt::format("the server has {} connections open and takes no more; close some, or start "
                  "it with a higher limit (kubecxx serve --max-connections, "
                  "ApiServerOptions::max_connections)",
                  limit));
  reply.headers.push_back({"Retry-After", "1"});
  return reply;
}

}  // namespace

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;
  if (deflateInit2(&stream, 1, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc{};
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

Reply text_reply(int status, std::string body) {
  Reply reply = server::text_reply(status, std::move(body));
  reply.close = true;
  return reply;
}

Reply status_reply(int status, std::string_view reason, std::string_view message) {
  Reply reply;
  reply.status = status;
  reply.headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}};
  reply.body = fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"{}","reason":"{}","code":{}}})"
      "\n",
      message, reason, status);
  reply.close = true;
  return reply;
}

Reply refusal_reply(server::Refusal why, const server::Limits& limits) {
  using server::Refusal;
  switch (why) {
    case Refusal::kMalformed:
    case Refusal::kVersion:
      return text_reply(400, "400 Bad Request");
    case Refusal::kLargeHead:
      return text_reply(431, "431 Request Header Fields Too Large");
    case Refusal::kLargeBody:
      return status_reply(413, "RequestEntityTooLarge",
                          fmt::format("Request entity too large: limit is {}", limits.max_body));
    case Refusal::kSlowHead:
      return too_slow("head", limits.head_timeout);
    case Refusal::kSlowBody:
      return too_slow("body", limits.body_timeout);
    case Refusal::kCrowded:
      return too_many_connections(limits.max_connections);
    case Refusal::kSlowAnswer:
    case Refusal::kReplaced:
    case Refusal::kFailed:
      break;
  }
  return server::plain_refusal(why, limits);
}

}  // namespace kube::testkit::detail
