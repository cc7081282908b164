// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kube::bench {

/// A field of an API message, from the schema.
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

/// Returns the message `root` ("core/v1.Pod") and all messages that it can contain, dependencies
/// first. Throws std::runtime_error if they are recursive or two messages have the same name.
[[nodiscard]] std::vector<PeerMessage> closure_of(const Value& schema, std::string_view root);

/// Generates a .proto file that is equivalent to Kubernetes' own generated.proto files.
[[nodiscard]] std::string proto_file(const std::vector<PeerMessage>& messages);

/// Generates structs of standard library types, and their conversion from and to nlohmann::json.
[[nodiscard]] std::string plain_header(const std::vector<PeerMessage>& messages);
[[nodiscard]] std::string plain_source(const std::vector<PeerMessage>& messages);
/// Generates readers that fill them with simdjson, without an intermediate tree.
[[nodiscard]] std::string plain_reader(const std::vector<PeerMessage>& messages);

}  // namespace kube::bench
