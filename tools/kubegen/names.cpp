// SPDX-License-Identifier: Apache-2.0
#include "names.hpp"

#include <algorithm>

namespace kube::gen {
namespace {

// Not the functions of <cctype>, which depend on the locale.
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_alnum(char c) { return is_lower(c) || is_upper(c) || is_digit(c); }
constexpr char to_lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr char to_upper(char c) { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

std::string lower(std::string_view text) {
  std::string result{text};
  std::ranges::transform(result, result.begin(), to_lower);
  return result;
}

/// Each word has a space on both sides.
constexpr std::string_view kReservedWords =
    // keywords and alternative tokens of C++20
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t"
    " char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr"
    " constinit continue decltype default delete do double dynamic_cast else enum explicit export"
    " extern false float for friend goto if inline int long mutable namespace new noexcept not"
    " not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires"
    " return short signed sizeof static static_assert static_cast struct switch template this"
    " thread_local throw true try typedef typeid typename union unsigned using virtual void"
    " volatile wchar_t while xor xor_eq"
    // object-like macros
    " errno linux unix EOF NULL TRUE FALSE BUFSIZ INFINITY NAN"
    // generated code uses kube:: and std::
    " kube std ";

/// Prepends `fallback` if the name cannot start an identifier, and appends an underscore if it is
/// reserved.
std::string usable(std::string name, std::string_view fallback, std::string_view separator) {
  if (name.empty()) {
    name = fallback;
  } else if (is_digit(name.front())) {
    name = std::string{fallback} + std::string{separator} + name;
  }
  if (name.size() > kMaxIdentifier) name.resize(kMaxIdentifier);
  while (name.size() > 1 && name.back() == '_') name.pop_back();
  if (is_reserved_word(name)) name += '_';
  return name;
}

/// True if a word starts at `i`, which is not the first letter of `part`. `part` is alphanumeric.
bool begins_word(std::string_view part, std::size_t i) {
  const auto at = [&](std::size_t k) { return k < part.size() ? part[k] : '\0'; };
  const char before = part[i - 1];
  if (!is_upper(part[i])) return false;
  if (is_lower(before)) {
    // Go writes JSON as jSON if the name must start with a lower-case letter.
    return i != 1 || !is_upper(at(2));
  }
  const char after = at(i + 1);
  if (is_digit(before)) return true;
  // Within a run of capitals: "APIV3" is API, V3; the last capital of "CPUUsage" starts a word, but
  // not that of the plural "IPs" or of "IPv4".
  const bool in_long_run = i >= 2 && is_upper(part[i - 2]);
  if (part[i] == 'V' && is_digit(after) && in_long_run) return true;
  if (!is_lower(after)) return false;
  const bool is_plural = after == 's' && !is_lower(at(i + 2)) && !is_digit(at(i + 2));
  const bool is_version = after == 'v' && is_digit(at(i + 2));
  return !is_plural && !is_version;
}

/// Removes the words that the type name already contains: PodPending of PodPhase is Pending.
std::string without_type_words(std::string_view type, std::string_view name) {
  std::set<std::string> known{"op"};
  for (const std::string& word : split_words(type)) known.insert(lower(word));
  std::vector<std::string> words = split_words(name);
  while (words.size() > 1 && known.contains(lower(words.front()))) words.erase(words.begin());
  while (words.size() > 1 && known.contains(lower(words.back()))) words.pop_back();
  std::string result;
  for (const std::string& word : words) result += word;
  return result;
}

/// Returns the part of `name` that spells `value` and consists of whole words; empty if there is
/// none.
std::string part_that_spells(std::string_view name, std::string_view value) {
  std::string wanted;
  for (const char c : value) {
    if (is_alnum(c)) wanted += to_lower(c);
  }
  if (wanted.empty()) return {};
  const std::vector<std::string> words = split_words(name);
  for (std::size_t first = 0; first < words.size(); ++first) {
    std::string part;
    for (std::size_t i = first; i < words.size() && part.size() < wanted.size(); ++i) {
      part += words[i];
      if (lower(part) == wanted) return part;
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> split_words(std::string_view name) {
  std::vector<std::string> words;
  std::size_t i = 0;
  while (i < name.size()) {
    if (!is_alnum(name[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < name.size() && is_alnum(name[end])) ++end;
    const std::string_view part = name.substr(i, end - i);
    words.emplace_back(1, part[0]);
    for (std::size_t k = 1; k < part.size(); ++k) {
      if (begins_word(part, k)) words.emplace_back();
      words.back() += part[k];
    }
    i = end;
  }
  return words;
}

std::string snake_case(std::string_view name) {
  std::string result;
  for (const std::string& word : split_words(name)) {
    if (!result.empty()) result += '_';
    result += lower(word);
  }
  return result;
}

std::string camel_case(std::string_view name) {
  std::string result;
  for (const std::string& word : split_words(name)) {
    result += to_upper(word.front());
    result.append(word, 1);
  }
  return result;
}

bool is_reserved_word(std::string_view identifier) {
  return kReservedWords.find(' ' + std::string{identifier} + ' ') != std::string_view::npos;
}

bool is_identifier(std::string_view text) {
  return !text.empty() && !is_digit(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_alnum(c) || c == '_'; });
}

std::string member_name(std::string_view name, std::string_view fallback) {
  return usable(snake_case(name), fallback, "_");
}

std::string type_name(std::string_view name, std::string_view fallback) {
  return usable(camel_case(name), fallback, "");
}

std::string version_name(std::string_view version) {
  std::string result;
  for (const char c : version) {
    if (is_alnum(c)) {
      result += to_lower(c);
    } else if (!result.empty() && result.back() != '_') {
      result += '_';
    }
  }
  return usable(std::move(result), "v", "");
}

std::string Scope::add(std::string_view name, std::string_view separator) {
  std::string candidate{name};
  const std::string stem = candidate + (candidate.ends_with('_') ? "" : std::string{separator});
  for (int number = 2; !taken_.insert(candidate).second; ++number) {
    candidate = stem + std::to_string(number);
  }
  return candidate;
}

std::vector<std::string> constant_names(std::string_view type,
                                        const std::vector<std::string>& names,
                                        const std::vector<std::string>& values) {
  std::vector<std::string> result;
  std::set<std::pair<std::string, std::string>> seen;
  Scope scope;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string name = part_that_spells(names[i], values[i]);
    if (name.empty() || (scope.contains(name) && !seen.contains({name, values[i]}))) {
      name = without_type_words(type, names[i]);
    }
    name = camel_case(name);
    if (name.empty()) name = "Value";
    if (name.size() > kMaxIdentifier) name.resize(kMaxIdentifier);
    if (!seen.insert({name, values[i]}).second) {
      result.emplace_back();
      continue;
    }
    result.push_back(scope.add(name, "_"));
  }
  return result;
}

}  // namespace kube::gen
