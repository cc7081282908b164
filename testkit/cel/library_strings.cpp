// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/functions.hpp"
#include "testkit/cel/source.hpp"
#include "testkit/cel/text_format.hpp"

#include "testkit/validation/field_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace kube::testkit::cel {

namespace {

using Int = std::int64_t;

/// Upper limit for computed strings. No API object can hold a longer one.
constexpr std::size_t kLongestText = 10U << 20;

Val out_of_range(Int index) { return Val::error(fmt::format("index out of range: {}", index)); }

Val has_part(Meter&, Arguments a) {
  return a[0].as_text().find(a[1].as_text()) != std::string_view::npos;
}
Val has_start(Meter&, Arguments a) { return a[0].as_text().starts_with(a[1].as_text()); }
Val has_end(Meter&, Arguments a) { return a[0].as_text().ends_with(a[1].as_text()); }

/// Runs `search` with the second argument, compiled as a regular expression.
template <typename Search>
Val with_pattern(Meter& meter, Arguments a, Search search) {
  try {
    return search(meter.pattern(a[1].as_text()));
  } catch (const std::invalid_argument& error) {
    return Val::error(fmt::format("error parsing regexp: {}", error.what()));
  } catch (const detail::PatternTooComplex&) {
    throw CostExceeded{};
  }
}

Val matches(Meter& meter, Arguments a) {
  return with_pattern(meter, a, [&](const detail::Pattern& pattern) {
    return Val{pattern.find_in(a[0].as_text()).has_value()};
  });
}

Val find(Meter& meter, Arguments a) {
  return with_pattern(meter, a, [&](const detail::Pattern& pattern) {
    const auto found = pattern.find_in(a[0].as_text());
    return Val::text(found ? std::string{a[0].as_text().substr(found->begin, found->size)}
                           : std::string{});
  });
}

Val find_all(Meter& meter, Arguments a) {
  return with_pattern(meter, a, [&](const detail::Pattern& pattern) {
    const std::string_view text = a[0].as_text();
    const Int limit = a.size() > 2 ? a[2].get<Int>() : -1;
    std::vector<Val> all;
    std::size_t at = 0;
    while (at <= text.size() && (limit < 0 || static_cast<Int>(all.size()) < limit)) {
      meter.step(1 + (text.size() - at) / 16);
      const auto found = pattern.find_in(text, at);
      if (!found) break;
      all.push_back(Val::text(std::string{text.substr(found->begin, found->size)}));
      at = found->begin + std::max<std::size_t>(found->size, 1);
    }
    return Val::list(std::move(all));
  });
}

Val char_at(Meter&, Arguments a) {
  const std::string_view text = a[0].as_text();
  const auto starts = code_point_starts(text);
  const Int index = a[1].get<Int>();
  if (index < 0 || static_cast<std::size_t>(index) >= starts.size()) return out_of_range(index);
  const auto i = static_cast<std::size_t>(index);
  if (i + 1 == starts.size()) return Val::text("");
  return Val::text(std::string{text.substr(starts[i], starts[i + 1] - starts[i])});
}

/// Converts a byte offset to an offset in code points.
Int place(std::string_view text, std::size_t byte) {
  return byte == std::string_view::npos ? -1 : static_cast<Int>(code_points(text.substr(0, byte)));
}

Val index_of(Meter&, Arguments a) {
  const std::string_view text = a[0].as_text();
  const auto starts = code_point_starts(text);
  const Int from = a.size() > 2 ? a[2].get<Int>() : 0;
  if (from < 0) return out_of_range(from);
  if (static_cast<std::size_t>(from) >= starts.size()) return Int{-1};
  return place(text, text.find(a[1].as_text(), starts[static_cast<std::size_t>(from)]));
}

Val last_index_of(Meter&, Arguments a) {
  const std::string_view text = a[0].as_text();
  const auto starts = code_point_starts(text);
  if (a.size() == 2) return place(text, text.rfind(a[1].as_text()));
  const Int from = a[2].get<Int>();
  if (from < 0) return out_of_range(from);
  if (static_cast<std::size_t>(from) >= starts.size()) return Int{-1};
  return place(text, text.rfind(a[1].as_text(), starts[static_cast<std::size_t>(from)]));
}

Val lower_ascii(Meter&, Arguments a) {
  std::string text{a[0].as_text()};
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return Val::text(std::move(text));
}

Val upper_ascii(Meter&, Arguments a) {
  std::string text{a[0].as_text()};
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return Val::text(std::move(text));
}

Val replace(Meter& meter, Arguments a) {
  const std::string_view text = a[0].as_text();
  const std::string_view old = a[1].as_text();
  const std::string_view next = a[2].as_text();
  Int left = a.size() > 3 ? a[3].get<Int>() : -1;
  std::string made;
  const auto append = [&](std::string_view part) {
    if (made.size() + part.size() > kLongestText) throw CostExceeded{};
    meter.step(1 + part.size() / 64);
    made += part;
  };
  std::size_t at = 0;
  const auto starts = old.empty() ? code_point_starts(text) : std::vector<std::uint32_t>{};
  for (std::size_t i = 0; left != 0; ++i, --left) {
    // The empty string matches before each character and at the end.
    const std::size_t found =
        old.empty() ? (i < starts.size() ? starts[i] : std::string_view::npos) : text.find(old, at);
    if (found == std::string_view::npos) break;
    append(text.substr(at, found - at));
    append(next);
    at = found + old.size();
  }
  append(text.substr(at));
  return Val::text(std::move(made));
}

Val split(Meter& meter, Arguments a) {
  const std::string_view text = a[0].as_text();
  const std::string_view separator = a[1].as_text();
  const Int limit = a.size() > 2 ? a[2].get<Int>() : -1;
  std::vector<Val> parts;
  if (limit == 0) return Val::list({});
  const auto full = [&] { return limit > 0 && static_cast<Int>(parts.size()) + 1 >= limit; };
  const auto add = [&](std::string_view part) {
    meter.step();
    parts.push_back(Val::text(std::string{part}));
  };
  if (separator.empty()) {
    const auto starts = code_point_starts(text);
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
      if (full()) {
        add(text.substr(starts[i]));
        break;
      }
      add(text.substr(starts[i], starts[i + 1] - starts[i]));
    }
    return Val::list(std::move(parts));
  }
  std::size_t at = 0;
  for (std::size_t found = 0; !full(); at = found + separator.size()) {
    found = text.find(separator, at);
    if (found == std::string_view::npos) break;
    add(text.substr(at, found - at));
  }
  add(text.substr(at));
  return Val::list(std::move(parts));
}

