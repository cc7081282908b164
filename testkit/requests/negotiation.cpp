// SPDX-License-Identifier: Apache-2.0
#include "testkit/requests/negotiation.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "testkit/requests/failures.hpp"

namespace kube::testkit::detail {

namespace {

using kube::detail::lower_case;
using kube::detail::trimmed;

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kYaml = "application/yaml";
constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";

std::string_view cut(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return trimmed(part, kube::detail::kBlank);
}

std::optional<Format> format_of(std::string_view type) {
  if (type == kJson || type == "*/*") return Format::kJson;
  if (type == kYaml) return Format::kYaml;
  if (type == kProtobuf) return Format::kProtobuf;
  return std::nullopt;
}

std::string_view accepted_types(const Offer& offer) {
  if (offer.watch) {
    return offer.custom
               ? "application/json;stream=watch"
               : "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
  }
  return offer.custom ? "application/json, application/yaml"
                      : "application/json, application/yaml, application/vnd.kubernetes.protobuf";
}

/// Returns the transform that a clause requests; nullopt if it is not supported.
std::optional<Transform> transform_of(const MediaType& clause, const Offer& offer) {
  const std::string_view as = clause.parameter("as");
  const std::string_view group = clause.parameter("g");
  const std::string_view version = clause.parameter("v");
  if (as.empty() && group.empty() && version.empty()) return Transform::kNone;
  if (offer.discovery && as == "APIGroupDiscoveryList" && group == "apidiscovery.k8s.io" &&
      version == "v2") {
    return Transform::kDiscovery;
  }
  if (!offer.transforms || group != "meta.k8s.io" || (version != "v1" && version != "v1beta1")) {
    return std::nullopt;
  }
  if (as == "Table") return Transform::kTable;
  if (as == "PartialObjectMetadata") return Transform::kPartial;
  if (as == "PartialObjectMetadataList") return Transform::kPartialList;
  return std::nullopt;
}

}  // namespace

std::string_view Output::content_type() const noexcept {
  switch (format) {
    case Format::kYaml:
      return kYaml;
    case Format::kProtobuf:
      return kProtobuf;
    case Format::kJson:
      break;
  }
  return kJson;
}

std::string_view MediaType::parameter(std::string_view name) const noexcept {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return {};
}

MediaType parse_media_type(std::string_view text) {
  MediaType media;
  media.type = lower_case(cut(text, ';'));
  while (!text.empty()) {
    std::string_view parameter = cut(text, ';');
    const std::string name = lower_case(cut(parameter, '='));
    if (parameter.size() >= 2 && parameter.front() == '"' && parameter.back() == '"') {
      parameter = parameter.substr(1, parameter.size() - 2);
    }
    if (name == "q") {
      media.quality = std::strtod(std::string{parameter}.c_str(), nullptr);
    } else if (!name.empty()) {
      media.parameters.emplace_back(name, parameter);
    }
  }
  return media;
}

std::vector<MediaType> parse_accept(std::string_view text) {
  std::vector<MediaType> clauses;
  while (!text.empty()) {
    const std::string_view clause = cut(text, ',');
    if (!clause.empty()) clauses.push_back(parse_media_type(clause));
  }
  std::ranges::stable_sort(clauses, std::ranges::greater{}, &MediaType::quality);
  return clauses;
}

Output negotiate(std::string_view accept, const Offer& offer) {
  std::vector<MediaType> clauses = parse_accept(accept);
  if (clauses.empty()) clauses.push_back({"*/*", {}, 1});
  bool any_known = false;
  for (const MediaType& clause : clauses) {
    std::optional<Format> format = format_of(clause.type);
    if (!format && offer.custom && clause.type == "application/*") format = Format::kJson;
    any_known = any_known || format;
    const std::optional<Transform> transform = transform_of(clause, offer);
    if (!format || !transform || clause.quality <= 0) continue;
    if (*format == Format::kProtobuf) {
      if (*transform == Transform::kTable) continue;
      if (offer.custom && *transform == Transform::kNone) continue;
    }
    if (offer.watch && *format == Format::kYaml) break;
    return {*format, *transform,
            *transform == Transform::kNone ? "v1" : std::string{clause.parameter("v")}, false};
  }
  throw not_acceptable(accepted_types(offer), !any_known && !offer.custom);
}

Format error_format(std::string_view accept) {
  for (const MediaType& clause : parse_accept(accept)) {
    if (const std::optional<Format> format = format_of(clause.type)) return *format;
  }
  return Format::kJson;
}

Format body_format(std::string_view content_type, bool custom) {
  if (trimmed(content_type, kube::detail::kBlank).empty()) return Format::kJson;
  const std::string type = parse_media_type(content_type).type;
  const std::optional<Format> format = type == "*/*" ? std::nullopt : format_of(type);
  if (!format || (custom && *format == Format::kProtobuf)) {
    throw unsupported_media_type(accepted_types({.custom = custom}));
  }
  return *format;
}

std::string indent_json(std::string_view json) {
  std::string out;
  out.reserve(json.size() * 2);
  std::size_t depth = 0;
  bool in_text = false;
  const auto line = [&] {
    out.push_back('\n');
    out.append(depth * 2, ' ');
  };
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      out.push_back(c);
      if (c == '\\' && i + 1 < json.size()) {
        out.push_back(json[++i]);
      } else if (c == '"') {
        in_text = false;
      }
      continue;
    }
    switch (c) {
      case '"':
        in_text = true;
        out.push_back(c);
        break;
      case '{':
      case '[':
        out.push_back(c);
        if (i + 1 < json.size() && (json[i + 1] == '}' || json[i + 1] == ']')) {
          out.push_back(json[++i]);
        } else {
          ++depth;
          line();
        }
        break;
      case '}':
      case ']':
        --depth;
        line();
        out.push_back(c);
        break;
      case ',':
        out.push_back(c);
        line();
        break;
      case ':':
        out.append(": ");
        break;
      case '\n':
        break;
      default:
        out.push_back(c);
    }
  }
  return out;
}

}  // namespace kube::testkit::detail
