// SPDX-License-Identifier: Apache-2.0
#include "names.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace kube::gen {
namespace {

TEST(MemberName, SplitsWordsWhereAReaderWould) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"name", "name"},
      {"podIP", "pod_ip"},
      {"hostIPs", "host_ips"},
      {"clusterIPs", "cluster_ips"},
      {"hostIPC", "host_ipc"},
      {"nonResourceURLs", "non_resource_urls"},
      {"serverAddressByClientCIDRs", "server_address_by_client_cidrs"},
      {"targetWWNs", "target_wwns"},
      {"currentCPUUtilizationPercentage", "current_cpu_utilization_percentage"},
      {"insecureSkipTLSVerify", "insecure_skip_tls_verify"},
      {"setHostnameAsFQDN", "set_hostname_as_fqdn"},
      {"openAPIV3Schema", "open_api_v3_schema"},
      {"stubPKCS10Request", "stub_pkcs10_request"},
      {"fieldsV1", "fields_v1"},
      {"jSONSchemas", "json_schemas"},
      {"JSONPath", "json_path"},
      {"IPv4Protocol", "ipv4_protocol"},
      {"externalTrafficPolicy", "external_traffic_policy"},
      {"x-kubernetes-list-type", "x_kubernetes_list_type"},
      {"$ref", "ref"},
      {"already_snake", "already_snake"},
  };
  for (const auto& [json, expected] : cases) EXPECT_EQ(member_name(json), expected) << json;
}

TEST(MemberName, AppendsAnUnderscoreToKeywordsAndMacros) {
  EXPECT_EQ(member_name("namespace"), "namespace_");
  EXPECT_EQ(member_name("operator"), "operator_");
  EXPECT_EQ(member_name("default"), "default_");
  EXPECT_EQ(member_name("and"), "and_");
  EXPECT_EQ(member_name("co_await"), "co_await_");
  EXPECT_EQ(member_name("errno"), "errno_");
  EXPECT_EQ(member_name("linux"), "linux_");
}

TEST(MemberName, KeepsGeneratedCodeFromFindingTheWrongNamespace) {
  EXPECT_EQ(member_name("kube"), "kube_");
  EXPECT_EQ(member_name("std"), "std_");
}

TEST(MemberName, IsAnIdentifierWhateverTheInput) {
  EXPECT_EQ(member_name("3d"), "field_3d");
  EXPECT_EQ(member_name(""), "field");
  EXPECT_EQ(member_name("***"), "field");
  EXPECT_EQ(member_name("\xe6\x97\xa5"), "field");
  EXPECT_EQ(member_name("__a__b__"), "a_b");
  EXPECT_EQ(member_name("a; int x = 1; //"), "a_int_x_1");
  for (int c = 0; c < 256; ++c) {
    const std::string name = member_name(std::string{'a', static_cast<char>(c), 'b'});
    EXPECT_TRUE(is_identifier(name)) << c;
    EXPECT_EQ(name.find("__"), std::string::npos) << c;
  }
}

TEST(MemberName, TruncatesLongNames) {
  const std::string name = member_name(std::string(100000, 'x'));

  EXPECT_EQ(name.size(), kMaxIdentifier);
}

TEST(TypeName, KeepsTheSpellingOfKinds) {
  EXPECT_EQ(type_name("CSIDriver"), "CSIDriver");
  EXPECT_EQ(type_name("PodIP"), "PodIP");
  EXPECT_EQ(type_name("foo"), "Foo");
  EXPECT_EQ(type_name("x-kubernetes-thing"), "XKubernetesThing");
  EXPECT_EQ(type_name("9Lives"), "Type9Lives");
  EXPECT_EQ(type_name("EOF"), "EOF_");
}

TEST(VersionName, IsTheVersionIfItIsAProperOne) {
  EXPECT_EQ(version_name("v1alpha1"), "v1alpha1");
  EXPECT_EQ(version_name("2024-01"), "v2024_01");
  EXPECT_EQ(version_name("v1}; int x; {"), "v1_int_x");
  EXPECT_EQ(version_name(""), "v");
}

TEST(Scope, NumbersWhatIsTaken) {
  Scope scope{{"kube_type"}};

  EXPECT_EQ(scope.add("name"), "name");
  EXPECT_EQ(scope.add("name"), "name_2");
  EXPECT_EQ(scope.add("name_2"), "name_2_2");
  EXPECT_EQ(scope.add("kube_type"), "kube_type_2");
  EXPECT_EQ(scope.add("class_"), "class_");
  EXPECT_EQ(scope.add("class_"), "class_2");
}

std::vector<std::string> names_of(const std::string& type,
                                  const std::vector<std::pair<std::string, std::string>>& entries) {
  std::vector<std::string> names;
  std::vector<std::string> values;
  for (const auto& [name, value] : entries) {
    names.push_back(name);
    values.push_back(value);
  }
  return constant_names(type, names, values);
}

using Names = std::vector<std::string>;

TEST(ConstantNames, DeriveFromTheValue) {
  EXPECT_EQ(names_of("PodPhase", {{"PodPending", "Pending"}}), Names{"Pending"});
  EXPECT_EQ(names_of("PodConditionType", {{"PodScheduled", "PodScheduled"}}),
            Names{"PodScheduled"});
  EXPECT_EQ(names_of("ResourceName", {{"ResourceCPU", "cpu"}}), Names{"CPU"});
  EXPECT_EQ(names_of("ResourceName", {{"ResourceServicesNodePorts", "services.nodeports"}}),
            Names{"ServicesNodePorts"});
  EXPECT_EQ(names_of("CompletionMode", {{"NonIndexedCompletion", "NonIndexed"}}),
            Names{"NonIndexed"});
}

TEST(ConstantNames, OmitTheWordsOfTheTypeForEmptyValues) {
  EXPECT_EQ(names_of("HostPathType", {{"HostPathUnset", ""}}), Names{"Unset"});
  EXPECT_EQ(names_of("OperationType", {{"OperationAll", "*"}}), Names{"All"});
  EXPECT_EQ(names_of("SecretType", {{"SecretTypeTLS", "kubernetes.io/tls"}}), Names{"TLS"});
}

TEST(ConstantNames, AreUniqueAndLeaveOutRepetitions) {
  const Names storage = names_of("StorageMedium", {{"StorageMediumHugePages", "HugePages"},
                                                   {"StorageMediumHugePagesPrefix", "HugePages-"}});
  const Names traffic =
      names_of("Policy", {{"PolicyLocal", "Local"}, {"PolicyTypeLocal", "Local"}});

  EXPECT_EQ(storage, (Names{"HugePages", "HugePagesPrefix"}));
  EXPECT_EQ(traffic, (Names{"Local", ""}));
}

}  // namespace
}  // namespace kube::gen
