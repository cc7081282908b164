// SPDX-License-Identifier: Apache-2.0
#include "schema.hpp"

#include <fmt/format.h>

#include <cctype>
#include <map>
#include <stdexcept>

namespace kube::bench {
namespace {

// The types of apimachinery with a special protobuf form.
constexpr std::string_view kPreamble = R"(// Generated from the schema by make_peers. Do not edit.
syntax = "proto2";
package kube.bench.wire;
option cc_enable_arenas = true;

message Time {
  optional int64 seconds = 1;
  optional int32 nanos = 2;
}

message Quantity {
  optional string string = 1;
}

message IntOrString {
  optional int64 type = 1;
  optional int32 intVal = 2;
  optional string strVal = 3;
}

message FieldsV1 {
  optional bytes Raw = 1;
}
)";

std::string type_name(const PeerField& field) {
  static const std::map<std::string, std::string, std::less<>> kNames = {
      {"bool", "bool"},          {"int32", "int32"},
      {"int64", "int64"},        {"string", "string"},
      {"time", "Time"},          {"quantity", "Quantity"},
      {"fields_v1", "FieldsV1"}, {"int_or_string", "IntOrString"},
  };
  if (field.is_message) return field.element;
  const auto found = kNames.find(field.element);
  if (found == kNames.end()) throw std::runtime_error("no protobuf type for " + field.element);
  return found->second;
}

std::string field_name(const PeerField& field) {
  std::string name = field.is_inline ? field.go : field.json;
  name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
  return name;
}

}  // namespace

std::string proto_file(const std::vector<PeerMessage>& messages) {
  std::string out{kPreamble};
  for (const PeerMessage& message : messages) {
    out += fmt::format("\nmessage {} {{\n", message.name);
    for (const PeerField& field : message.fields) {
      const std::string type = type_name(field);
      const std::string declared = field.shape == PeerField::Shape::kMap
                                       ? fmt::format("map<string, {}>", type)
                                   : field.shape == PeerField::Shape::kList ? "repeated " + type
                                                                            : "optional " + type;
      out += fmt::format("  {} {} = {};\n", declared, field_name(field), field.number);
    }
    out += "}\n";
  }
  return out;
}

}  // namespace kube::bench
