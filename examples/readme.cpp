// SPDX-License-Identifier: Apache-2.0
// The code of README.md and docs/architecture.md, as a program that is built and run. A test
// (tests/docs/readme_test.sh) checks that every C++ block of those pages occurs here, line by line.
// That is why each part has its includes right above it.

#include <kube/api/core/v1.hpp>
#include <kube/codec/json.hpp>

#include <iostream>
#include <string>

using kube::core::v1::Pod;

std::string use_image(std::string_view json, std::string_view image) {
  const kube::Ref<Pod> pod = kube::decode_json<Pod>(json);  // shared and immutable, one block
  std::cout << pod->metadata.name << " ran " << pod->spec.containers.front().image << '\n';

  Pod mine = *pod;  // an independent copy that can be changed
  mine.metadata.annotations["example.com/updated-by"] = "readme";
  mine.spec.containers.front().image = image;
  return kube::encode_json(mine);
}

#include <kube/codec/decoder.hpp>
#include <kube/object/pool.hpp>

#include <memory>
#include <vector>

std::vector<kube::Ref<Pod>> placements(const std::vector<std::string>& documents) {
  kube::Decoder<Pod> decoder{{
      .pool = std::make_shared<kube::Pool>(),  // stores common content once
      .projection = kube::fields<Pod>("metadata.namespace", "metadata.name", "spec.nodeName"),
  }};
  std::vector<kube::Ref<Pod>> pods;
  pods.reserve(documents.size());
  for (const std::string& document : documents) pods.push_back(decoder.json(document));
  return pods;
}

#include <kube/codec/list_reader.hpp>

#include <array>
#include <istream>

std::string read_pods(std::istream& body, std::vector<kube::Ref<Pod>>& pods) {
  kube::ListReader<Pod> reader{kube::Format::kJson, {.pool = std::make_shared<kube::Pool>()}};
  std::array<char, 4096> chunk{};
  while (body.read(chunk.data(), chunk.size()), body.gcount() > 0) {
    reader.feed({chunk.data(), static_cast<std::size_t>(body.gcount())},
                [&](kube::Ref<Pod> pod) { pods.push_back(std::move(pod)); });
  }
  return reader.finish().resource_version;  // throws if the body was cut off
}

#include <kube/object/slim.hpp>

using kube::core::v1::PodSpec;
using kube::meta::v1::ObjectMeta;

struct SmallPod {
  struct Metadata {
    kube::String namespace_;
    kube::String name;
    static const kube::Type kube_type;
  };
  struct Spec {
    kube::String node_name;
    static const kube::Type kube_type;
  };
  Metadata metadata;
  Spec spec;
  static const kube::Type kube_type;
  static constexpr const kube::ResourceInfo& kube_resource = Pod::kube_resource;
};
inline const kube::Type SmallPod::Metadata::kube_type =
    kube::slim(kube::keep(&SmallPod::Metadata::namespace_, &ObjectMeta::namespace_),
               kube::keep(&SmallPod::Metadata::name, &ObjectMeta::name));
inline const kube::Type SmallPod::Spec::kube_type =
    kube::slim(kube::keep(&SmallPod::Spec::node_name, &PodSpec::node_name));
inline const kube::Type SmallPod::kube_type = kube::slim(
    kube::keep(&SmallPod::metadata, &Pod::metadata), kube::keep(&SmallPod::spec, &Pod::spec));

#include <sstream>

namespace {

constexpr std::string_view kPod = R"({
  "kind": "Pod", "apiVersion": "v1",
  "metadata": {"name": "web-0", "namespace": "shop"},
  "spec": {"nodeName": "node-7", "containers": [{"name": "web", "image": "nginx:1.28"}]}
})";

/// Prints the problem and returns the exit code of the program.
int failed(std::string_view what) {
  std::cerr << "readme: " << what << '\n';
  return 1;
}

}  // namespace

int main() {
  const auto changed = kube::decode_json<Pod>(use_image(kPod, "nginx:1.29"));
  if (changed->spec.containers.front().image != "nginx:1.29") return failed("the image is not new");
  std::cout << kube::encode_json(*changed) << '\n';

  const auto pods = placements({std::string{kPod}});
  if (pods.front()->spec.node_name != "node-7") return failed("the node was not kept");
  if (!pods.front()->spec.containers.empty()) return failed("the containers were kept");

  constexpr std::string_view kHead = R"({"kind":"PodList","apiVersion":"v1",)"
                                     R"("metadata":{"resourceVersion":"42"},"items":[)";
  std::istringstream body{std::string{kHead} + std::string{kPod} + "]}"};
  std::vector<kube::Ref<Pod>> listed;
  if (read_pods(body, listed) != "42" || listed.size() != 1) return failed("the list is wrong");

  const auto small = kube::decode_json<SmallPod>(kPod);
  if (small->metadata.name != "web-0" || small->spec.node_name != "node-7") {
    return failed("the small pod is wrong");
  }
  std::cout << "a whole pod takes " << kube::bytes_of(listed.front()).own << " bytes, a small one "
            << kube::bytes_of(small).own << '\n';
  return 0;
}
