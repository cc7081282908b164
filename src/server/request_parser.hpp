// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/beast/http/basic_parser.hpp>

#include <cstddef>
#include <optional>
#include <string_view>

#include "handler.hpp"
#include "limits.hpp"
#include "message.hpp"

namespace kube::server {

/// Parses one HTTP/1.1 request: the parser of Boost.Beast with the server's own message, because
/// that of Beast throws on long fields. The body is handed out in pieces.
class RequestParser final : private boost::beast::http::basic_parser<true> {
 public:
  explicit RequestParser(const Limits& limits);

  /// Parses the head, or a piece of the body, and returns the number of bytes used; 0 if more are
  /// needed.
  [[nodiscard]] std::size_t parse(std::string_view bytes);
  /// Why the request cannot be read, if so.
  [[nodiscard]] std::optional<Refusal> problem() const noexcept { return problem_; }
  [[nodiscard]] bool has_head() const { return is_header_done(); }
  [[nodiscard]] bool is_complete() const { return is_done(); }

  /// The request so far, without its body. Valid once it has a head.
  [[nodiscard]] Request& request() noexcept { return request_; }
  [[nodiscard]] bool expects_continue() const;
  [[nodiscard]] bool keeps_alive() const { return keep_alive(); }
  [[nodiscard]] bool is_http10() const noexcept { return version_ < 11; }
  /// Content-Length, or 0 if it has none.
  [[nodiscard]] std::uint64_t announced_length() const;
  /// Returns the bytes of the body that the last parse() has found.
  [[nodiscard]] std::string_view body() const noexcept { return body_; }

 private:
  using Error = boost::beast::error_code;
  using View = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb method, View name, View target, int version,
                       Error& error) override;
  void on_response_impl(int code, View reason, int version, Error& error) override;
  void on_field_impl(boost::beast::http::field field, View name, View value,
                     Error& error) override;
  void on_header_impl(Error& error) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, Error& error) override;
  std::size_t on_body_impl(View body, Error& error) override;
  void on_chunk_header_impl(std::uint64_t size, View extensions, Error& error) override;
  std::size_t on_chunk_body_impl(std::uint64_t remain, View body, Error& error) override;
  void on_finish_impl(Error& error) override;

  const Limits& limits_;
  std::optional<Refusal> problem_;
  Request request_;
  std::string_view body_;
  std::size_t fields_ = 0;
  int version_ = 11;
};

}  // namespace kube::server
