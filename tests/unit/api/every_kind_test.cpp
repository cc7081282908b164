// SPDX-License-Identifier: Apache-2.0
// Round trips of every built-in kind with all fields set, through both codecs; and the descriptor
// tables compared with the schema.
#include <kube/api/leaf.hpp>
#include <kube/api/registry.hpp>
#include <kube/codec/decoder.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/value.hpp>

#include "support/paths.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>

namespace kube {
namespace {

/// Creates a JSON document with every field of a type set, to a different value at each place.
class Filler {
 public:
  Value fill(const Type& type, int depth) {
    ++count_;
    switch (type.kind) {
      case Kind::kBool:
      case Kind::kOptionalBool:
        return true;
      case Kind::kInt32:
      case Kind::kOptionalInt32:
      case Kind::kInt64:
      case Kind::kOptionalInt64:
        return count_ % 2 == 0 ? -count_ : count_;
      case Kind::kDouble:
      case Kind::kOptionalDouble:
        return count_ + 0.25;
      case Kind::kString:
      case Kind::kOptionalString:
        return "text " + std::to_string(count_) + (count_ % 3 == 0 ? " <\"long & unusual\">" : "");
      case Kind::kBytes:
        return count_ % 2 == 0 ? "AAEC/w==" : "a3ViZQ==";
      case Kind::kLeaf:
        return leaf(type);
      case Kind::kValue:
        return Value::object({{"any", count_}});
      case Kind::kBox:
        return fill(*type.element, depth);
      case Kind::kList:
        return Value::array({fill(*type.element, depth), fill(*type.element, depth)});
      case Kind::kMap:
        return Value::object(
            {{"a/key", fill(*type.element, depth)}, {"b.key", fill(*type.element, depth)}});
      case Kind::kStruct:
        return type.is(Type::kByToken) ? by_token(type, depth) : object(type, depth);
    }
    return {};
  }

 private:
  Value leaf(const Type& type) const {
    if (type.name == "RFC 3339 time") {
      const std::string seconds = std::to_string(10 + count_ % 50);
      return "2026-02-03T04:05:" + seconds + (is_micro(type) ? ".123456Z" : "Z");
    }
    if (type.name == "quantity") return std::to_string(count_) + "Mi";
    if (type.name == "integer or string") {
      return count_ % 2 == 0 ? Value{count_} : Value{"port-" + std::to_string(count_)};
    }
    if (type.name == "duration") return "1h2m3s";
    if (type.name == "set of fields") {
      return Value::object({{"f:spec", Value::object({{"k:{\"ip\":\"10.0.0.1\"}", count_}})}});
    }
    return Value::object({{"raw", count_}});
  }
  static bool is_micro(const Type& type) { return &type == &type_of<MicroTime>(); }
  /// Schemas are recursive: beyond some depth the variant without nesting is used.
  Value by_token(const Type& type, int depth) {
    for (const Field& field : type.fields) {
      if (field.type->kind == Kind::kBox && depth < 2) return fill(*field.type, depth);
    }
    for (const Field& field : type.fields) {
      if (field.type->kind == Kind::kBool) return true;
    }
    for (const Field& field : type.fields) {
      if (field.type->kind == Kind::kList && field.type->element->kind == Kind::kString) {
        return fill(*field.type, depth);
      }
    }
    return fill(*type.fields.front().type, depth);
  }
  Value object(const Type& type, int depth) {
    Value filled = Value::object();
    if (type.is(Type::kHasTypeMeta)) {
      filled["kind"] = type.name;
      filled["apiVersion"] = type.api_version;
    }
    const bool is_recursive = type.name == "JSONSchemaProps";
    for (const Field& field : type.fields) {
      if (is_recursive && depth >= 2 && field.type->element != nullptr &&
          field.type->kind != Kind::kLeaf && field.type->element->kind == Kind::kStruct) {
        continue;
      }
      filled[field.name()] = fill(*field.type, depth + (is_recursive ? 1 : 0));
    }
    return filled;
  }

