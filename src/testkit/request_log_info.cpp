// SPDX-License-Identifier: Apache-2.0
#include "request_log_info.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace kube::testkit::detail {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decode(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
        hex_digit(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::vector<std::string> segments(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) parts.push_back(decode(path.substr(0, slash), false));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return text;
}

std::string verb_of(const RequestInfo& info, bool watch) {
  const bool one = !info.name.empty();
  if (info.method == "GET" || info.method == "HEAD") return watch ? "watch" : one ? "get" : "list";
  if (info.method == "POST") return "create";
  if (info.method == "PUT") return "update";
  if (info.method == "PATCH") return "patch";
  if (info.method == "DELETE") return one ? "delete" : "deletecollection";
  return lower(info.method);
}

}  // namespace

std::optional<std::string> query_parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (decode(pair.substr(0, equals), true) == name) {
      return decode(pair.substr(std::min(equals + 1, pair.size())), true);
    }
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return std::nullopt;
}

bool query_flag(std::string_view query, std::string_view name) {
  const auto value = query_parameter(query, name);
  return value && *value != "0" && lower(*value) != "false";
}

RequestInfo describe_request(const ServerRequest& request) {
  RequestInfo info;
  info.method = request.method;
  const std::string_view target = request.target;
  const std::size_t mark = std::min(target.find('?'), target.size());
  info.path = target.substr(0, mark);
  info.query = target.substr(std::min(mark + 1, target.size()));
  if (const std::string* agent = find_header(request.headers, "User-Agent"))
    info.user_agent = *agent;

  std::vector<std::string> parts = segments(info.path);
  std::size_t at = 0;
  const auto next = [&] { return at < parts.size() ? parts[at++] : std::string{}; };
  const std::string root = next();
  if (root == "apis") info.group = next();
  if (root == "api" || root == "apis") info.version = next();
  bool watch = false;
  if (!info.version.empty() && at < parts.size() && parts[at] == "watch") {
    watch = true;
    ++at;
  }
  if (!info.version.empty() && at < parts.size()) {
    // RQ-3: what comes after the name of a namespace is a resource in it, but for two subresources.
    const bool inside =
        parts[at] == "namespaces" && at + 2 < parts.size() &&
        !(at + 3 == parts.size() && (parts[at + 2] == "status" || parts[at + 2] == "finalize"));
    if (inside) {
      info.namespace_ = parts[at + 1];
      at += 2;
    }
    info.resource = next();
    info.name = next();
    info.subresource = next();
  }
  if (info.resource.empty()) {
    info.group.clear();
    info.version.clear();
    info.verb = lower(info.method);
  } else {
    info.verb = verb_of(info, watch || (info.name.empty() && query_flag(info.query, "watch")));
  }
  return info;
}

}  // namespace kube::testkit::detail
