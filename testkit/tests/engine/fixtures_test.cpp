// SPDX-License-Identifier: Apache-2.0
// Lists recorded from a real server: seeded into the engine, they are returned byte for byte.
#include <gtest/gtest.h>

#include "engine_fixture.hpp"
#include "support/fixtures.hpp"

namespace kube::testkit::detail {
namespace {

using test::fixture;

/// Returns the body without the version of the list, which depends on the engine's own writes.
std::string without_list_version(std::string text, const std::string& version) {
  const std::string field = "\"resourceVersion\":\"" + version + "\"";
  const std::size_t at = text.find(field);
  return at == std::string::npos ? text
                                 : text.replace(at, field.size(), "\"resourceVersion\":\"\"");
}

// CT-5, CT-7, CT-8, RV-1
TEST(Fixtures, ListsOfEveryKindMatchARealServer) {
  const Ref<Value> index = parse_json(fixture("index.json"));
  std::size_t compared = 0;
  for (const Value& entry : index->as_array()) {
    const std::string file{entry["file"].as_string()};
    const std::string path{entry["path"].as_string()};
    const std::string recorded = fixture(file + ".json");
    const Ref<Value> list = parse_json(recorded);
    // Some recordings are the first page of a longer list.
    if (!(*list)["items"].is_array() || list->get_string("metadata.continue")) continue;
    std::vector<ObjectState> objects;
    const std::string kind{(*list)["kind"].as_string()};
    for (const Value& item : list->get_array("items")) {
      Value object = item;
      object["kind"] = kind.substr(0, kind.size() - 4);
      object["apiVersion"] = (*list)["apiVersion"];
      const std::string api_version{(*list)["apiVersion"].as_string()};
      const std::size_t slash = api_version.find('/');
      if (!item.get_string("metadata.resourceVersion")) continue;
      objects.push_back({slash == std::string::npos ? "" : api_version.substr(0, slash),
                         path.substr(path.rfind('/') + 1),
                         std::string{item.get_string("metadata.namespace").value_or("")},
                         std::string{item.get_string("metadata.name").value_or("")},
                         std::stoull(std::string{*item.get_string("metadata.resourceVersion")}),
                         json_text(object)});
    }
    if (objects.empty() || file.starts_with("events.k8s.io") ||
        file.starts_with("autoscaling_v1_") || file.starts_with("samplecontroller")) {
      continue;  // stored in another version, or not built in
    }
    Api api;
    const std::uint64_t version =
        std::stoull(std::string{*list->get_string("metadata.resourceVersion")});
    api.engine.import_objects(objects, version);
    const ApiReply reply = api.get(path);
    EXPECT_EQ(without_list_version(reply.text(), reply.version()),
              without_list_version(recorded, std::to_string(version)))
        << file;
    if (entry["protobuf"] == Value{true} && reply.version() == std::to_string(version)) {
      EXPECT_EQ(api.get(path, "application/vnd.kubernetes.protobuf").text(), fixture(file + ".pb"))
          << file;
    }
    ++compared;
  }
  EXPECT_GT(compared, 25U);
}

}  // namespace
}  // namespace kube::testkit::detail
