// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kube::bench {

/// A field of a message of the API, as the schema has it.
struct PeerField {
  enum class Shape { kPlain, kPointer, kList, kMap };

  std::string json;  ///< empty if inline
  std::string go;
  std::int64_t number = 0;
  Shape shape = Shape::kPlain;
  std::string element;  ///< "string", "int32", ..., or the name of a message
  bool is_message = false;
  bool is_inline = false;
  bool omit_empty = false;
  bool omit_zero = false;
};

struct PeerMessage {
  std::string name;
  std::vector<PeerField> fields;
};

/// The message called `root` ("core/v1.Pod") and all that it can contain, each behind what it needs.
/// Throws std::runtime_error if that goes round in a circle or two messages have one name.
[[nodiscard]] std::vector<PeerMessage> closure_of(const Value& schema, std::string_view root);

/// A .proto file that says what Kubernetes' own generated.proto say.
[[nodiscard]] std::string proto_file(const std::vector<PeerMessage>& messages);

/// Structs of the standard library's types, and their conversion from and to nlohmann::json.
[[nodiscard]] std::string plain_header(const std::vector<PeerMessage>& messages);
[[nodiscard]] std::string plain_source(const std::vector<PeerMessage>& messages);
/// Readers that fill them by simdjson, without a tree between.
[[nodiscard]] std::string plain_reader(const std::vector<PeerMessage>& messages);

}  // namespace kube::bench
