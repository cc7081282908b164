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

/// Codec functions of a type with its own wire form (a time, a quantity). Type::element describes
/// its storage, so copying and comparing need nothing from here.
///
/// A reader returns the content, or sets `problem` ("expected RFC 3339 time"); then the return
/// value is ignored.
struct LeafOperations {
  enum class Token { kText, kNumber, kBool, kOther };

  struct Input {
    detail::Assembler& assembler;
    /// The word of a similar object at the same place, or null.
    const detail::Word* sibling = nullptr;
    const char* problem = nullptr;
  };

  /// If set, the reader gets any well-formed JSON value, unchanged, without white space around it.
  /// Otherwise it only gets strings and numbers, strings without quotes and escapes.
  bool takes_any_json = false;
  detail::Pending (*from_json)(Input& input, Token token, std::string_view text) = nullptr;
  /// Reads the bytes of the protobuf message.
  detail::Pending (*from_protobuf)(Input& input, std::string_view message) = nullptr;
  void (*to_json)(const std::byte* value, detail::JsonWriter& out) = nullptr;
  /// Appends the protobuf message.
  void (*to_protobuf)(const std::byte* value, std::string& out) = nullptr;
};

}  // namespace kube
