// SPDX-License-Identifier: Apache-2.0
#include "peer.hpp"

#include "base/text.hpp"
#include "object/freeze.hpp"
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/transport/http_transport.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace kube::differential {

namespace {

std::string_view text(const Value& value) {
  return value.is_string() ? value.as_string() : std::string_view{};
}

/// Splits ".../[namespaces/NS/]PLURAL[/NAME[/SUB]]" into the parts of a key; empty if the path has
/// another form.
std::vector<std::string> place_of(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t at = 1; at < path.size();) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    parts.push_back(path.substr(at, slash - at));
    at = slash + 1;
  }
  const std::size_t skipped = parts.empty() ? 0 : parts[0] == "api" ? 2 : 3;
  if (parts.size() <= skipped) return {};
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(skipped));
  std::string space;
  if (parts.size() >= 3 && parts[0] == "namespaces" && parts[2] != "status" &&
      parts[2] != "finalize") {
    space = parts[1];
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  return {parts[0], space, parts.size() > 1 ? parts[1] : "", parts.size() > 2 ? parts[2] : ""};
}

}  // namespace

Peer::Peer(const Config& config)
    : credentials_(make_credentials(config)),
      transport_(make_http_transport({.base_url = config.host, .credentials = credentials_})) {}

std::string Peer::key(std::string_view plural, std::string_view namespace_, std::string_view name) {
  return fmt::format("{}/{}/{}", plural, namespace_, name);
}

std::string Peer::expand(std::string_view from) const {
  std::string result;
  for (std::size_t at = 0; at < from.size();) {
    const std::size_t begin = from.find("((", at);
    const std::size_t end = begin == std::string_view::npos ? begin : from.find("))", begin);
    if (end == std::string_view::npos) return result.append(from.substr(at));
    result.append(from.substr(at, begin - at));
    const std::string_view name = from.substr(begin + 2, end - begin - 2);
    if (const auto found = variables_.find(name); found != variables_.end()) {
      result += found->second;
    } else if (name.starts_with("uid")) {
      result += "00000000-0000-4000-8000-000000000000";
    } else if (name == "listrv") {
      result += '0';
    } else if (name != "continue") {
      result += '1';
    }
    at = end + 2;
  }
  return result;
}

Answer Peer::send(const Request& request) const {
  Answer answer;
  HttpRequest http{.method = request.method,
                   .lane = request.is_watch() ? Lane::kWatches : Lane::kRequests,
                   .timeout = std::chrono::seconds{20}};
  answer.target = request.path;
  char before = '?';
  for (const auto& [name, value] : request.query) {
    const std::string expanded = expand(value);
    if (name == "continue" && expanded.empty()) continue;
    answer.target += fmt::format("{}{}={}", before, kube::detail::percent_encode(name),
                                 kube::detail::percent_encode(expanded));
    before = '&';
  }
  answer.sent = expand(request.body);
  if (const Value* live = request.edit ? find(request.live_key) : nullptr) {
    Value changed = *live;
    request.edit(changed);
    answer.sent = expand(encode_json(changed));
  }
  http.target = answer.target;
  http.body = answer.sent;
  http.headers.push_back({"User-Agent", request.user_agent});
  http.headers.push_back({"Accept", request.accept.empty() ? "application/json" : request.accept});
  if (!request.content_type.empty()) {
    http.headers.push_back({"Content-Type", request.content_type});
  }
  try {
    if (const std::string who = credentials_->authorization(); !who.empty()) {
      http.headers.push_back({"Authorization", who});
    }
    const auto stream = transport_->open(std::move(http));
    answer.status = stream->head().status;
    answer.headers = stream->head().headers;
    for (std::string_view piece = stream->read(); !piece.empty(); piece = stream->read()) {
      answer.body.append(piece);
    }
  } catch (const Error& error) {
    answer.status = 0;
    answer.body = error.what();
  }
  return answer;
}

void Peer::learn_object(const std::string& key, const Value& object, std::size_t index) {
  const std::string version{text(object["metadata"]["resourceVersion"])};
  if (version.empty()) return;
  // Definitions are excluded: the server itself updates them at any time.
  if (!key.starts_with("customresourcedefinitions")) {
    versions_.try_emplace(version, fmt::format("{}.{}", answers_, index));
  }
  variables_["rv " + key] = version;
  variables_.try_emplace("first " + key, version);
  variables_["uid " + key] = text(object["metadata"]["uid"]);
}

void Peer::learn(const Request& request, const Answer& answer) {
  ++answers_;
  // Versions in the answers of a dry run are not real.
  const bool dry = std::ranges::any_of(request.query,
                                       [](const auto& option) { return option.first == "dryRun"; });
  if (answer.status < 200 || answer.status >= 300 || request.is_watch() || dry) return;
  const std::vector<std::string> place = place_of(request.path);
  if (place.empty()) return;
  Ref<Value> document;
  try {
    document = decode_json<Value>(answer.body);
  } catch (const CodecError&) {
    return;
  }
  const Value& metadata = (*document)["metadata"];
  const std::string_view kind = text((*document)["kind"]);
  if ((*document)["items"].is_array()) {
    if (request.method != "GET") return;
    // A list at an old version may be answered from a stale cache.
    const bool latest = std::ranges::none_of(
        request.query, [](const auto& option) { return option.first == "resourceVersion"; });
    if (latest) variables_["listrv"] = text(metadata["resourceVersion"]);
    variables_["continue"] = text(metadata["continue"]);
    std::size_t index = 0;
    for (const Value& item : (*document)["items"].as_array()) {
      const Value& of = item["metadata"];
      learn_object(key(place[0], text(of["namespace"]), text(of["name"])), item, index++);
    }
    return;
  }
  if (kind == "Status" || kind == "Table" || kind.starts_with("Partial") || kind == "Scale") return;
  const std::string name = key(place[0], place[1], text(metadata["name"]));
  learn_object(name, *document, 0);
  if (!text(metadata["resourceVersion"]).empty()) objects_[name] = document;
}

void Peer::forget() {
  variables_.clear();
  objects_.clear();
}

std::string Peer::name_of_version(std::string_view version) const {
  const auto found = versions_.find(version);
  return found == versions_.end() ? std::string{} : found->second;
}

const Value* Peer::find(const std::string& key) const {
  const auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : found->second.get();
}

}  // namespace kube::differential