Val substring(Meter&, Arguments a) {
  const std::string_view text = a[0].as_text();
  const auto starts = code_point_starts(text);
  const Int last = static_cast<Int>(starts.size()) - 1;
  const Int begin = a[1].get<Int>();
  const Int end = a.size() > 2 ? a[2].get<Int>() : last;
  if (a.size() > 2 && begin > end) {
    return Val::error(fmt::format("invalid substring range. start: {}, end: {}", begin, end));
  }
  if (begin < 0 || begin > last) return out_of_range(begin);
  if (end < 0 || end > last) return out_of_range(end);
  const std::size_t first = starts[static_cast<std::size_t>(begin)];
  return Val::text(std::string{text.substr(first, starts[static_cast<std::size_t>(end)] - first)});
}

Val trim(Meter&, Arguments a) {
  std::string_view text = a[0].as_text();
  // Includes the Unicode space characters.
  static constexpr std::string_view kSpaces[] = {" ",
                                                 "\t",
                                                 "\n",
                                                 "\v",
                                                 "\f",
                                                 "\r",
                                                 "\xc2\x85",
                                                 "\xc2\xa0",
                                                 "\xe1\x9a\x80",
                                                 "\xe2\x80\x80",
                                                 "\xe2\x80\x81",
                                                 "\xe2\x80\x82",
                                                 "\xe2\x80\x83",
                                                 "\xe2\x80\x84",
                                                 "\xe2\x80\x85",
                                                 "\xe2\x80\x86",
                                                 "\xe2\x80\x87",
                                                 "\xe2\x80\x88",
                                                 "\xe2\x80\x89",
                                                 "\xe2\x80\x8a",
                                                 "\xe2\x80\xa8",
                                                 "\xe2\x80\xa9",
                                                 "\xe2\x80\xaf",
                                                 "\xe2\x81\x9f",
                                                 "\xe3\x80\x80"};
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view space : kSpaces) {
      if (text.starts_with(space)) {
        text.remove_prefix(space.size());
        found = true;
      }
      if (text.ends_with(space)) {
        text.remove_suffix(space.size());
        found = true;
      }
    }
  }
  return Val::text(std::string{text});
}

