// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <set>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

constexpr const char* kServices = "/api/v1/namespaces/default/services";

std::string service(const std::string& name, const std::string& type, const std::string& port) {
  return R"({"metadata":{"name":")" + name + R"("},"spec":{"type":")" + type +
         R"(","ports":[{"port":80)" + port + "}]}}";
}

// BK-9
TEST(NodePort, IsAllocatedAndKept) {
  Api api;
  for (const char* type : {"NodePort", "LoadBalancer"}) {
    const ApiReply made =
        api.post(kServices, service(type == std::string{"NodePort"} ? "n" : "l", type, ""));
    ASSERT_EQ(made.status(), 201) << made.text();
    const std::string port = made.at("spec.ports[0].nodePort");
    const std::string path = std::string{kServices} + "/" + made.at("metadata.name");

    EXPECT_GE(std::stoi(port), 30000);
    EXPECT_LE(std::stoi(port), 32767);
    EXPECT_EQ(made.at("spec.externalTrafficPolicy"), "Cluster");
    Value update = *made.json;
    update["spec"]["ports"] = Value::array({Value::object({{"port", 80}})});
    EXPECT_EQ(api.put(path, update).at("spec.ports[0].nodePort"), port);
    const ApiReply inner = api.patch(path, R"({"spec":{"type":"ClusterIP"}})");
    EXPECT_EQ(inner.status(), 200) << inner.text();
    EXPECT_EQ(inner.at("spec.ports[0].nodePort"), "");
    EXPECT_EQ(inner.at("spec.externalTrafficPolicy"), "");
  }
}

// BK-9
TEST(NodePort, BelongsToOneServiceOnly) {
  Api api;
  EXPECT_EQ(api.post(kServices, service("a", "NodePort", R"(,"nodePort":30080)")).status(), 201);

  const ApiReply taken = api.post(kServices, service("b", "NodePort", R"(,"nodePort":30080)"));
  const ApiReply low = api.post(kServices, service("b", "NodePort", R"(,"nodePort":80)"));
  const ApiReply other =
      api.post(kServices, service("b", "NodePort", R"(,"protocol":"UDP","nodePort":30080)"));

  EXPECT_EQ(taken.status(), 422);
  EXPECT_EQ(taken.message(),
            "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port "
            "is already allocated");
  EXPECT_EQ(low.message(),
            "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is "
            "not in the valid range. The range of valid ports is 30000-32767");
  EXPECT_EQ(other.status(), 201) << other.text();
}

// BK-14
TEST(ClusterAddress, BelongsToOneServiceOnly) {
  Api api;
  const std::string fixed = R"("spec":{"clusterIP":"10.96.3.4","ports":[{"port":80}]}})";
  EXPECT_EQ(api.post(kServices, R"({"metadata":{"name":"a"},)" + fixed).status(), 201);

  const ApiReply taken = api.post(kServices, R"({"metadata":{"name":"b"},)" + fixed);

  EXPECT_EQ(taken.status(), 422);
  EXPECT_EQ(taken.message(),
            "Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"10.96.3.4\"]: failed to "
            "allocate IP 10.96.3.4: provided IP is already allocated");
}

// BK-14
TEST(ClusterAddress, IsNeverAllocatedTwice) {
  Api api;
  std::set<std::string> addresses;
  for (int i = 0; i < 50; ++i) {
    const ApiReply made = api.post(kServices, service("s" + std::to_string(i), "ClusterIP", ""));
    ASSERT_EQ(made.status(), 201) << made.text();
    addresses.insert(made.at("spec.clusterIP"));
  }
  EXPECT_EQ(addresses.size(), 50U);
}

// BK-14
TEST(HealthCheckNodePort, IsForLoadBalancersWithLocalTraffic) {
  Api api;
  const ApiReply made = api.post(
      kServices,
      R"({"metadata":{"name":"a"},"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local","ports":[{"port":80}]}})");
  ASSERT_EQ(made.status(), 201) << made.text();
  const std::string port = made.at("spec.healthCheckNodePort");
  const std::string path = std::string{kServices} + "/a";

  EXPECT_GE(std::stoi(port), 30000);
  EXPECT_EQ(api.patch(path, R"({"spec":{"healthCheckNodePort":32001}})").message(),
            "Service \"a\" is invalid: spec.healthCheckNodePort: Forbidden: field is immutable");
  Value update = *made.json;
  update["spec"].erase("healthCheckNodePort");
  EXPECT_EQ(api.put(path, update).at("spec.healthCheckNodePort"), port);
  const ApiReply other = api.patch(path, R"({"spec":{"externalTrafficPolicy":"Cluster"}})");
  EXPECT_EQ(other.status(), 200) << other.text();
  EXPECT_EQ(other.at("spec.healthCheckNodePort"), "");
}

}  // namespace
}  // namespace kube::testkit::detail
