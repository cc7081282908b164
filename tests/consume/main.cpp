// SPDX-License-Identifier: Apache-2.0
#include "foo.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/client/client.hpp>
#include <kube/codec/json.hpp>
#include <kube/testkit/api_server.hpp>

#include <iostream>

int main() {
  const kube::core::v1::Pod pod{.metadata = {.name = "web-0", .labels = {{"app", "web"}}}};
  const auto again = kube::decode_json<kube::core::v1::Pod>(kube::encode_json(pod));

  demo::v1alpha1::Foo foo{.metadata = {.name = "sample"}, .spec = {.deployment_name = "web"}};
  std::cout << again->metadata.name << ' ' << kube::encode_json(foo) << '\n';

  kube::testkit::ApiServer server;
  const kube::Client client{server.config()};
  const auto maps = client.resource<kube::core::v1::ConfigMap>("default");
  maps.create({.metadata = {.name = "settings"}, .data = {{"color", "blue"}}});
  const auto stored = maps.get("settings");
  std::cout << kube::encode_json(stored->data) << '\n';
  return *again == pod && stored->data.find("color") != nullptr ? 0 : 1;
}
