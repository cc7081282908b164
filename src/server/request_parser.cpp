// SPDX-License-Identifier: Apache-2.0
#include "request_parser.hpp"

#include "base/text.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <string>

namespace kube::server {
namespace {

namespace beast_http = boost::beast::http;

std::string text(boost::beast::string_view view) { return {view.data(), view.size()}; }

/// True for a request line that is complete but for its version: "GET / HTTP/2.0".
bool has_other_version(std::string_view head) {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  return std::ranges::count(line, ' ') == 2 &&
         line.substr(line.rfind(' ') + 1).starts_with("HTTP/");
}

}  // namespace

RequestParser::RequestParser(const Limits& limits) : limits_(limits) {
  header_limit(static_cast<std::uint32_t>(limits.max_head));
  body_limit(boost::none);  // the session has the limit, as a handler may read any size as a stream
}

std::size_t RequestParser::parse(std::string_view bytes) {
  body_ = {};
  Error error;
  const std::size_t used = put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  if (!error || error == beast_http::error::need_more) {
    // The rest is an incomplete line, which must end within the limit.
    if (error && bytes.size() - used > limits_.max_head) problem_ = Refusal::kLargeHead;
    return used;
  }
  if (error == beast_http::error::header_limit) {
    problem_ = Refusal::kLargeHead;
  } else if (error == beast_http::error::bad_version && has_other_version(bytes)) {
    problem_ = Refusal::kVersion;
  } else {
    problem_ = Refusal::kMalformed;
  }
  return used;
}

bool RequestParser::expects_continue() const {
  const std::string* value = find_header(request_.headers, "Expect");
  return value != nullptr && detail::equals_ignoring_case(*value, "100-continue");
}

std::uint64_t RequestParser::announced_length() const {
  const auto length = content_length();
  return length ? *length : 0;
}

void RequestParser::on_request_impl(beast_http::verb /*method*/, View name, View target,
                                    int version, Error& /*error*/) {
  request_.method = text(name);
  request_.target = text(target);
  version_ = version;
}

void RequestParser::on_response_impl(int /*code*/, View /*reason*/, int /*version*/,
                                     Error& /*error*/) {}

void RequestParser::on_field_impl(beast_http::field /*field*/, View name, View value,
                                  Error& error) {
  if (++fields_ > limits_.max_headers) {
    error = beast_http::error::header_limit;
  } else if (!is_header_done()) {  // ignores trailers
    request_.headers.push_back({text(name), text(value)});
  }
}

void RequestParser::on_header_impl(Error& /*error*/) {}

void RequestParser::on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/,
                                      Error& /*error*/) {}

std::size_t RequestParser::on_body_impl(View body, Error& /*error*/) {
  body_ = {body.data(), body.size()};
  return body.size();
}

void RequestParser::on_chunk_header_impl(std::uint64_t /*size*/, View /*extensions*/,
                                         Error& /*error*/) {}

std::size_t RequestParser::on_chunk_body_impl(std::uint64_t /*remain*/, View body, Error& error) {
  return on_body_impl(body, error);
}

void RequestParser::on_finish_impl(Error& /*error*/) {}

}  // namespace kube::server
