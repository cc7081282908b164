// SPDX-License-Identifier: Apache-2.0
// URLs as Go's net/url parses them, with its error messages, which rules can return. base/url.hpp
// accepts only the URLs of servers.
#include "testkit/cel/characters.hpp"
#include "testkit/cel/functions.hpp"

#include "testkit/validation/field_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace kube::testkit::cel {

namespace {

bool is_hex(char c) { return hex_digit(c) >= 0; }

struct UrlValue final : Opaque {
  [[nodiscard]] TypePtr type() const override { return opaque_type("kubernetes.URL"); }
  [[nodiscard]] bool equals(const Opaque& other) const override {
    const auto& url = static_cast<const UrlValue&>(other);
    return scheme == url.scheme && opaque == url.opaque && user == url.user && host == url.host &&
           path == url.path && query == url.query && fragment == url.fragment;
  }

  std::string scheme, opaque, user, host, path, query, fragment;
};

/// The reason why a string is not a valid URL.
struct UrlError {
  std::string why;
};

/// Throws if a percent sign does not begin a valid escape.
void check_escapes(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') continue;
    if (i + 2 < text.size() && is_hex(text[i + 1]) && is_hex(text[i + 2])) continue;
    throw UrlError{"invalid URL escape " + detail::quoted_go(text.substr(i, 3))};
  }
}

std::string unescape(std::string_view text, bool plus_is_space = false) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && is_hex(text[i + 1]) && is_hex(text[i + 2])) {
      plain += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      plain += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return plain;
}

void check_port(std::string_view port) {
  if (port.empty()) return;
  const bool fits = port[0] == ':' && std::ranges::all_of(port.substr(1), is_digit);
  if (!fits) throw UrlError{fmt::format("invalid port {} after host", detail::quoted_go(port))};
}

std::string read_host(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t close = host.rfind(']');
    if (close == std::string_view::npos) throw UrlError{"missing ']' in host"};
    check_port(host.substr(close + 1));
  } else if (const std::size_t colon = host.find(':'); colon != std::string_view::npos) {
    // Everything after the first colon must be the port.
    check_port(host.substr(colon));
  }
  check_escapes(host);
  for (const char c : host) {
    if (c == ' ' || c == '"' || c == '<' || c == '>' || c == '\\' || c == '^' || c == '`' ||
        c == '{' || c == '|' || c == '}') {
      throw UrlError{fmt::format("invalid character {} in host name",
                                 detail::quoted_go(std::string_view{&c, 1}))};
    }
  }
  return unescape(host);
}

/// Removes and returns the scheme, such as "https" of "https://..."; empty if there is none.
std::string take_scheme(std::string_view& rest) {
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (is_letter(c)) continue;
    if (is_digit(c) || c == '+' || c == '-' || c == '.') {
      if (i == 0) return {};
      continue;
    }
    if (c != ':') return {};
    if (i == 0) throw UrlError{"missing protocol scheme"};
    std::string scheme{rest.substr(0, i)};
    std::ranges::transform(scheme, scheme.begin(), [](char letter) {
      return is_letter(letter) ? static_cast<char>(letter | 0x20) : letter;
    });
    rest.remove_prefix(i + 1);
    return scheme;
  }
  return {};
}

std::shared_ptr<UrlValue> read_url(std::string_view text) {
  if (text.empty()) throw UrlError{"empty url"};
  if (std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
    throw UrlError{"net/url: invalid control character in URL"};
  }
  auto url = std::make_shared<UrlValue>();
  std::string_view rest = text;
  if (const std::size_t hash = rest.find('#'); hash != std::string_view::npos) {
    url->fragment = rest.substr(hash + 1);
    rest = rest.substr(0, hash);
  }
  url->scheme = take_scheme(rest);
  if (const std::size_t mark = rest.find('?'); mark != std::string_view::npos) {
    url->query = rest.substr(mark + 1);
    rest = rest.substr(0, mark);
  }
  if (!rest.starts_with('/')) {
    if (url->scheme.empty()) throw UrlError{"invalid URI for request"};
    url->opaque = rest;
    return url;
  }
  if (rest.starts_with("//") && (!url->scheme.empty() || !rest.starts_with("///"))) {
    rest.remove_prefix(2);
    std::string_view authority = rest.substr(0, rest.find('/'));
    rest = rest.substr(authority.size());
    if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
      url->user = authority.substr(0, at);
      authority = authority.substr(at + 1);
    }
    url->host = read_host(authority);
  }
  check_escapes(rest);
  url->path = rest;
  return url;
}

