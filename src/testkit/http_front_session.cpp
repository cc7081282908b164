// SPDX-License-Identifier: Apache-2.0
#include "http_front_session.hpp"

#include <boost/beast/http/status.hpp>

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

Reply body_too_large() {
  Reply reply;
  reply.status = 413;
  reply.headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}};
  reply.body =
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Request entity too large: limit is 3145728","reason":"RequestEntityTooLarge","code":413})"
      "\n";
  reply.close = true;
  return reply;
}

}  // namespace kube::testkit::detail
