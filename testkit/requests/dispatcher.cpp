// SPDX-License-Identifier: Apache-2.0
#include "testkit/requests/dispatcher.hpp"

#include <kube/api/errors.hpp>
#include <kube/codec/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "testkit/requests/failures.hpp"
#include "testkit/requests/timeout.hpp"
#include "testkit/rest/object_warnings.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::size_t kMaxBody = 3145728;
constexpr std::size_t kMaxWarnings = 4096;
constexpr std::size_t kMaxWarning = 256;

std::string_view header(const ServerRequest& request, std::string_view name) {
  const std::string* value = find_header(request.headers, name);
  return value == nullptr ? std::string_view{} : std::string_view{*value};
}

/// RQ-10.
bool wants_pretty(const ServerRequest& request, const Query& query) {
  if (query.has("pretty") && !query.text("pretty").empty()) return query.flag("pretty");
  const std::string_view agent = header(request, "User-Agent");
  return agent.starts_with("curl") || agent.starts_with("Wget") || agent.starts_with("Mozilla/5.0");
}

ServerResponse page_not_found() {
  ServerResponse response = make_response(404, "text/plain; charset=utf-8", "404 page not found\n");
  response.headers.push_back({"X-Content-Type-Options", "nosniff"});
  return response;
}

ServerResponse status_response(const ServerRequest& request, const ApiError& error) {
  Output output;
  output.format = error_format(header(request, "Accept"));
  const std::size_t question = request.target.find('?');
  output.pretty =
      wants_pretty(request, Query{question == std::string::npos
                                      ? std::string_view{}
                                      : std::string_view{request.target}.substr(question + 1)});
  ServerResponse response = make_response(error.code(), output.content_type(),
                                          encode_as(output, readable(error.status())));
  if (const auto wait = error.retry_after()) {
    response.headers.push_back({"Retry-After", std::to_string(wait->count())});
  }
  if (error.code() == 403) response.headers.push_back({"X-Content-Type-Options", "nosniff"});
  return response;
}

ServerResponse overloaded(int retry_after) {
  ServerResponse response = make_response(429, "text/plain; charset=utf-8",
                                          "Too many requests, please try again later.\n");
  response.headers.push_back({"Retry-After", std::to_string(retry_after)});
  response.headers.push_back({"X-Content-Type-Options", "nosniff"});
  return response;
}

/// CR-8.
void add_warnings(ServerResponse& response, const std::vector<std::string>& warnings) {
  std::size_t total = 0;
  for (const std::string& warning : warnings) total += warning.size();
  const bool cut = total > kMaxWarnings;
  std::size_t used = 0;
  for (const std::string& warning : warnings) {
    std::string text = cut ? warning.substr(0, kMaxWarning) : warning;
    used += text.size();
    if (used > kMaxWarnings) return;
    std::string quoted;
    for (const char c : text) {
      if (c == '"' || c == '\\') quoted.push_back('\\');
      quoted.push_back(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
    }
    response.headers.push_back({"Warning", fmt::format("299 - \"{}\"", quoted)});
  }
}

class InFlight {
 public:
  InFlight(std::atomic<std::size_t>& count, std::size_t limit)
      : count_(count), fits_(count_.fetch_add(1) < limit) {}
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;
  ~InFlight() { count_.fetch_sub(1); }
  [[nodiscard]] bool fits() const noexcept { return fits_; }

 private:
  std::atomic<std::size_t>& count_;
  bool fits_;
};

/// Headers and bodies are not logged, because they contain tokens.
void log_request(const Logger& logger, const ServerRequest& request, int code,
                 std::chrono::steady_clock::time_point start) {
  if (!logger.enabled(LogLevel::kDebug)) return;
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - start);
  logger.named("request").debug("{} {}: {} in {} us", request.method, request.target, code,
                                took.count());
}

bool is_read(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

}  // namespace

ServerResponse Dispatcher::handle(const ServerRequest& request,
                                  const std::optional<User>& user) noexcept {
  try {
    return complete(request, user);
  } catch (...) {
    // There is not even memory for a Status.
    ServerResponse response;
    response.status = 500;
    return response;
  }
}

