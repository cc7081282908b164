// SPDX-License-Identifier: Apache-2.0
// The log subresource of pods. Logs are always empty, because no containers run.
#include "testkit/rest/rest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/requests/failures.hpp"

namespace kube::testkit::detail {

namespace {

/// Validates the numeric options of a log request.
void check_log_options(const RestRequest& request) {
  std::vector<FieldError> errors;
  for (const char* option : {"tailLines", "sinceSeconds", "limitBytes"}) {
    const std::string_view text = request.url.query.text(option);
    if (text.empty()) continue;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) {
      throw bad_request(
          fmt::format("strconv.ParseInt: parsing {}: invalid syntax", quoted_go(text)));
    }
    const bool lines = option == std::string_view{"tailLines"};
    if (number < (lines ? 0 : 1)) {
      errors.push_back(invalid_value(
          option, number, lines ? "must be greater than or equal to 0" : "must be greater than 0"));
    }
  }
  if (!errors.empty()) throw invalid({"", "PodLogOptions"}, request.name, errors);
}

/// Requires a container name for a pod with several containers.
void check_logged_container(const RestRequest& request, const Value& spec) {
  const std::string_view wanted = request.url.query.text("container");
  std::vector<std::string> names;
  for (const char* list : {"containers", "initContainers", "ephemeralContainers"}) {
    for (std::size_t i = 0; i < spec[list].size(); ++i) {
      const std::string name{spec[list][i].get_string("name").value_or("")};
      if (!wanted.empty() && name == wanted) return;
      if (list == std::string_view{"containers"}) names.push_back(name);
    }
  }
  if (!wanted.empty()) {
    throw bad_request(fmt::format("container {} is not valid for pod {}", wanted, request.name));
  }
  if (names.size() > 1) {
    throw bad_request(
        fmt::format("a container name must be specified for pod {}, choose one of: [{}]",
                    request.name, fmt::join(names, " ")));
  }
}

}  // namespace

ServerResponse Rest::log(RestRequest& request) {
  const StoredObject stored = services_.store.get(*request.resource->collection, request.key());
  if (!stored) throw not_found(request.resource->group_resource(), request.name);
  const Ref<Value> pod = stored.value();
  check_log_options(request);
  check_logged_container(request, (*pod)["spec"]);
  if (pod->get_string("spec.nodeName").value_or("").empty()) {
    // A container that was never started has no log.
    ServerResponse nothing;
    nothing.status = 204;
    return nothing;
  }
  return make_response(200, "text/plain", "");
}

}  // namespace kube::testkit::detail
