// SPDX-License-Identifier: Apache-2.0
#include "testkit/kinds/openapi.hpp"

#include "testkit/values/value_edit.hpp"

#include <kube/codec/json.hpp>

#include <cstdint>

/// The field numbers are those of the messages in openapiv2.proto of gnostic-models.
namespace kube::testkit::detail {

namespace {

class Message {
 public:
  void text(unsigned number, std::string_view value) {
    if (value.empty()) return;
    key(number, 2);
    varint(value.size());
    bytes_.append(value);
  }
  void message(unsigned number, const Message& value) {
    key(number, 2);
    varint(value.bytes_.size());
    bytes_.append(value.bytes_);
  }
  void flag(unsigned number, bool value) {
    if (!value) return;
    key(number, 0);
    varint(1);
  }
  /// Writes a member of an object, if it is a text.
  void text(unsigned number, const Value& object, std::string_view name) {
    text(number, text_member(object, name));
  }
  void texts(unsigned number, const Value& list) {
    if (!list.is_array()) return;
    for (const Value& one : list.as_array()) {
      if (one.is_string()) text(number, one.as_string());
    }
  }

  std::string take() { return std::move(bytes_); }

 private:
  void key(unsigned number, unsigned wire) { varint(number << 3 | wire); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

/// Encodes an Any message, as YAML; JSON is valid YAML.
Message any(const Value& value) {
  Message message;
  message.text(2, encode_json(value));
  return message;
}

void extensions(Message& message, unsigned number, const Value& object) {
  for (const auto& [key, value] : object.as_object()) {
    if (!key.view().starts_with("x-")) continue;
    Message named;
    named.text(1, key.view());
    named.message(2, any(value));
    message.message(number, named);
  }
}

Message schema_message(const Value& schema);

Message named_schema(std::string_view name, const Value& schema) {
  Message named;
  named.text(1, name);
  named.message(2, schema_message(schema));
  return named;
}

Message schema_message(const Value& schema) {
  Message message;
  message.text(1, schema, "$ref");
  message.text(2, schema, "format");
  message.text(3, schema, "title");
  message.text(4, schema, "description");
  if (const Value* value = member(schema, "default")) message.message(5, any(*value));
  message.text(13, schema, "pattern");
  message.texts(19, schema["required"]);
  if (schema["enum"].is_array()) {
    for (const Value& value : schema["enum"].as_array()) message.message(20, any(value));
  }
  if (schema["additionalProperties"].is_object()) {
    Message item;
    item.message(1, schema_message(schema["additionalProperties"]));
    message.message(21, item);
  }
  if (const std::string_view type = text_member(schema, "type"); !type.empty()) {
    Message item;
    item.text(1, type);
    message.message(22, item);
  }
  if (schema["items"].is_object()) {
    Message item;
    item.message(1, schema_message(schema["items"]));
    message.message(23, item);
  }
  if (schema["properties"].is_object()) {
    Message properties;
    for (const auto& [name, property] : schema["properties"].as_object()) {
      properties.message(1, named_schema(name.view(), property));
    }
    message.message(25, properties);
  }
  extensions(message, 31, schema);
  return message;
}

/// Encodes a ParametersItem message.
Message parameter_item(const Value& parameter) {
  const std::string_view in = text_member(parameter, "in");
  const bool required =
      parameter["required"].kind() == Value::Kind::kBool && parameter["required"].as_bool();
  Message choice;
  if (in == "body") {
    Message body;
    body.text(2, parameter, "name");
    body.text(3, in);
    body.flag(4, required);
    body.message(5, schema_message(parameter["schema"]));
    choice.message(1, body);
  } else {
    const bool in_query = in == "query";
    Message sub_schema;
    sub_schema.flag(1, required);
    sub_schema.text(2, in);
    sub_schema.text(4, parameter, "name");
    sub_schema.text(in_query ? 6 : 5, parameter, "type");
    sub_schema.flag(in_query ? 20 : 19, true);  // uniqueItems
    Message non_body;
    non_body.message(in_query ? 3 : 4, sub_schema);
    choice.message(2, non_body);
  }
  Message item;
  item.message(1, choice);
  return item;
}

Message responses_message(const Value& responses) {
  Message message;
  for (const auto& [code, response] : responses.as_object()) {
    Message made;
    made.text(1, response, "description");
    if (response["schema"].is_object()) {
      Message item;
      item.message(1, schema_message(response["schema"]));
      made.message(2, item);
    }
    Message value;
    value.message(1, made);
    Message named;
    named.text(1, code.view());
    named.message(2, value);
    message.message(1, named);
  }
  return message;
}

Message operation_message(const Value& operation) {
  Message message;
  message.text(5, operation, "operationId");
  for (const Value& parameter : operation.get_array("parameters"))
    message.message(8, parameter_item(parameter));
  message.message(9, responses_message(operation["responses"]));
  extensions(message, 13, operation);
  return message;
}

}  // namespace

std::string openapi_v2_protobuf(const Value& document) {
  Message message;
  message.text(1, document, "swagger");
  Message info;
  info.text(1, document["info"], "title");
  info.text(2, document["info"], "version");
  message.message(2, info);

  Message paths;
  for (const auto& [path, item] : document.get_object("paths")) {
    Message made;
    unsigned number = 1;
    for (const char* method : {"get", "put", "post", "delete", "options", "head", "patch"}) {
      ++number;
      if (item[method].is_object()) made.message(number, operation_message(item[method]));
    }
    for (const Value& parameter : item.get_array("parameters"))
      made.message(9, parameter_item(parameter));
    Message named;
    named.text(1, path.view());
    named.message(2, made);
    paths.message(2, named);
  }
  message.message(8, paths);

  Message definitions;
  for (const auto& [name, schema] : document.get_object("definitions")) {
    definitions.message(1, named_schema(name.view(), schema));
  }
  message.message(9, definitions);
  return message.take();
}

}  // namespace kube::testkit::detail
