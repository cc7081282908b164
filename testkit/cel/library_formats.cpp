// SPDX-License-Identifier: Apache-2.0
// The named formats of Kubernetes: format.dns1123Label().validate(text).
#include "testkit/cel/functions.hpp"

#include "testkit/validation/name_rules.hpp"
#include "testkit/validation/string_formats.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

namespace kube::testkit::cel {

namespace {

using detail::Problems;

struct Format {
  const char* name;
  Problems (*problems)(std::string_view text);
};

/// Validates a generateName prefix. It may end in a dash because a suffix is appended to it.
template <Problems (*Rule)(std::string_view)>
Problems of_prefix(std::string_view text) {
  std::string masked{text};
  if (masked.size() > 1 && masked.back() == '-') masked[masked.size() - 1] = 'a';
  return Rule(masked);
}

Problems unless(bool fits, std::string problem) {
  return fits ? Problems{} : Problems{std::move(problem)};
}

/// Returns the error of url() without the prefix that all its errors have in common.
Problems uri_problems(std::string_view text) {
  Meter meter{UINT64_MAX};
  const Val argument[] = {Val::view(text)};
  const Val parsed = find_functions("url")->front().run(meter, Arguments{argument});
  if (!parsed.is_error()) return {};
  const std::string& message = parsed.message();
  return {message.substr(std::min(message.size(), message.find("parse \"")))};
}

constexpr std::array kFormats{
    Format{"dns1123Label", detail::dns1123_label_problems},
    Format{"dns1123Subdomain", detail::dns1123_subdomain_problems},
    Format{"dns1035Label", detail::dns1035_label_problems},
    Format{"qualifiedName", detail::qualified_name_problems},
    Format{"dns1123LabelPrefix", of_prefix<detail::dns1123_label_problems>},
    Format{"dns1123SubdomainPrefix", of_prefix<detail::dns1123_subdomain_problems>},
    Format{"dns1035LabelPrefix", of_prefix<detail::dns1035_label_problems>},
    Format{"labelValue", detail::label_value_problems},
    Format{"uri", uri_problems},
    Format{"uuid",
           [](std::string_view text) {
             return unless(detail::has_format("uuid", text), "does not match the UUID format");
           }},
    Format{"byte",
           [](std::string_view text) {
             return unless(detail::has_format("byte", text), "invalid base64");
           }},
    Format{"date",
           [](std::string_view text) {
             return unless(detail::has_format("date", text), "invalid date");
           }},
    Format{"datetime",
           [](std::string_view text) {
             return unless(detail::has_format("datetime", text), "invalid datetime");
           }},
};

struct FormatValue final : Opaque {
  explicit FormatValue(const Format& given) : format(given) {}
  [[nodiscard]] TypePtr type() const override { return opaque_type("kubernetes.NamedFormat"); }
  [[nodiscard]] bool equals(const Opaque& other) const override {
    return &format == &static_cast<const FormatValue&>(other).format;
  }
  const Format& format;
};

Val make(const Format& format) { return OpaquePtr{std::make_shared<FormatValue>(format)}; }

Val named(Meter&, Arguments a) {
  for (const Format& format : kFormats) {
    if (a[0].as_text() == format.name) return Val::some(make(format));
  }
  return Val::none();
}

template <std::size_t Index>
Val constant(Meter&, Arguments) {
  return make(kFormats[Index]);
}

Val validate(Meter&, Arguments a) {
  const auto& format = static_cast<const FormatValue&>(*a[0].get<OpaquePtr>()).format;
  std::vector<Val> problems;
  for (std::string& problem : format.problems(a[1].as_text())) {
    problems.push_back(Val::text(std::move(problem)));
  }
  return problems.empty() ? Val::none() : Val::some(Val::list(std::move(problems)));
}

template <std::size_t... Index>
std::vector<Declaration> declarations(std::index_sequence<Index...>) {
  static const std::array kSignatures{fmt::format("format.{}(): Format", kFormats[Index].name)...};
  return {{"format.named(string): optional<Format>", named},
          {"Format->validate(string): optional<list<string>>", validate, Cost::kBoth},
          {kSignatures[Index].c_str(), constant<Index>}...};
}

}  // namespace

std::span<const Declaration> format_library() {
  static const std::vector<Declaration> kLibrary =
      declarations(std::make_index_sequence<kFormats.size()>{});
  return kLibrary;
}

}  // namespace kube::testkit::cel
