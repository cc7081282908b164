// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/source.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::cel {

enum class TokenKind : std::uint8_t {
  kEnd,
  kIdentifier,
  kEscapedIdentifier,  ///< `in backticks`
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kSymbol,  ///< operators, and the words in, true, false and null
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::uint32_t at = 0;  ///< offset in code points
  std::string_view text = {};
};

/// Splits an expression into tokens, including the end token. Invalid characters are skipped and
/// reported in `issues`. `source` must outlive the tokens.
[[nodiscard]] std::vector<Token> tokenize(std::string_view source, std::vector<Issue>& issues);

/// Decodes a string or bytes literal, given with its quotes and prefixes. Returns false if an
/// escape sequence is invalid.
[[nodiscard]] bool unquote(std::string_view literal, bool is_bytes, std::string& content);

}  // namespace kube::testkit::cel