ServerResponse Dispatcher::complete(const ServerRequest& request, const std::optional<User>& user) {
  const auto start = std::chrono::steady_clock::now();
  ServerResponse response;
  Route route;
  std::vector<std::string> warnings;
  try {
    response = answer(request, user, route, warnings);
  } catch (const ApiError& error) {
    response = status_response(request, error);
  } catch (const RequestTimeout&) {
    response = make_response(
        504, "text/plain; charset=utf-8",
        R"({"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504})");
  } catch (const CodecError& error) {
    response = status_response(request, bad_request(error.what()));
  } catch (const Error& error) {
    response = status_response(request, bad_request(error.what()));
  } catch (const std::exception& error) {
    services_.options.logger.named("engine").error("{} {}: {}", request.method, request.target,
                                                   error.what());
    response = status_response(request, plain_failure(error.what()));
  } catch (...) {  // from a hook of the user
    constexpr const char* kMessage = "a hook threw an object that is not a std::exception";
    services_.options.logger.named("engine").error("{} {}: {}", request.method, request.target,
                                                   kMessage);
    response = status_response(request, plain_failure(kMessage));
  }
  const std::string_view audit = header(request, "Audit-Id");
  response.headers.push_back(
      {"Audit-Id", audit.empty() ? services_.ids.uuid() : std::string{audit}});
  if (find_header(response.headers, "Cache-Control") == nullptr) {
    response.headers.push_back({"Cache-Control", "no-cache, private"});
  }
  add_warnings(response, warnings);
  metrics_.count(route, *services_.catalog(), response.status);
  log_request(services_.options.logger, request, response.status, start);
  return response;
}

ServerResponse Dispatcher::answer(const ServerRequest& request, const std::optional<User>& known,
                                  Route& route, std::vector<std::string>& warnings) {
  if (shutting_down_) {
    ServerResponse response = overloaded(5);
    response.headers.push_back({"Connection", "close"});
    return response;
  }
  const bool read = is_read(request.method);
  const InFlight slot{read ? reads_ : writes_, read ? services_.options.max_reads_in_flight
                                                    : services_.options.max_writes_in_flight};
  if (!slot.fits()) return overloaded(1);
  const RequestUrl url = RequestUrl::parse(request.target);
  route = Route::parse(request.method, url);
  User user;
  if (known) {
    user = *known;
  } else {
    if (services_.options.origins) check_origin(*services_.options.origins, request);
    user = authenticate(services_, request);
    if (services_.is_guarded() || has_impersonation(request.headers)) {
      AccessRequest access = access_of(std::move(user), route, url.path);
      if (auto other = impersonate(services_, request, access)) access.user = std::move(*other);
      authorize_request(services_, access);
      user = std::move(access.user);
    }
  }
  if (request.body.size() > kMaxBody) {
    throw ApiError{failure_status(413, "RequestEntityTooLarge",
                                  fmt::format("Request entity too large: limit is {}", kMaxBody))};
  }
  if (!url.query.flag("watch")) static_cast<void>(parse_request_timeout(url.query));
  return serve_path(request, url, route, user, warnings);
}

ServerResponse Dispatcher::metrics() const {
  std::string text = metrics_.text();
  text += fmt::format(
      "# HELP apiserver_current_inflight_requests Requests that are being answered.\n"
      "# TYPE apiserver_current_inflight_requests gauge\n"
      "apiserver_current_inflight_requests{{request_kind=\"mutating\"}} {}\n"
      "apiserver_current_inflight_requests{{request_kind=\"readOnly\"}} {}\n",
      writes_.load(), reads_.load());
  return make_response(200, "text/plain; version=0.0.4; charset=utf-8", std::move(text));
}

ServerResponse Dispatcher::version() const {
  // "v1.36.4" gives major 1 and minor 36.
  const std::string& text = services_.options.version;
  const std::size_t first = text.find('.');
  const std::size_t second = text.find('.', first + 1);
  const std::string major = text.substr(1, first - 1);
  const std::string minor = text.substr(first + 1, second - first - 1);
  const std::string earlier = std::to_string(std::max(0, std::atoi(minor.c_str()) - 1));
  const std::string json = fmt::format(
      R"({{"major":"{0}","minor":"{1}","emulationMajor":"{0}","emulationMinor":"{1}","minCompatibilityMajor":"{0}","minCompatibilityMinor":"{2}","gitVersion":"{3}","gitCommit":"0000000000000000000000000000000000000000","gitTreeState":"clean","buildDate":"1970-01-01T00:00:00Z","goVersion":"none","compiler":"kubecxx","platform":"linux/amd64"}})",
      major, minor, earlier, text);
  return make_response(200, "application/json", indent_json(json));
}

