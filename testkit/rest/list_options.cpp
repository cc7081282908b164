// SPDX-License-Identifier: Apache-2.0
#include "testkit/rest/list_options.hpp"

#include <kube/codec/error.hpp>
#include <kube/object/value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <stdexcept>
#include <vector>

#include "testkit/requests/base64url.hpp"
#include "testkit/requests/failures.hpp"
#include "testkit/values/value_text.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::string_view kTokenVersion = "meta.k8s.io/v1";
constexpr const char* kMatchField = "resourceVersionMatch";

/// Returns whether a path has no empty, "." or ".." segment.
bool is_clean(std::string_view path) {
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
  return false;
}

void check_match(const ListOptions& options, std::string_view match) {
  using Match = ListOptions::Match;
  const std::array<std::string, 2> known{"Exact", "NotOlderThan"};
  std::vector<FieldError> errors;
  if (options.watch) {
    if (options.send_initial && options.match != Match::kNotOlderThan) {
      errors.push_back(forbidden_value(kMatchField, "sendInitialEvents requires NotOlderThan"));
    }
    if (!match.empty() && !options.send_initial) {
      errors.push_back(forbidden_value(kMatchField, "is for watches with sendInitialEvents only"));
    }
    if (!match.empty() && options.match != Match::kNotOlderThan) {
      errors.push_back(not_supported(kMatchField, match, std::span{known}.last(1)));
    }
    if (!options.continue_text.empty()) {
      errors.push_back(forbidden_value(kMatchField, "a watch has no continue"));
    }
  } else if (!match.empty()) {
    if (options.version_text.empty()) {
      errors.push_back(
          forbidden_value(kMatchField, "is forbidden unless resourceVersion is given"));
    }
    if (!options.continue_text.empty()) {
      errors.push_back(forbidden_value(kMatchField, "is forbidden with continue"));
    }
    if (options.match == Match::kUnset) errors.push_back(not_supported(kMatchField, match, known));
    if (options.match == Match::kExact && options.version_text == "0") {
      errors.push_back(
          forbidden_value(kMatchField, "Exact is forbidden for resourceVersion \"0\""));
    }
  }
  if (!options.watch && options.send_initial) {
    errors.push_back(forbidden_value("sendInitialEvents", "is for watches only"));
  }
  if (!errors.empty()) throw invalid({"meta.k8s.io", "ListOptions"}, "", errors);
}

}  // namespace

std::string ContinueToken::encode(bool leading_slash) const {
  std::string json = fmt::format(R"({{"v":"{}","rv":{},"start":)", kTokenVersion, revision);
  append_json_string(json, (leading_slash ? "/" : "") + start);
  json += "}";
  return base64url_encode(json);
}

ContinueToken ContinueToken::decode(std::string_view text) {
  const auto refused = [](std::string_view why) {
    return bad_request(fmt::format("invalid continue token: {}", why));
  };
  const std::optional<std::string> json = base64url_decode(text);
  if (!json) throw refused("not base64url");
  ContinueToken token;
  try {
    const Ref<Value> value = parse_json(*json);
    if (value->get_string("v").value_or("") != kTokenVersion) throw refused("unknown version");
    token.revision = value->get_integer("rv").value_or(0);
    token.start = value->get_string("start").value_or("");
  } catch (const CodecError& error) {
    throw refused(error.what());
  } catch (const ValueError& error) {
    throw refused(error.what());
  }
  if (token.revision == 0 || token.revision < -1) throw refused("no version");
  if (token.start.starts_with('/')) token.start.erase(0, 1);
  if (!is_clean(token.start)) throw refused("no clean start");
  return token;
}

std::optional<std::uint64_t> parse_version(std::string_view text) {
  std::uint64_t version = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return version;
}

ListOptions ListOptions::parse(const Query& query, bool watch) {
  ListOptions options;
  options.watch = watch;
  options.bookmarks = query.flag("allowWatchBookmarks");
  try {
    options.labels = labels::Selector::parse(query.text("labelSelector"));
    options.fields = field_selectors::Selector::parse(query.text("fieldSelector"));
  } catch (const std::invalid_argument& error) {
    throw bad_request(error.what());
  }
  if (query.has("sendInitialEvents")) options.send_initial = query.flag("sendInitialEvents");
  options.version_text = query.text("resourceVersion");
  options.continue_text = query.text("continue");
  options.limit =
      static_cast<std::size_t>(
          std::max<std::int64_t>(0, integer_parameter(query, "limit").value_or(0)));
  options.timeout_seconds = integer_parameter(query, "timeoutSeconds").value_or(0);
  const std::string_view match = query.text("resourceVersionMatch");
  options.match = match == "Exact"          ? Match::kExact
                  : match == "NotOlderThan" ? Match::kNotOlderThan
                                            : Match::kUnset;
  check_match(options, match);
  if (!options.version_text.empty()) {
    options.version = parse_version(options.version_text);
    if (!options.version && !watch) {
      throw bad_request(
          fmt::format("invalid resource version \"{}\": not a number", options.version_text));
    }
  }
  return options;
}

}  // namespace kube::testkit::detail
