// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/error.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube::detail {

/// The parts of a URL as written, neither checked nor decoded: views into its text.
struct UrlParts {
  std::optional<std::string_view> scheme;     ///< before "://"
  std::optional<std::string_view> user_info;  ///< before the last '@' of the authority
  std::string_view authority;                 ///< host and port, without the user
  std::string_view path;                      ///< empty or starting with '/'
  std::optional<std::string_view> query;      ///< after '?'
  std::optional<std::string_view> fragment;   ///< after '#'
};

/// Splits a URL, or a text that starts with its authority. Accepts any text.
[[nodiscard]] UrlParts split_url(std::string_view text) noexcept;

/// A host and a port as written, without the brackets of an IPv6 address.
struct HostAndPort {
  std::string_view host;
  std::optional<std::string_view> port;
};

/// Splits "name:port", "[::1]:port" or a host alone, which may be an IPv6 address without brackets.
/// Returns nullopt if a bracket is not closed, or is followed by anything but a port.
[[nodiscard]] std::optional<HostAndPort> split_authority(std::string_view authority) noexcept;

/// The reason why a text is not a URL. The message does not quote the text, which may contain a
/// password; the caller adds where the text comes from.
class UrlError : public Error {
 public:
  using Error::Error;
};

/// The URL of a server or proxy.
struct Url {
  /// In lower case.
  std::string scheme;
  /// Percent-decoded.
  std::string user;
  std::string password;
  /// A name or an address; IPv6 without brackets.
  std::string host;
  /// The default port of the scheme if none is written.
  int port = 0;
  /// Host and port as written, without the user.
  std::string authority;
  /// As written, without query and fragment; empty or starting with '/'.
  std::string path;

  /// The URL without the user.
  [[nodiscard]] std::string str() const { return scheme + "://" + authority + path; }
  /// "10.0.0.1:443" or "[::1]:443", always with the port.
  [[nodiscard]] std::string host_and_port() const;
  /// The value of the Host header: without the port if it is the default.
  [[nodiscard]] std::string host_header() const;
  /// True for localhost, 127.0.0.0/8 and ::1.
  [[nodiscard]] bool is_loopback() const;
};

/// Parses a URL of a scheme with a default port: http, https or SOCKS. Throws UrlError.
[[nodiscard]] Url parse_url(std::string_view text, std::string_view default_scheme);

/// Returns the URL for messages, with its password redacted.
[[nodiscard]] std::string redacted_url(std::string_view url);

/// The decoded parameters of a URL's query, in the order of the query.
class Query {
 public:
  using Parameters = std::vector<std::pair<std::string, std::string>>;

  Query() = default;
  /// Parses "a=b&c=d". A parameter with a malformed escape is left out, as in Go.
  explicit Query(std::string_view encoded);

  void add(std::string_view name, std::string_view value) { values_.emplace_back(name, value); }

  /// Returns the first value of that name; empty if there is none.
  [[nodiscard]] std::string_view text(std::string_view name) const noexcept;
  [[nodiscard]] bool has(std::string_view name) const noexcept;
  /// Returns all values of that name.
  [[nodiscard]] std::vector<std::string_view> all(std::string_view name) const;
  /// Returns a boolean parameter (RQ-5): absent, `false` and `0` are false, anything else is true.
  [[nodiscard]] bool flag(std::string_view name) const noexcept;
  [[nodiscard]] const Parameters& parameters() const noexcept { return values_; }

  /// "?a=b&c=d", sorted by name like Go's url.Values; empty without parameters.
  [[nodiscard]] std::string str() const;

 private:
  Parameters values_;
};

}  // namespace kube::detail
