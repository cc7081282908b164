// SPDX-License-Identifier: Apache-2.0
// Objects of every built-in kind get the same defaults as on a real server. Against a cluster, the
// test verifies the recording; with KUBECXX_RECORD_FIXTURES set, it writes the recording.
#include <kube/api/registry.hpp>
#include <kube/client/client.hpp>
#include <kube/client/rest_mapper.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/yaml.hpp>

#include "support/fixtures.hpp"
#include "support/paths.hpp"
#include "support/test_server.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace kube::testing_support {
namespace {

constexpr const char* kRecording = "defaults.jsonl";

std::string read(const std::string& path) {
  std::ifstream file{source_path(path)};
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string text_at(const Value& object, std::string_view path) {
  return std::string{object.get_string(path).value_or("")};
}

/// Removes fractions of seconds: manifests have them, servers drop them.
std::string without_times(const std::string& text) {
  static const std::regex kTime{R"("20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-9:]{8}Z")"};
  return std::regex_replace(text, kTime, R"("TIME")");
}

/// Removes everything that differs between servers, users and runs.
Value normalized(const Value& answer, const std::string& space) {
  const std::string uid = text_at(answer, "metadata.uid");
  std::string text = encode_json(answer);
  if (!uid.empty()) text = replaced(std::move(text), uid, "UID");
  text = replaced(std::move(text), '"' + space + '"', R"("NAMESPACE")");
  Value object = *decode_json<Value>(without_times(text));
  for (const char* field : {"creationTimestamp", "managedFields", "resourceVersion", "uid"}) {
    object["metadata"].erase(field);
  }
  const std::string kind = text_at(answer, "kind");
  if (kind == "Service" && text_at(answer, "spec.clusterIP").starts_with("10.")) {
    object["spec"]["clusterIP"] = "ADDRESS";
    object["spec"]["clusterIPs"] = Value::array({"ADDRESS"});
  }
  if (kind == "CertificateSigningRequest") {
    for (const char* field : {"username", "groups", "uid", "extra"}) object["spec"].erase(field);
  }
  return object;
}

/// Returns the server's answer to a dry-run create.
Value created(const Client& client, RestMapper& mapper, const Value& manifest,
              const std::string& space) {
  const RestMapping mapping = mapper.for_kind(
      parse_group_version(text_at(manifest, "apiVersion")).with_kind(text_at(manifest, "kind")));
  const std::string own = text_at(manifest, "metadata.namespace");
  const auto objects = client.dynamic(mapping.resource, !mapping.namespaced ? ""
                                                        : own.empty()       ? space
                                                                            : own);
  return normalized(*objects.create(manifest, {.dry_run = true}), space);
}

std::vector<Ref<Value>> manifests(const std::string& space) {
  std::vector<Ref<Value>> all;
  for (const char* file : {"core", "workloads", "cluster"}) {
    const std::string text = read(std::string{"tests/fixtures/defaults/"} + file + ".yaml");
    for (Ref<Value>& document : decode_yaml_documents(replaced(text, "$NAMESPACE", space))) {
      all.push_back(std::move(document));
    }
  }
  return all;
}

// DF-1
TEST(Defaults, AreThoseOfARealServer) {
  TestServer server;
  const Client client{server.config()};
  RestMapper mapper{client};
  std::vector<std::string> answers;
  for (const Ref<Value>& manifest : manifests(server.space())) {
    const std::string name = text_at(*manifest, "kind") + ' ' + text_at(*manifest, "metadata.name");
    try {
      answers.push_back(encode_json(created(client, mapper, *manifest, server.space())));
    } catch (const ApiError& error) {
      ADD_FAILURE() << name << ": " << error.what();
      answers.push_back(name);
    }
  }
  const std::string path = source_path(std::string{"tests/fixtures/v1.36.4/"} + kRecording);
  if (server.is_real() && std::getenv("KUBECXX_RECORD_FIXTURES") != nullptr) {
    std::ofstream file{path};
    for (const std::string& answer : answers) file << answer << '\n';
    return;
  }

  std::istringstream recording{test::fixture(kRecording)};
  std::size_t identical = 0;
  for (const std::string& answer : answers) {
    std::string expected;
    ASSERT_TRUE(std::getline(recording, expected)) << "no recording of " << answer;
    EXPECT_EQ(answer, expected);
    if (answer == expected) ++identical;
  }
  EXPECT_EQ(identical, answers.size());
}

/// Returns false for kinds whose objects are answered but never stored.
bool is_stored(const ResourceInfo& info) {
  const std::set<std::string_view> verbs{info.verbs.begin(), info.verbs.end()};
  return info.served_by_default && verbs.contains("create") && verbs.contains("list");
}

TEST(Defaults, AreRecordedForEveryKind) {
  std::set<std::string> recorded;
  for (const Ref<Value>& manifest : manifests("default")) {
    recorded.insert(text_at(*manifest, "apiVersion") + ' ' + text_at(*manifest, "kind"));
  }
  for (const ApiKind& kind : api_kinds()) {
    if (kind.resource == nullptr || !is_stored(*kind.resource)) continue;
    const GroupVersion version{std::string{kind.resource->group},
                               std::string{kind.resource->version}};
    const std::string name = to_string(version) + ' ' + std::string{kind.resource->kind};
    EXPECT_TRUE(recorded.contains(name)) << name;
  }
}

}  // namespace
}  // namespace kube::testing_support