Val join(Meter& meter, Arguments a) {
  const ListData& list = *a[0].get<ListPtr>();
  const std::string_view separator = a.size() > 1 ? a[1].as_text() : std::string_view{};
  std::string made;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Val element = list.at(i);
    if (element.is_error()) return element;
    if (!element.is<Text>()) return Val::error("no such overload");
    if (i > 0) made += separator;
    made += element.as_text();
    meter.step(1 + (element.as_text().size() + separator.size()) / 64);
    if (made.size() > kLongestText) throw CostExceeded{};
  }
  return Val::text(std::move(made));
}

Val quote(Meter&, Arguments a) { return Val::text(detail::quoted_go(a[0].as_text())); }

/// Escapes a key for the path of a JSON patch.
Val escape_key(Meter& /*meter*/, Arguments a) {
  std::string escaped;
  for (const char c : a[0].as_text()) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return Val::text(std::move(escaped));
}

Val format(Meter& meter, Arguments a) {
  return format_text(meter, a[0].as_text(), *a[1].get<ListPtr>());
}

}  // namespace

std::span<const Declaration> string_library() {
  static constexpr Declaration kLibrary[] = {
      {"string->contains(string): bool", has_part, Cost::kProduct},
      {"string->startsWith(string): bool", has_start, Cost::kFirst},
      {"string->endsWith(string): bool", has_end, Cost::kFirst},
      {"string->matches(string): bool", matches, Cost::kRegex},
      {"matches(string, string): bool", matches, Cost::kRegex},
      {"string->find(string): string", find, Cost::kRegex},
      {"string->findAll(string): list<string>", find_all, Cost::kRegex},
      {"string->findAll(string, int): list<string>", find_all, Cost::kRegex},
      {"string->charAt(int): string", char_at, Cost::kFirst},
      {"string->indexOf(string): int", index_of, Cost::kProduct},
      {"string->indexOf(string, int): int", index_of, Cost::kProduct},
      {"string->lastIndexOf(string): int", last_index_of, Cost::kProduct},
      {"string->lastIndexOf(string, int): int", last_index_of, Cost::kProduct},
      {"string->lowerAscii(): string", lower_ascii, Cost::kFirst},
      {"string->upperAscii(): string", upper_ascii, Cost::kFirst},
      {"string->replace(string, string): string", replace, Cost::kFirst},
      {"string->replace(string, string, int): string", replace, Cost::kFirst},
      {"string->split(string): list<string>", split, Cost::kFirst},
      {"string->split(string, int): list<string>", split, Cost::kFirst},
      {"string->substring(int): string", substring, Cost::kFirst},
      {"string->substring(int, int): string", substring, Cost::kFirst},
      {"string->trim(): string", trim, Cost::kFirst},
      {"list<string>->join(): string", join, Cost::kFirst},
      {"list<string>->join(string): string", join, Cost::kFirst},
      {"strings.quote(string): string", quote, Cost::kFirst},
      {"string->format(list<dyn>): string", format, Cost::kFirst},
      {"jsonpatch.escapeKey(string): string", escape_key, Cost::kFirst},
  };
  return kLibrary;
}

}  // namespace kube::testkit::cel
