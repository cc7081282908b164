// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/errors.hpp>
#include <kube/client/client.hpp>
#include <kube/client/rest_mapper.hpp>
#include <kube/client/warnings.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/yaml.hpp>

#include "support/test_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube::testing_support {

/// A server, in-process or real, that receives manifests in YAML.
class Asked {
 public:
  explicit Asked(testkit::ApiServerOptions options = {})
      : server(std::move(options)), client(server.config()), mapper(client) {}

  /// Returns the client for a manifest's kind, in space() if it is namespaced.
  [[nodiscard]] Resource<Value> objects(const Value& manifest) {
    const RestMapping mapping = mapper.for_kind(
        parse_group_version(text(manifest, "apiVersion")).with_kind(text(manifest, "kind")));
    return client.dynamic(mapping.resource, mapping.namespaced ? server.space() : "");
  }
  Ref<Value> create(std::string_view yaml, bool dry_run = false) {
    const Ref<Value> manifest = decode_yaml<Value>(yaml);
    return objects(*manifest).create(*manifest, {.dry_run = dry_run});
  }
  /// Returns the message with which the server rejects a manifest; empty if it accepts it. Retries
  /// until the message is `expected`, because a real server observes the objects that determine its
  /// answer with a delay.
  std::string refusal(std::string_view yaml, std::string_view expected) {
    std::string last;
    server.wait_for([&] {
      try {
        (void)create(yaml, true);
        last.clear();
      } catch (const ApiError& error) {
        last = error.status().message.str();
      }
      return last == expected;
    });
    return last;
  }
  /// Returns the JSON at `path` of the object that a dry-run create would store. Retries until it
  /// is `expected`.
  std::string admitted(std::string_view yaml, std::string_view path, std::string_view expected) {
    std::string last;
    server.wait_for([&] {
      const Ref<Value> made = create(yaml, true);
      const Value* found = made->find(path);
      last = found == nullptr ? "" : encode_json(*found);
      return last == expected;
    });
    return last;
  }

  static std::string text(const Value& object, std::string_view path) {
    return std::string{object.get_string(path).value_or("")};
  }

  TestServer server;
  Client client;
  RestMapper mapper;
};

/// The answer to a request.
struct Answer {
  int status = 0;
  std::string reason;
  std::string message;
  std::vector<std::string> warnings;
  Ref<Value> body;

  /// Returns a field as text: numbers and booleans as JSON, "" if it is absent.
  [[nodiscard]] std::string at(std::string_view path) const {
    const Value* found = body ? body->find(path) : nullptr;
    if (found == nullptr) return {};
    return found->is_string() ? std::string{found->as_string()} : encode_json(*found);
  }
};

/// Sends requests with bodies as text.
class Requests : public Asked {
 public:
  using Asked::Asked;

  Answer send(std::string method, const std::string& path, std::string body = {},
              std::string type = "application/json") {
    Answer answer;
    const std::size_t question = path.find('?');
    RawRequest request{.method = std::move(method), .path = path.substr(0, question)};
    if (question != std::string::npos) {
      // Parameters of the form a=b&c=d.
      std::string_view rest = std::string_view{path}.substr(question + 1);
      while (!rest.empty()) {
        const std::string_view one = rest.substr(0, rest.find('&'));
        const std::size_t equals = one.find('=');
        request.query.emplace_back(one.substr(0, equals), one.substr(equals + 1));
        rest.remove_prefix(std::min(rest.size(), one.size() + 1));
      }
    }
    request.headers = {{"Content-Type", std::move(type)}, {"Accept", "application/json, */*"}};
    request.body = std::move(body);
    try {
      const RawResponse response = once_.raw().send(request);
      answer.status = response.status;
      for (const auto& [name, value] : response.headers) {
        if (name != "warning" && name != "Warning") continue;
        for (const Warning& warning : parse_warnings(value)) {
          answer.warnings.push_back(warning.text);
        }
      }
      if (!response.body.empty()) answer.body = decode_json<Value>(response.body);
    } catch (const ApiError& error) {
      answer.status = error.status().code;
      answer.reason = error.status().reason.str();
      answer.message = error.status().message.str();
      answer.body = decode_json<Value>(encode_json(error.status()));
    }
    return answer;
  }
  /// Returns the path of a resource in the test's namespace.
  [[nodiscard]] std::string path(const std::string& resource,
                                 const std::string& version = "/api/v1") const {
    return version + "/namespaces/" + server.space() + '/' + resource;
  }

 private:
  /// Does not wait when the server asks it to come back later.
  Client once_{server.config(), {.max_retries = 0}};
};

/// Returns a definition of `plural`.<space>.example.com, version v1, whose spec has that schema.
inline std::string definition(const Requests& api, const std::string& plural,
                              const std::string& kind, const std::string& schema) {
  const std::string group = api.server.space() + ".example.com";
  return fmt::format(
      "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: "
      "{0}.{1}}}, spec: {{group: {1}, scope: Namespaced, names: {{plural: {0}, kind: {2}}}, "
      "versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: "
      "object, properties: {{spec: {3}}}}}}}}}]}}}}",
      plural, group, kind, schema);
}

}  // namespace kube::testing_support
