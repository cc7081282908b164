// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/text_format.hpp"

#include "testkit/cel/literal.hpp"
#include "testkit/cel/time.hpp"

#include "testkit/validation/field_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace kube::testkit::cel {

namespace {

constexpr int kDefaultPrecision = 6;
constexpr int kMostPrecision = 1000;
constexpr std::size_t kLongestText = 10U << 20;

Val wrong(std::string_view clause, std::string_view wanted, const Val& found) {
  return Val::error(
      fmt::format("error during formatting: {} clause can only be used on {}, was given {}", clause,
                  wanted, name_of(*type_of(found))));
}

std::string special(double number) {
  return std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
}

/// Formats a number like "1.5×10⁻⁰³".
std::string with_exponent(double number, int precision) {
  const std::string plain = fmt::format("{:.{}e}", number, precision);
  const std::size_t e = plain.find('e');
  static constexpr std::string_view kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = plain.substr(0, e) + "×10";
  for (std::size_t i = e + 1; i < plain.size(); ++i) {
    if (plain[i] == '-') text += "⁻";
    if (plain[i] >= '0' && plain[i] <= '9') text += kDigits[plain[i] - '0'];
  }
  return text;
}

/// A formatting clause such as %.2f, and the formatting of its argument.
class Clause {
 public:
  Clause(Meter& meter, char letter, int precision)
      : meter_(meter), letter_(letter), precision_(precision) {}

  Val run(const Val& value) const {
    if (value.is_error()) return value;
    switch (letter_) {
      case 's':
        return Val::text(shown(value, false));
      case 'd':
        return whole(value);
      case 'f':
      case 'e':
        return fraction(value);
      case 'b':
      case 'o':
        return bits(value);
      default:
        return hexadecimal(value);
    }
  }

 private:
  static Val whole(const Val& value) {
    if (value.is<std::int64_t>()) return Val::text(fmt::format("{}", value.get<std::int64_t>()));
    if (value.is<std::uint64_t>()) return Val::text(fmt::format("{}", value.get<std::uint64_t>()));
    if (value.is<double>() && !std::isfinite(value.get<double>())) {
      return Val::text(special(value.get<double>()));
    }
    return wrong("decimal", "integers", value);
  }

  Val fraction(const Val& value) const {
    const bool scientific = letter_ == 'e';
    if (!value.is<double>())
      return wrong(scientific ? "scientific" : "fixed-point", "doubles", value);
    const double number = value.get<double>();
    if (!std::isfinite(number)) return Val::text(special(number));
    const int precision = precision_ < 0 ? kDefaultPrecision : precision_;
    return Val::text(scientific ? with_exponent(number, precision)
                                : fmt::format("{:.{}f}", number, precision));
  }

  Val bits(const Val& value) const {
    const bool binary = letter_ == 'b';
    if (binary && value.is<bool>()) return Val::text(value.get<bool>() ? "1" : "0");
    if (value.is<std::int64_t>()) {
      const std::int64_t number = value.get<std::int64_t>();
      return Val::text(binary ? fmt::format("{:b}", number) : fmt::format("{:o}", number));
    }
    if (value.is<std::uint64_t>()) {
      const std::uint64_t number = value.get<std::uint64_t>();
      return Val::text(binary ? fmt::format("{:b}", number) : fmt::format("{:o}", number));
    }
    return binary ? wrong("binary", "integers and bools", value)
                  : wrong("octal", "integers", value);
  }

  Val hexadecimal(const Val& value) const {
    std::string text;
    if (value.is<std::int64_t>()) {
      text = fmt::format("{:x}", value.get<std::int64_t>());
    } else if (value.is<std::uint64_t>()) {
      text = fmt::format("{:x}", value.get<std::uint64_t>());
    } else if (value.is<Text>() || value.is<Bytes>()) {
      const std::string_view data = value.is<Text>() ? value.as_text() : *value.get<Bytes>().data;
      meter_.step(data.size() / 16);
      for (const unsigned char c : data) text += fmt::format("{:02x}", c);
    } else {
      return wrong("hex", "integers, byte buffers, and strings", value);
    }
    if (letter_ == 'X') {
      std::ranges::transform(text, text.begin(), [](char c) {
        return c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
      });
    }
    return Val::text(std::move(text));
  }

