// SPDX-License-Identifier: Apache-2.0
// Input: a patch of any kind. Must yield an error, or an object that can be read and patched again.
// The first byte selects the kind of the patch and of the object.
#include "fuzz.hpp"
#include "testkit/requests/engine.hpp"

#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/object/value.hpp>

#include <array>
#include <memory>
#include <string>

namespace {

using kube::fuzz::require;
using kube::testkit::detail::Engine;
using kube::testkit::detail::EngineOptions;
using kube::testkit::detail::ServerRequest;
using kube::testkit::detail::ServerResponse;

constexpr std::array kTypes{"application/json-patch+json", "application/merge-patch+json",
                            "application/strategic-merge-patch+json",
                            "application/apply-patch+yaml"};

struct Kind {
  const char* path;
  const char* object;
};
constexpr std::array kKinds{
    Kind{
        "/api/v1/namespaces/default/configmaps/m",
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"k":"1"},"binaryData":{"b":"AAE="}})"},
    Kind{
        "/apis/apps/v1/namespaces/default/deployments/d",
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"x","env":[{"name":"e","value":"f"}],"ports":[{"containerPort":80}]},{"name":"d","image":"y"}],"tolerations":[{"key":"t"}]}}}})"},
    Kind{
        "/apis/example.com/v1/namespaces/default/widgets/w",
        R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"list":[{"name":"a","n":1}],"free":{"x":[1,{"y":null}]}}})"}};
constexpr const char* kDefinition =
    R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"list":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"n":{"type":"integer"}}}},"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}}}]}})";

ServerResponse ask(Engine& engine, std::string method, std::string target, std::string body,
                   std::string type) {
  return engine.handle({std::move(method),
                        std::move(target),
                        {{"Content-Type", std::move(type)}},
                        std::move(body),
                        std::nullopt});
}

Engine& engine() {
  static const std::unique_ptr<Engine> made = [] {
    EngineOptions options;
    options.seed = 7;
    options.history_size = 16;
    auto one = std::make_unique<Engine>(std::move(options));
    const ServerResponse defined =
        ask(*one, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", kDefinition,
            "application/json");
    require(defined.status == 201 && one->settle(), "the definition is served");
    return one;
  }();
  return *made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Kind& kind = kKinds[(data[0] / kTypes.size()) % kKinds.size()];
  const char* const type = kTypes[data[0] % kTypes.size()];
  const std::string patch{kube::fuzz::text_of(data + 1, size - 1)};
  engine().seed(kind.object);

  std::string target = kind.path;
  if (data[0] % kTypes.size() == 3) target += "?fieldManager=fuzz&force=true";
  for (int round = 0; round < 2; ++round) {
    const ServerResponse patched = ask(engine(), "PATCH", target, patch, type);
    require(patched.status >= 200 && patched.status < 600, "there is an answer");
    const kube::Ref<kube::Value> body = kube::decode_json<kube::Value>(patched.body);
    require(body->is_object(), "an answer is an object");
    if (patched.status >= 300) break;
    const ServerResponse found = ask(engine(), "GET", kind.path, "", "");
    require(found.status == 200 || found.status == 404, "the object is there or was finished");
    if (found.status == 404) break;
    require(found.body == patched.body, "what was answered is what is stored");
  }
  return 0;
}