  int count_ = 0;
};

class Decoded {
 public:
  explicit Decoded(detail::Block* block) : block_(block) {}
  Decoded(const Decoded&) = delete;
  Decoded& operator=(const Decoded&) = delete;
  ~Decoded() { block_->release(); }
  [[nodiscard]] const std::byte* object() const { return block_->root(); }

 private:
  detail::Block* block_;
};

TEST(EveryKind, SurvivesJsonAndProtobufWithoutLosingAField) {
  std::size_t kinds = 0;
  for (const ApiKind& kind : api_kinds()) {
    const Type& type = *kind.type;
    SCOPED_TRACE(std::string{type.api_version} + ' ' + std::string{type.name});
    const Value document = Filler{}.fill(type, 0);
    const std::string json = encode_json(document);

    detail::DecoderCore decoder{type, {}};
    const Decoded from_json{decoder.json(json, 0)};
    EXPECT_EQ(*decode_json<Value>(detail::encode_json(type, from_json.object())), document);
    if (type.proto.empty() && !type.fields.empty()) continue;
    const std::string protobuf =
        detail::encode_protobuf(type, from_json.object(), detail::Wrapping::kEnvelope);
    const Decoded from_protobuf{decoder.enveloped(protobuf, 0)};

    EXPECT_EQ(*decode_json<Value>(detail::encode_json(type, from_protobuf.object())), document);
    EXPECT_TRUE(detail::equal_values(type, from_json.object(), from_protobuf.object()));
    ++kinds;
  }
  EXPECT_GT(kinds, 200U);
}

/// Returns the schema, read once.
const Value& schema() {
  static const Ref<Value> document = [] {
    std::ifstream file{testing_support::source_path("schema/kubernetes-1.36.json")};
    return decode_json<Value>(std::string{std::istreambuf_iterator<char>{file}, {}});
  }();
  return *document;
}

TEST(EveryKind, OfTheSchemaHasItsTypeAndResource) {
  std::map<std::string, const ApiKind*> known;
  for (const ApiKind& kind : api_kinds()) {
    known[std::string{kind.type->api_version} + ' ' + std::string{kind.type->name}] = &kind;
  }
  std::size_t resources = 0;
  for (const Value& group : schema()["groups"].as_array()) {
    const std::string name{group["group"].as_string()};
    const std::string version{group["version"].as_string()};
    for (const Value& resource : group["resources"].as_array()) {
      const std::string kind{resource["kind"].as_string()};
      SCOPED_TRACE(name + '/' + version + ' ' + kind);
      const auto found = known.find((name.empty() ? version : name + '/' + version) + ' ' + kind);
      ASSERT_NE(found, known.end());
      ASSERT_NE(found->second->resource, nullptr);
      EXPECT_EQ(found->second->resource->plural, resource["plural"].as_string());
      EXPECT_EQ(found->second->resource->namespaced, resource["namespaced"].as_bool());
      ++resources;
    }
  }
  EXPECT_GT(resources, 150U);
}

TEST(EveryKind, OfClientGosFactoryIsThere) {
  // The API groups of client-go's shared informer factory.
  const std::set<std::string> groups{"admissionregistration.k8s.io",
                                     "internal.apiserver.k8s.io",
                                     "apps",
                                     "autoscaling",
                                     "batch",
                                     "certificates.k8s.io",
                                     "coordination.k8s.io",
                                     "",
                                     "discovery.k8s.io",
                                     "events.k8s.io",
                                     "extensions",
                                     "flowcontrol.apiserver.k8s.io",
                                     "networking.k8s.io",
                                     "node.k8s.io",
                                     "policy",
                                     "rbac.authorization.k8s.io",
                                     "resource.k8s.io",
                                     "scheduling.k8s.io",
                                     "storage.k8s.io",
                                     "storagemigration.k8s.io",
                                     "apiextensions.k8s.io",
                                     "apiregistration.k8s.io",
                                     "authentication.k8s.io",
                                     "authorization.k8s.io"};
  std::set<std::string> missing = groups;
  for (const ApiKind& kind : api_kinds()) {
    if (kind.resource != nullptr) missing.erase(std::string{kind.resource->group});
  }
  EXPECT_TRUE(missing.empty()) << *missing.begin();
}

}  // namespace
}  // namespace kube
