// SPDX-License-Identifier: Apache-2.0
#include "foo.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/codec/json.hpp>

#include <iostream>

int main() {
  const kube::core::v1::Pod pod{.metadata = {.name = "web-0", .labels = {{"app", "web"}}}};
  const auto again = kube::decode_json<kube::core::v1::Pod>(kube::encode_json(pod));

  demo::v1alpha1::Foo foo{.metadata = {.name = "sample"}, .spec = {.deployment_name = "web"}};
  std::cout << again->metadata.name << ' ' << kube::encode_json(foo) << '\n';
  return *again == pod ? 0 : 1;
}
