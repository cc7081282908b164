// SPDX-License-Identifier: Apache-2.0
#include "failing_new.hpp"
#include "testkit/kinds/crd_registry.hpp"
#include "testkit/values/value_text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace kube::testkit::detail {
namespace {

/// Stores and serves definition `number`. Returns the number of allocations.
std::size_t add_definition(Services& services, CrdRegistry& registry, int number) {
  const ResourcePtr resource =
      services.catalog()->find_kind("apiextensions.k8s.io/v1", "CustomResourceDefinition");
  const std::string name = fmt::format("things{}.example.com", number);
  const Ref<Value> definition = parse_json(fmt::format(
      R"({{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"{}","uid":"{}"}},"spec":{{"group":"example.com","scope":"Namespaced","names":{{"plural":"things{}","singular":"thing{}","kind":"Thing{}","listKind":"Thing{}List"}},"versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{{"type":"object","properties":{{"spec":{{"type":"object","properties":{{"a":{{"type":"string"}},"b":{{"type":"integer"}}}}}}}}}}}}}}]}}}})",
      name, number, number, number, number, number));
  services.commit(*resource->collection, name, {},
                  services.codec.from_value(*resource->storage_type, *definition));
  const std::size_t before = allocations();
  registry.definition_changed(name);
  return allocations() - before;
}

// 1,000 definitions once took 14 s, because every change of one encoded all others.
TEST(CrdMemory, CostOfADefinitionIsIndependentOfOthers) {
  Services services{{}};
  Rest rest{services};
  CrdRegistry registry{services, rest};

  for (int i = 0; i < 20; ++i) static_cast<void>(add_definition(services, registry, i));
  const std::size_t among_few = add_definition(services, registry, 20);
  for (int i = 21; i < 500; ++i) static_cast<void>(add_definition(services, registry, i));
  const std::size_t among_many = add_definition(services, registry, 500);

  EXPECT_NE(services.catalog()->find("example.com", "v1", "things500"), nullptr);
  EXPECT_LT(among_many, among_few + 3 * 500) << among_few << " allocations among 20";
}

}  // namespace
}  // namespace kube::testkit::detail
