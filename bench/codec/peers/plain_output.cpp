// SPDX-License-Identifier: Apache-2.0
#include "schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <stdexcept>

namespace kube::bench {
namespace {

using namespace std::string_view_literals;

std::string member_name(const PeerField& field) {
  constexpr std::array kKeywords = {"namespace"sv, "operator"sv, "default"sv,
                                    "continue"sv,  "export"sv,   "signed"sv};
  const bool clashes = std::ranges::find(kKeywords, field.json) != kKeywords.end();
  return clashes ? field.json + '_' : field.json;
}

std::string element_type(const PeerField& field) {
  static const std::map<std::string, std::string, std::less<>> kNames = {
      {"bool", "bool"},          {"int32", "std::int32_t"},
      {"int64", "std::int64_t"}, {"string", "std::string"},
      {"time", "Time"},          {"quantity", "Quantity"},
      {"fields_v1", "FieldsV1"}, {"int_or_string", "IntOrString"},
  };
  if (field.is_message) return field.element;
  const auto found = kNames.find(field.element);
  if (found == kNames.end()) throw std::runtime_error("no C++ type for " + field.element);
  return found->second;
}

std::string member_type(const PeerField& field) {
  const std::string element = element_type(field);
  switch (field.shape) {
    case PeerField::Shape::kPointer:
      if (field.element == "time") return element;  // has its own absent value
      return (field.is_message ? "Box<" : "std::optional<") + element + ">";
    case PeerField::Shape::kList:
      return fmt::format("std::vector<{}>", element);
    case PeerField::Shape::kMap:
      return fmt::format("std::map<std::string, {}>", element);
    case PeerField::Shape::kPlain:
      break;
  }
  return element;
}

// Calls `see` for each field; fields of inline structs are visited in place, because JSON has no
// level for them.
void for_each_member(const std::vector<PeerMessage>& messages, const PeerMessage& message,
                     const std::function<void(const PeerField&)>& see) {
  for (const PeerField& field : message.fields) {
    if (field.is_inline) {
      const auto part = std::ranges::find(messages, field.element, &PeerMessage::name);
      for_each_member(messages, *part, see);
    } else {
      see(field);
    }
  }
}

}  // namespace

std::string plain_header(const std::vector<PeerMessage>& messages) {
  std::string out = R"(// Generated from the schema by make_peers. Do not edit.
#pragma once

#include "plain_support.hpp"

namespace kube::bench::plain {
)";
  for (const PeerMessage& message : messages) {
    out += fmt::format("\nstruct {} {{\n", message.name);
    for_each_member(messages, message, [&](const PeerField& field) {
      out += fmt::format("  {} {}{{}};\n", member_type(field), member_name(field));
    });
    out += fmt::format(
        "\n  friend bool operator==(const {0}&, const {0}&) = default;\n}};\n"
        "void from_json(const Json& json, {0}& value);\nvoid to_json(Json& json, const {0}& "
        "value);\n",
        message.name);
  }
  return out + "\n}  // namespace kube::bench::plain\n";
}

std::string plain_source(const std::vector<PeerMessage>& messages) {
  std::string out = R"(// Generated from the schema by make_peers. Do not edit.
#include "plain_pod.hpp"

namespace kube::bench::plain {
)";
  for (const PeerMessage& message : messages) {
    std::string reading;
    std::string writing;
    for_each_member(messages, message, [&](const PeerField& field) {
      const std::string member = member_name(field);
      reading += fmt::format("  read(json, \"{}\", value.{});\n", field.json, member);
      // Go never omits a struct that is not a pointer, such as a time.
      const bool is_struct = field.shape == PeerField::Shape::kPlain &&
                             (field.is_message || field.element == "time" ||
                              field.element == "quantity" || field.element == "int_or_string");
      const bool omits = field.omit_zero || (field.omit_empty && !is_struct) ||
                         (field.shape == PeerField::Shape::kPointer);
      writing += fmt::format("  write{}(json, \"{}\", value.{});\n", omits ? "_unless_empty" : "",
                             field.json, member);
    });
    out += fmt::format(
        "\nvoid from_json([[maybe_unused]] const Json& json, [[maybe_unused]] {0}& value) "
        "{{\n{1}}}\n"
        "void to_json(Json& json, [[maybe_unused]] const {0}& value) {{\n  json = "
        "Json::object();\n{2}}}\n",
        message.name, reading, writing);
  }
  return out + "\n}  // namespace kube::bench::plain\n";
}

std::string plain_reader(const std::vector<PeerMessage>& messages) {
  std::string declarations;
  std::string definitions;
  for (const PeerMessage& message : messages) {
    std::string branches;
    for_each_member(messages, message, [&](const PeerField& field) {
      branches += fmt::format("    {}if (key == \"{}\") parse_member(json, value.{});\n",
                              branches.empty() ? "" : "else ", field.json, member_name(field));
    });
    declarations += fmt::format("void parse(OnDemand object, {}& value);\n", message.name);
    definitions += fmt::format(
        "\nvoid parse(OnDemand object, [[maybe_unused]] {}& value) {{\n"
        "  for (auto member : object.get_object()) {{\n"
        "    [[maybe_unused]] const std::string_view key = member.unescaped_key();\n"
        "    [[maybe_unused]] OnDemand json = member.value();\n{}  }}\n}}\n",
        message.name, branches);
  }
  return fmt::format(R"(// Generated from the schema by make_peers. Do not edit.
#include "plain_reader.hpp"

#include "plain_pod.hpp"

#include <simdjson.h>

namespace kube::bench::plain {{
using OnDemand = simdjson::ondemand::value;
{}}}  // namespace kube::bench::plain

#include "plain_reader_support.hpp"

namespace kube::bench::plain {{
{}
struct PlainReader::State {{
  simdjson::ondemand::parser parser;
  std::string buffer;
}};

PlainReader::PlainReader() : state_(std::make_unique<State>()) {{}}
PlainReader::PlainReader(PlainReader&&) noexcept = default;
PlainReader& PlainReader::operator=(PlainReader&&) noexcept = default;
PlainReader::~PlainReader() = default;

void PlainReader::read(std::string_view document, Pod& pod) {{
  // simdjson reads a few bytes beyond the end.
  state_->buffer.reserve(document.size() + simdjson::SIMDJSON_PADDING);
  state_->buffer.assign(document);
  auto parsed = state_->parser.iterate(state_->buffer);
  OnDemand root = parsed.get_value();
  parse(root, pod);
}}

}}  // namespace kube::bench::plain
)",
                     declarations, definitions);
}

}  // namespace kube::bench
