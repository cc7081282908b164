// SPDX-License-Identifier: Apache-2.0
#include "request_trace.hpp"

#include <kube/transport/transport.hpp>

#include <algorithm>
#include <string_view>

namespace kube::testing_support {
namespace {

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string verb_of(const std::string& method, bool named, const std::string& query) {
  if (method == "GET") {
    if (named) return "get";
    return query.find("watch=true") != std::string::npos ? "watch" : "list";
  }
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  return named ? "delete" : "deletecollection";
}

RequestTrace::Request describe(const HttpRequest& http) {
  RequestTrace::Request request;
  const std::size_t question = std::min(http.target.find('?'), http.target.size());
  request.path = http.target.substr(0, question);
  if (question < http.target.size()) request.query = http.target.substr(question + 1);
  std::vector<std::string> parts = parts_of(request.path);
  // /api/v1/... or /apis/GROUP/VERSION/..., optionally followed by namespaces/NAME.
  const std::size_t version = parts.empty() || parts[0] != "apis" ? 2 : 3;
  parts.erase(parts.begin(),
              parts.begin() + static_cast<std::ptrdiff_t>(std::min(version, parts.size())));
  if (parts.size() > 2 && parts[0] == "namespaces") parts.erase(parts.begin(), parts.begin() + 2);
  if (!parts.empty()) request.resource = parts[0];
  request.verb = verb_of(http.method, parts.size() > 1, request.query);
  return request;
}

}  // namespace

ClientOptions RequestTrace::following(ClientOptions options) {
  options.on_request = [this, also = std::move(options.on_request)](HttpRequest& request) {
    if (also) also(request);
    sent(request);
  };
  options.on_attempt = [this, also = std::move(options.on_attempt)](const AttemptReport& report) {
    answered(report);
    if (also) also(report);
  };
  return options;
}

std::vector<RequestTrace::Request> RequestTrace::all(const std::string& verb,
                                                     const std::string& resource) const {
  const std::lock_guard guard{mutex_};
  std::vector<Request> found;
  for (const Sent& sent : sent_) {
    if (!verb.empty() && sent.request.verb != verb) continue;
    if (!resource.empty() && sent.request.resource != resource) continue;
    found.push_back(sent.request);
  }
  return found;
}

std::size_t RequestTrace::waiting() const {
  const std::lock_guard guard{mutex_};
  return static_cast<std::size_t>(
      std::ranges::count_if(sent_, [](const Sent& sent) { return !sent.request.ended; }));
}

void RequestTrace::sent(const HttpRequest& request) {
  const std::lock_guard guard{mutex_};
  sent_.push_back({describe(request), request.method});
}

// Called on any thread. An informer waits for the head of an answer before it sends the next
// request.
void RequestTrace::answered(const AttemptReport& report) {
  const std::lock_guard guard{mutex_};
  const auto last = std::find_if(sent_.rbegin(), sent_.rend(), [&](const Sent& sent) {
    return !sent.request.ended && sent.method == report.method &&
           report.url.ends_with(sent.request.path);
  });
  if (last == sent_.rend()) return;
  last->request.status = report.status;
  last->request.ended = true;
}

}  // namespace kube::testing_support
