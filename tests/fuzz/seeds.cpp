// SPDX-License-Identifier: Apache-2.0
// Writes the initial corpus of each fuzzer, made from recorded objects: fuzz_seeds FIXTURES OUT
#include "codec/list_splitter.hpp"
#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/codec/yaml.hpp>
#include <kube/object/value.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using kube::Format;
using kube::Value;
using kube::apps::v1::Deployment;
using kube::core::v1::Pod;

class Seeds {
 public:
  Seeds(std::filesystem::path fixtures, std::filesystem::path out)
      : fixtures_(std::move(fixtures)), out_(std::move(out)) {}

  [[nodiscard]] std::string fixture(const std::string& name) const {
    std::ifstream file{fixtures_ / name, std::ios::binary};
    if (!file) throw std::runtime_error("no fixture " + name);
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  [[nodiscard]] std::vector<std::string> items(const std::string& name, Format format) const {
    std::vector<std::string> found;
    kube::detail::ListSplitter splitter{format, {}};
    splitter.feed(fixture(name),
                  [&](std::string_view item, std::size_t) { found.emplace_back(item); });
    splitter.finish();
    return found;
  }
  void add(const std::string& target, std::string_view content) {
    std::filesystem::create_directories(out_ / target);
    std::ofstream file{out_ / target / ("seed-" + std::to_string(count_++)), std::ios::binary};
    file << content;
  }

 private:
  std::filesystem::path fixtures_;
  std::filesystem::path out_;
  int count_ = 0;
};

/// Returns the recorded pod, and pods of the recorded deployments, which have many more fields.
std::vector<Pod> pods(const Seeds& seeds) {
  std::vector<Pod> found;
  for (const std::string& item : seeds.items("core_v1_pods.json", Format::kJson)) {
    found.push_back(*kube::decode_json<Pod>(item));
  }
  for (const std::string& item : seeds.items("apps_v1_deployments.json", Format::kJson)) {
    Pod& pod = found.emplace_back();
    const auto deployment = kube::decode_json<Deployment>(item);
    pod.metadata = deployment->spec.template_.metadata;
    pod.metadata.name = "web-1";
    pod.spec = deployment->spec.template_.spec;
  }
  return found;
}

void write(Seeds& seeds) {
  for (const Pod& pod : pods(seeds)) {
    Pod other = pod;
    other.metadata.name = "web-2";
    other.metadata.labels["one"] = "more";
    seeds.add("json_decode", kube::encode_json(pod) + '\0' + kube::encode_json(other));
    const std::string message = kube::encode_protobuf_message(pod);
    seeds.add("protobuf_decode", std::string{"\x00\x80", 2} + message);
    seeds.add("protobuf_decode",
              std::string{"\x01\x80", 2} + message + kube::encode_protobuf_message(other));
    seeds.add("yaml", kube::encode_yaml(pod));
  }
  const std::string definitions =
      seeds.fixture("apiextensions.k8s.io_v1_customresourcedefinitions.json");
  const auto list = kube::decode_json<Value>(definitions);
  for (const Value& definition : list->get_array("items")) {
    const Value* schema = definition.find("spec.versions[0].schema.openAPIV3Schema");
    if (schema == nullptr) continue;
    seeds.add("json_decode", kube::encode_json(*schema));
    Value whole = definition;
    whole["kind"] = "CustomResourceDefinition";
    whole["apiVersion"] = "apiextensions.k8s.io/v1";
    seeds.add("kubegen", kube::yaml_from_json(whole));
  }
  seeds.add("json_decode",
            R"({"items":[{"type":"a"}],"additionalProperties":false,"enum":[null,1,"x"],)"
            R"("dependencies":{"a":["b"],"c":{"maximum":1e21}}})");
  for (const char* suffix : {".json", ".pb"}) {
    seeds.add("list_reader", '\a' + seeds.fixture(std::string{"core_v1_configmaps"} + suffix));
    seeds.add("watch_reader", '\a' + seeds.fixture(std::string{"watch_configmaps"} + suffix));
  }
  seeds.add("list_reader", "\a{\"items\":[ {} , {\"data\":{\"k\":\"]}\"}} ],\"metadata\":{}}");
  seeds.add("watch_reader", "\a{\"type\":\"ERROR\",\"object\":{\"code\":410}}");
  seeds.add("yaml",
            "a: &x {k: [1, yes, ~, 0x1F, 1_000, .5, '']}\nb: *x\nc:\n  <<: *x\n  d: |\n    t\n"
            "---\n? long\n: >-\n  folded\n  text\n");
  for (const std::string_view text :
       {"app in (a,b),!c,d!=e", "metadata.name=x,spec.nodeName!=y", "1.5Gi", "-12e3",
        "2026-01-31T12:00:00.5+02:00", "1h2m3.5s", "a.b[3]['c.d']", "aGVsbG8="}) {
    seeds.add("text", text);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: fuzz_seeds FIXTURES OUT\n";
    return 2;
  }
  Seeds seeds{arguments[1], arguments[2]};
  write(seeds);
  return 0;
}
