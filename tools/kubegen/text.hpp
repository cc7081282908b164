// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Inserts text of a document into generated code as a string literal or a comment: always
/// printable ASCII that cannot end the literal, the comment or the line.
namespace kube::gen {

/// Maximum length of generated lines, where they can be broken.
inline constexpr std::size_t kLineWidth = 100;

/// Returns a C++ string literal with its quotes. `text` must not contain a NUL character, which
/// would end it early as a C string; see Place::text.
[[nodiscard]] std::string quote(std::string_view text);

/// Returns one line of comment text: control characters and other bytes are escaped, trigraphs and
/// a backslash at the end are broken up. Text longer than `limit` is cut with "...".
[[nodiscard]] std::string comment_text(std::string_view text, std::size_t limit = 72);

/// Returns the first paragraph of a description as lines of comment text of at most `width`
/// characters.
[[nodiscard]] std::vector<std::string> comment_lines(std::string_view text, std::size_t width);

/// Escapes text for a message on a terminal: everything except printable ASCII is escaped, long
/// text is cut.
[[nodiscard]] std::string printable(std::string_view text);

/// Returns `head`, the items joined by ", ", and `tail`; lines that get too long are broken before
/// an item, and continued with `indent` spaces.
[[nodiscard]] std::string fill(std::string_view head, const std::vector<std::string>& items,
                               std::string_view tail, std::size_t indent);

}  // namespace kube::gen
