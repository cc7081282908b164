// SPDX-License-Identifier: Apache-2.0
#include "testkit/validation/string_formats.hpp"

#include <kube/api/time_text.hpp>
#include <kube/api/validation.hpp>

#include <arpa/inet.h>

#include <boost/regex.hpp>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <stdexcept>

namespace kube::testkit::detail {

struct Pattern::Compiled {
  boost::regex regex;
};

namespace {

/// Rejects syntax that this regex library accepts and Go's does not: lookaround, backreferences and
/// possessive repetition.
void refuse_foreign_syntax(std::string_view expression) {
  bool in_class = false;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    const char next = i + 1 < expression.size() ? expression[i + 1] : '\0';
    if (c == '\\') {
      if (!in_class && next >= '1' && next <= '9') {
        throw std::invalid_argument("invalid escape sequence: `\\" + std::string{next} + "`");
      }
      ++i;
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      // A closing bracket in first position is a literal.
      if (next == '^') ++i;
      if (i + 1 < expression.size() && expression[i + 1] == ']') ++i;
    } else if (c == '(' && next == '?') {
      const std::string_view group = expression.substr(i);
      for (const char* foreign : {"(?=", "(?!", "(?<=", "(?<!", "(?>", "(?#", "(?(", "(?|"}) {
        if (!group.starts_with(foreign)) continue;
        throw std::invalid_argument("invalid or unsupported Perl syntax: `" + std::string{foreign} +
                                    "`");
      }
    } else if ((c == '*' || c == '+' || c == '?' || c == '}') && next == '+') {
      throw std::invalid_argument("invalid nested repetition operator: `" + std::string{c} + "+`");
    }
  }
}

}  // namespace

Pattern::Pattern(std::string_view expression) {
  refuse_foreign_syntax(expression);
  // Go writes named groups as (?P<name>), and has \z but not \Z.
  std::string text{expression};
  for (std::size_t at = 0; (at = text.find("(?P<", at)) != std::string::npos;)
    text.erase(at + 2, 1);
  try {
    compiled_ = std::make_shared<Compiled>(Compiled{
        boost::regex{text, boost::regex::perl | boost::regex::no_mod_m | boost::regex::no_mod_s}});
  } catch (const boost::regex_error& error) {
    throw std::invalid_argument(error.what());
  }
}

bool Pattern::found_in(std::string_view text) const {
  try {
    return boost::regex_search(
        text.begin(), text.end(), compiled_->regex,
        boost::match_any | boost::match_not_dot_newline | boost::match_single_line);
  } catch (const std::runtime_error&) {  // too many steps
    return false;
  }
}

std::optional<Pattern::Match> Pattern::find_in(std::string_view text, std::size_t from) const {
  boost::match_results<std::string_view::const_iterator> found;
  auto flags = boost::match_default | boost::match_not_dot_newline | boost::match_single_line;
  if (from > 0) flags |= boost::match_prev_avail;
  try {
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(from);
    if (!boost::regex_search(begin, text.end(), found, compiled_->regex, flags))
      return std::nullopt;
  } catch (const std::runtime_error&) {
    throw PatternTooComplex{};
  }
  return Match{static_cast<std::size_t>(found[0].first - text.begin()),
               static_cast<std::size_t>(found[0].length())};
}

namespace {

bool is_address(int family, std::string_view text) {
  unsigned char address[16];
  return inet_pton(family, std::string{text}.c_str(), address) == 1 &&
         text.find('\0') == std::string_view::npos;
}

bool is_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view size = text.substr(slash + 1);
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), bits);
  if (error != std::errc{} || end != size.data() + size.size()) return false;
  const std::string_view address = text.substr(0, slash);
  return (bits <= 32 && is_address(AF_INET, address)) ||
         (bits <= 128 && is_address(AF_INET6, address));
}

bool is_date(std::string_view text) {
  return text.size() == 10 &&
         time_text::parse_seconds(std::string{text} + "T00:00:00Z").has_value();
}

bool is_hostname(std::string_view text) {
  static const Pattern kPattern{
      "^([a-zA-Z0-9](-?[a-zA-Z0-9]{0,62})?|([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\\.)+[a-zA-"
      "Z]{2,63})$"};
  return text.size() <= 255 && kPattern.found_in(text);
}

bool is_uri(std::string_view text) {
  static const Pattern kPattern{"^([a-zA-Z][a-zA-Z0-9+.-]*:|/)[^\\s\\x00-\\x1f\\x7f]*$"};
  return kPattern.found_in(text);
}

bool is_email(std::string_view text) {
  static const Pattern kPattern{"^([^<>@]*<)?[^\\s<>@,;:]+@[^\\s<>@,;]+>?$"};
  return kPattern.found_in(text) &&
         (text.find('<') == std::string_view::npos) == (text.find('>') == std::string_view::npos);
}

template <typename Text>
auto matches(Text expression) {
  return [pattern = Pattern{expression}](std::string_view text) { return pattern.found_in(text); };
}

bool is_base64(std::string_view text) {
  static const Pattern kPattern{"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"};
  return text.size() % 4 == 0 && kPattern.found_in(text);
}

using Check = std::function<bool(std::string_view)>;

const std::map<std::string, Check, std::less<>>& formats() {
  const Check anything = [](std::string_view) { return true; };
  static const std::map<std::string, Check, std::less<>> kKnown{
      {"bsonobjectid", anything},
      {"byte", is_base64},
      {"cidr", is_cidr},
      {"creditcard", anything},
      {"date", is_date},
      {"datetime", [](std::string_view text) { return time_text::parse_micros(text).has_value(); }},
      {"duration",
       [](std::string_view text) { return time_text::parse_duration(text).has_value(); }},
      {"email", is_email},
      {"hexcolor", matches("^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$")},
      {"hostname", is_hostname},
      {"ipv4", [](std::string_view text) { return is_address(AF_INET, text); }},
      {"ipv6", [](std::string_view text) { return is_address(AF_INET6, text); }},
      {"isbn", anything},
      {"isbn10", anything},
      {"isbn13", anything},
      {"k8slongname", validation::is_dns1123_subdomain},
      {"k8sshortname", validation::is_dns1123_label},
      {"mac",
       matches("^([0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}|[0-9a-fA-F]{4}(\\.[0-9a-fA-F]{4}){2})$")},
      {"password", anything},
      {"rgbcolor", anything},
      {"ssn", anything},
      {"uri", is_uri},
      {"uuid", matches("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$")},
      {"uuid3", matches("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$")},
      {"uuid4",
       matches("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$")},
      {"uuid5",
       matches("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$")},
  };
  return kKnown;
}

std::string normalized(std::string_view format) {
  std::string name{format};
  std::erase(name, '-');
  return name;
}

}  // namespace

bool is_known_format(std::string_view format) { return formats().contains(normalized(format)); }

bool has_format(std::string_view format, std::string_view text) {
  const auto found = formats().find(normalized(format));
  return found == formats().end() || found->second(text);
}

}  // namespace kube::testkit::detail