ServerResponse Dispatcher::serve_path(const ServerRequest& request, const RequestUrl& url,
                                      const Route& route, const User& user,
                                      std::vector<std::string>& warnings) {
  const bool pretty = wants_pretty(request, url.query);
  const std::shared_ptr<const Catalog> catalog = services_.catalog();
  if (!route.is_resource) {
    const std::vector<std::string>& parts = url.segments;
    const bool unknown_version =
        (parts.size() == 2 && parts[0] == "api" && !catalog->has_version("", parts[1])) ||
        (parts.size() == 3 && parts[0] == "apis" && catalog->is_builtin_group(parts[1]) &&
         !catalog->has_version(parts[1], parts[2]));
    if (unknown_version) throw unknown_resource();
    if (request.method != "GET") {
      const bool known =
          url.segments.empty() || url.segments[0] == "api" || url.segments[0] == "apis";
      if (known) throw method_not_allowed();
      return page_not_found();
    }
    if (route.malformed) return page_not_found();
    if (url.path == "/version" || url.path == "/version/") return version();
    if (url.path == "/metrics") return metrics();
    if (auto response = health_.serve(url)) return std::move(*response);
    if (url.path == "/openid/v1/jwks") {
      return make_response(200, "application/jwk-set+json", services_.account_tokens.key_set());
    }
    if (url.path == "/.well-known/openid-configuration") {
      const std::string* host = find_header(request.headers, "Host");
      const bool tls = services_.options.origins && services_.options.origins->tls;
      const std::string base = fmt::format("{}://{}", tls ? "https" : "http",
                                           host != nullptr ? *host : "kubernetes.default.svc");
      return make_response(200, "application/json", AccountTokens::configuration(base));
    }
    if (auto response = serve_openapi(services_, request, url, pretty)) return std::move(*response);
    if (auto response = serve_discovery(services_, request, url, pretty)) {
      return std::move(*response);
    }
    return page_not_found();
  }
  const bool builtin = catalog->is_builtin_group(route.group);
  if (!catalog->has_version(route.group, route.version) ||
      (route.group.empty() && url.segments[0] != "api")) {
    if (builtin && url.segments[0] == (route.group.empty() ? "api" : "apis")) {
      throw unknown_resource();
    }
    return page_not_found();
  }
  if (route.malformed) return page_not_found();
  ResourcePtr resource = catalog->find(route.group, route.version, route.resource);
  if (resource == nullptr) {
    if (builtin) throw unknown_resource();
    return page_not_found();
  }
  RestRequest rest{
      request,          url, user, std::move(resource), route.verb, route.namespace_, route.name,
      route.subresource};
  // Errors about a transform or a body are reported in the plain format.
  rest.output.pretty = pretty;
  if (rest.resource->is_custom() && !rest.resource->custom->deprecation.empty()) {
    rest.warn(rest.resource->custom->deprecation);
  }
  if (std::string warning = deprecation_of(*rest.resource); !warning.empty()) {
    rest.warn(std::move(warning));
  }
  struct Collect {
    RestRequest& rest;
    std::vector<std::string>& warnings;
    ~Collect() { warnings = std::move(rest.warnings); }
  } collect{rest, warnings};
  return serve_resource(rest, route);
}

ServerResponse Dispatcher::serve_resource(RestRequest& request, const Route& route) {
  const Resource& resource = *request.resource;
  const GroupResource id = resource.group_resource();
  const bool custom = resource.is_custom();
  const bool placed =
      resource.namespaced ? !request.namespace_.empty() : request.namespace_.empty();
  if (!resource.namespaced && !request.namespace_.empty()) {
    if (custom) return page_not_found();
    throw unknown_resource();
  }
  if (!placed) {
    // A namespaced resource across all namespaces supports only list and watch (RQ-1).
    if (!request.name.empty()) {
      if (custom) return page_not_found();
      throw unknown_resource();
    }
    if (request.verb != "list" && request.verb != "watch") {
      if (custom) return page_not_found();
      throw method_not_allowed();
    }
  }
  if (!request.subresource.empty()) {
    const Subresource* sub = resource.subresource(request.subresource);
    if (sub == nullptr) {
      if (custom) throw not_found(id, request.name);
      throw unknown_resource();
    }
    if (std::ranges::find(sub->verbs, request.verb) == sub->verbs.end()) {
      if (custom) throw method_not_supported(id, request.verb);
      throw method_not_allowed();
    }
    return rest_.subresource(request);
  }
  if (route.watch_prefix && !request.name.empty()) {
    // The deprecated form for one object: a watch of the collection, restricted by name.
    const std::string& target = request.http.target;
    const std::size_t question = target.find('?');
    request.url.query =
        Query{fmt::format("fieldSelector=metadata.name%3D{}&{}", request.name,
                          question == std::string::npos ? "" : target.substr(question + 1))};
    request.name.clear();
  }
  if (custom && request.name.empty() && (request.verb == "update" || request.verb == "patch")) {
    throw bad_request("name must be provided");
  }
  const bool wrong_place =
      !custom && ((request.verb == "create" && !request.name.empty()) ||
                  ((request.verb == "update" || request.verb == "patch") && request.name.empty()));
  if (!resource.has_verb(request.verb) || wrong_place) {
    if (custom) throw method_not_supported(id, request.verb);
    throw method_not_allowed();
  }
  if (resource.collection == nullptr) return rest_.review(request);
  if (request.verb == "get") return rest_.get(request);
  if (request.verb == "list") return rest_.list(request);
  if (request.verb == "watch") return rest_.watch(request);
  if (request.verb == "create") return rest_.create(request);
  if (request.verb == "update") return rest_.update(request);
  if (request.verb == "patch") return rest_.patch(request);
  if (request.verb == "delete") return rest_.remove(request);
  return rest_.remove_collection(request);
}

}  // namespace kube::testkit::detail