std::shared_ptr<UrlValue> parse_url(std::string_view text, std::string& error) {
  try {
    return read_url(text);
  } catch (const UrlError& failure) {
    error = fmt::format("URL parse error during conversion from string: parse {}: {}",
                        detail::quoted_go(text), failure.why);
    return nullptr;
  }
}

const UrlValue& url_of(Arguments a) { return static_cast<const UrlValue&>(*a[0].get<OpaquePtr>()); }

Val url(Meter&, Arguments a) {
  std::string error;
  auto parsed = parse_url(a[0].as_text(), error);
  return parsed ? Val{OpaquePtr{std::move(parsed)}} : Val::error(std::move(error));
}
Val is_url(Meter&, Arguments a) {
  std::string error;
  return parse_url(a[0].as_text(), error) != nullptr;
}
Val scheme(Meter&, Arguments a) { return Val::text(url_of(a).scheme); }
Val host(Meter&, Arguments a) { return Val::text(url_of(a).host); }

/// Returns the position of the port, including its colon.
std::size_t port_start(std::string_view host) {
  const std::size_t close = host.rfind(']');
  const std::size_t colon = host.find(':', close == std::string_view::npos ? 0 : close);
  return colon == std::string_view::npos ? host.size() : colon;
}
Val hostname(Meter&, Arguments a) {
  std::string_view name = url_of(a).host;
  name = name.substr(0, port_start(name));
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  return Val::text(std::string{name});
}
Val port(Meter&, Arguments a) {
  const std::string_view name = url_of(a).host;
  const std::size_t start = port_start(name);
  return Val::text(start >= name.size() ? std::string{} : std::string{name.substr(start + 1)});
}

/// Returns whether `c` needs no escape in a path. A path that was written unescaped may contain a
/// few more such characters.
bool is_plain(char c, bool written) {
  if (is_letter(c) || is_digit(c)) return true;
  if (std::string_view{"-_.~$&+/:=@"}.find(c) != std::string_view::npos) return true;
  return written && std::string_view{"!'()*,;[]%"}.find(c) != std::string_view::npos;
}
Val escaped_path(Meter&, Arguments a) {
  const std::string& path = url_of(a).path;
  if (std::ranges::all_of(path, [](char c) { return is_plain(c, true); })) return Val::text(path);
  std::string escaped;
  for (const char c : unescape(path)) {
    if (is_plain(c, false)) {
      escaped += c;
    } else {
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return Val::text(std::move(escaped));
}

Val query(Meter& meter, Arguments a) {
  std::map<std::string, std::vector<Val>> values;
  std::string_view rest = url_of(a).query;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    if (part.empty() || part.find(';') != std::string_view::npos) continue;
    meter.step();
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view value =
        equals < part.size() ? part.substr(equals + 1) : std::string_view{};
    values[unescape(part.substr(0, equals), true)].push_back(Val::text(unescape(value, true)));
  }
  auto map = std::make_shared<MapData>();
  for (auto& [name, all] : values) {
    Val key = Val::text(name);
    map->entries.emplace(key_text(key), std::pair{key, Val::list(std::move(all))});
  }
  return MapPtr{std::move(map)};
}

}  // namespace

std::span<const Declaration> url_library() {
  static constexpr Declaration kLibrary[] = {
      {"url(string): URL", url, Cost::kFirst},
      {"isURL(string): bool", is_url, Cost::kFirst},
      {"URL->getScheme(): string", scheme},
      {"URL->getHost(): string", host},
      {"URL->getHostname(): string", hostname},
      {"URL->getPort(): string", port},
      {"URL->getEscapedPath(): string", escaped_path},
      {"URL->getQuery(): map<string, list<string>>", query},
  };
  return kLibrary;
}

}  // namespace kube::testkit::cel