  /// Formats %s. Inside lists and maps, strings are quoted and doubles have six digits.
  std::string shown(const Val& value, bool inside) const {
    meter_.step();
    if (value.is<Text>())
      return inside ? detail::quoted_go(value.as_text()) : std::string{value.as_text()};
    if (value.is<Bytes>()) return *value.get<Bytes>().data;
    if (value.is<double>()) {
      const double number = value.get<double>();
      if (!std::isfinite(number)) return inside ? '"' + special(number) + '"' : special(number);
      return inside ? fmt::format("{:.6f}", number) : double_text(number);
    }
    if (value.is<std::uint64_t>()) return fmt::format("{}", value.get<std::uint64_t>());
    if (value.is<Timestamp>()) {
      const std::string text = timestamp_text(value.get<Timestamp>());
      return inside ? fmt::format("timestamp(\"{}\")", text) : text;
    }
    if (value.is<Duration>()) {
      const std::string text = duration_text(value.get<Duration>());
      return inside ? fmt::format("duration(\"{}\")", text) : text;
    }
    if (value.is<ListPtr>()) return list(*value.get<ListPtr>());
    if (value.is<MapPtr>()) return map(*value.get<MapPtr>());
    return to_literal(value);
  }

  std::string list(const ListData& list) const {
    std::string text = "[";
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i > 0) text += ", ";
      text += shown(list.at(i), true);
    }
    return text + ']';
  }

  std::string map(const MapData& map) const {
    std::map<std::string, std::string> entries;
    for (const Val& key : keys_of(map)) {
      const Val value = lookup(map, key);
      if (!value.is_error()) entries.emplace(shown(key, true), shown(value, true));
    }
    std::string text = "{";
    for (const auto& [key, value] : entries) {
      if (text.size() > 1) text += ", ";
      text += key + ':' + value;
    }
    return text + '}';
  }

  Meter& meter_;
  char letter_;
  int precision_;
};

/// Reads a precision such as ".12" and advances `at`. Returns -1 if there is none.
std::optional<int> precision_of(std::string_view pattern, std::size_t& at) {
  if (at >= pattern.size() || pattern[at] != '.') return -1;
  int precision = 0;
  for (++at; at < pattern.size() && pattern[at] >= '0' && pattern[at] <= '9'; ++at) {
    precision = precision * 10 + (pattern[at] - '0');
    if (precision > kMostPrecision) return std::nullopt;
  }
  return precision;
}

}  // namespace

Val format_text(Meter& meter, std::string_view pattern, const ListData& arguments) {
  std::string text;
  std::size_t next = 0;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%') {
      text += pattern[at];
      continue;
    }
    ++at;
    if (at < pattern.size() && pattern[at] == '%') {
      text += '%';
      continue;
    }
    const auto precision = precision_of(pattern, at);
    if (!precision) return Val::error("error while parsing precision: precision is too large");
    if (at >= pattern.size()) return Val::error("unexpected end of string");
    const char letter = pattern[at];
    if (std::string_view{"sdfexXob"}.find(letter) == std::string_view::npos) {
      return Val::error(fmt::format(
          "could not parse formatting clause: unrecognized formatting clause \"{}\"", letter));
    }
    if (next >= arguments.size()) return Val::error(fmt::format("index {} out of range", next));
    const Val part = Clause{meter, letter, *precision}.run(arguments.at(next++));
    if (part.is_error()) return part;
    text += part.as_text();
    meter.step(1 + part.as_text().size() / 64);
    if (text.size() > kLongestText) throw CostExceeded{};
  }
  return Val::text(std::move(text));
}

}  // namespace kube::testkit::cel
