// SPDX-License-Identifier: Apache-2.0
#include "testkit/http/session.hpp"

#include <boost/beast/http/status.hpp>

#include <fmt/format.h>
#include <zlib.h>

#include <stdexcept>

namespace kube::testkit::detail {

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

Reply body_too_large() {
  return status_reply(413, "RequestEntityTooLarge",
                      fmt::format("Request entity too large: limit is {}", kBodyLimit));
}

Reply too_slow(std::string_view part, std::chrono::milliseconds limit) {
  return status_reply(
      408, "Timeout",
      fmt::format("the {} of the request did not arrive within {} ms; send it at once", part,
                  limit.count()));
}

}  // namespace kube::testkit::detail
