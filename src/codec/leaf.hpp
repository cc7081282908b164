// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codec/assembler.hpp"
#include <kube/object/type.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace kube {

namespace detail {
class JsonWriter;
}

/// How a type with a form of its own (a time, a quantity) is read and written. Its storage is described
/// by Type::element, so copying and comparing need nothing from here.
///
/// A reader returns the content, or sets `problem` ("expected RFC 3339 time") and returns anything.
struct LeafOperations {
  enum class Token { kText, kNumber, kBool, kOther };

  struct Input {
    detail::Assembler& assembler;
    /// What a similar object has at this place, or null.
    const detail::Word* sibling = nullptr;
    const char* problem = nullptr;
  };

  /// The JSON value as it stands, without white space around it, is passed to the reader; it is known to
  /// be well-formed. Otherwise only strings and numbers are, strings without quotes and escapes.
  bool takes_any_json = false;
  detail::Pending (*from_json)(Input& input, Token token, std::string_view text) = nullptr;
  /// From the bytes of the protobuf message.
  detail::Pending (*from_protobuf)(Input& input, std::string_view message) = nullptr;
  void (*to_json)(const std::byte* value, detail::JsonWriter& out) = nullptr;
  /// Appends the protobuf message.
  void (*to_protobuf)(const std::byte* value, std::string& out) = nullptr;
};

}  // namespace kube
