// SPDX-License-Identifier: Apache-2.0
// Semantic versions (semver.org).
#include "testkit/cel/functions.hpp"

#include "testkit/validation/field_error.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace kube::testkit::cel {

namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}
bool is_identifier(std::string_view text) {
  static constexpr std::string_view kLetters =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-";
  return !text.empty() && text.find_first_not_of(kLetters) == std::string_view::npos;
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

struct SemverValue final : Opaque {
  [[nodiscard]] TypePtr type() const override { return opaque_type("kubernetes.Semver"); }
  [[nodiscard]] bool equals(const Opaque& other) const override {
    return order(static_cast<const SemverValue&>(other)) == 0;
  }
  /// Compares by precedence. Build metadata is ignored.
  [[nodiscard]] int order(const SemverValue& other) const;

  std::array<std::int64_t, 3> numbers = {};
  std::vector<std::string> pre;
};

int order_identifiers(const std::string& a, const std::string& b) {
  if (a == b) return 0;
  const bool numbers = is_number(a) && is_number(b);
  if (numbers && a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  if (!numbers && is_number(a) != is_number(b)) return is_number(a) ? -1 : 1;
  return a < b ? -1 : 1;
}

int SemverValue::order(const SemverValue& other) const {
  if (numbers != other.numbers) return numbers < other.numbers ? -1 : 1;
  if (pre.empty() || other.pre.empty()) {
    return pre.empty() == other.pre.empty() ? 0 : pre.empty() ? 1 : -1;
  }
  for (std::size_t i = 0; i < std::min(pre.size(), other.pre.size()); ++i) {
    if (const int found = order_identifiers(pre[i], other.pre[i]); found != 0) return found;
  }
  return pre.size() == other.pre.size() ? 0 : pre.size() < other.pre.size() ? -1 : 1;
}

/// Normalises "v1.2" to "1.2.0" and removes leading zeros.
std::string normalized(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  const std::size_t end = std::min(text.find_first_of("-+"), text.size());
  std::vector<std::string> numbers = parts_of(text.substr(0, end), '.');
  const std::string_view rest = text.substr(end);
  if (numbers.size() < 3 && rest.empty()) numbers.resize(3, "0");
  std::string made;
  for (const std::string& number : numbers) {
    const std::size_t digits = std::min(number.find_first_not_of('0'), number.size() - 1);
    if (!made.empty()) made += '.';
    made += number.empty() ? number : number.substr(digits);
  }
  return made + std::string{rest};
}

std::shared_ptr<SemverValue> parse_semver(std::string_view text, std::string& error) {
  static constexpr std::array kNames{"Major", "Minor", "Patch"};
  static constexpr std::array kLowerNames{"major", "minor", "patch"};
  auto version = std::make_shared<SemverValue>();
  const auto fail = [&](std::string why) {
    error = std::move(why);
    return nullptr;
  };
  if (text.empty()) return fail("Version string empty");
  std::string build;
  bool has_build = false;
  if (const std::size_t plus = text.find('+'); plus != std::string_view::npos) {
    build = text.substr(plus + 1);
    has_build = true;
    text = text.substr(0, plus);
  }
  const std::size_t dash = text.find('-');
  const std::string_view core = text.substr(0, dash);
  const std::vector<std::string> numbers = parts_of(core, '.');
  if (numbers.size() != 3) return fail("No Major.Minor.Patch elements found");
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string& number = numbers[i];
    if (!is_number(number)) {
      return fail(std::string{"Invalid character(s) found in "} + kLowerNames[i] + " number " +
                  detail::quoted_go(number));
    }
    if (number.size() > 1 && number[0] == '0') {
      return fail(std::string{kNames[i]} + " number must not contain leading zeroes " +
                  detail::quoted_go(number));
    }
    const auto [end, code] =
        std::from_chars(number.data(), number.data() + number.size(), version->numbers[i]);
    static_cast<void>(end);
    if (code != std::errc{}) {
      return fail("strconv.ParseUint: parsing " + detail::quoted_go(number) +
                  ": value out of range");
    }
  }
  if (dash != std::string_view::npos) version->pre = parts_of(text.substr(dash + 1), '.');
  for (const std::string& part : version->pre) {
    if (part.empty()) return fail("Prerelease is empty");
    if (!is_identifier(part))
      return fail("Invalid character(s) found in prerelease " + detail::quoted_go(part));
    if (is_number(part) && part.size() > 1 && part[0] == '0') {
      return fail("Numeric PreRelease version must not contain leading zeroes " +
                  detail::quoted_go(part));
    }
  }
  if (has_build) {
    for (const std::string& part : parts_of(build, '.')) {
      if (part.empty()) return fail("Build meta data is empty");
      if (!is_identifier(part)) {
        return fail("Invalid character(s) found in build meta data " + detail::quoted_go(part));
      }
    }
  }
  return version;
}

std::string source_of(Arguments a) {
  const bool normalize = a.size() > 1 && a[1].get<bool>();
  return normalize ? normalized(a[0].as_text()) : std::string{a[0].as_text()};
}

Val semver(Meter&, Arguments a) {
  std::string error;
  auto version = parse_semver(source_of(a), error);
  return version ? Val{OpaquePtr{std::move(version)}} : Val::error(std::move(error));
}
Val is_semver(Meter&, Arguments a) {
  std::string error;
  return parse_semver(source_of(a), error) != nullptr;
}

const SemverValue& version_of(Arguments a, std::size_t i = 0) {
  return static_cast<const SemverValue&>(*a[i].get<OpaquePtr>());
}
Val is_less(Meter&, Arguments a) { return version_of(a).order(version_of(a, 1)) < 0; }
Val is_greater(Meter&, Arguments a) { return version_of(a).order(version_of(a, 1)) > 0; }
Val compare_to(Meter&, Arguments a) { return std::int64_t{version_of(a).order(version_of(a, 1))}; }
Val major_number(Meter&, Arguments a) { return version_of(a).numbers[0]; }
Val minor_number(Meter&, Arguments a) { return version_of(a).numbers[1]; }
Val patch_number(Meter&, Arguments a) { return version_of(a).numbers[2]; }

}  // namespace

std::span<const Declaration> semver_library() {
  static constexpr Declaration kLibrary[] = {
      {"semver(string): Semver", semver, Cost::kFirst},
      {"semver(string, bool): Semver", semver, Cost::kFirst},
      {"isSemver(string): bool", is_semver, Cost::kFirst},
      {"isSemver(string, bool): bool", is_semver, Cost::kFirst},
      {"Semver->isGreaterThan(Semver): bool", is_greater},
      {"Semver->isLessThan(Semver): bool", is_less},
      {"Semver->compareTo(Semver): int", compare_to},
      {"Semver->major(): int", major_number},
      {"Semver->minor(): int", minor_number},
      {"Semver->patch(): int", patch_number},
  };
  return kLibrary;
}

}  // namespace kube::testkit::cel
