// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/errors.hpp>
#include <kube/client/client.hpp>
#include <kube/client/rest_mapper.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/yaml.hpp>

#include "support/test_server.hpp"

#include <optional>
#include <string>
#include <string_view>

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

}  // namespace kube::testing_support
