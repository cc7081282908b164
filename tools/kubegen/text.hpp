// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// How text of a document gets into generated code: as a string literal or in a comment, and in
/// both cases as printable ASCII that cannot end the literal, the comment or the line.
namespace kube::gen {

/// Lines of generated code are at most this long where they can be broken.
inline constexpr std::size_t kLineWidth = 100;

/// A C++ string literal with its quotes. `text` must not hold a NUL, which would end the literal
/// early for those that read it as a C string; see Place::text.
[[nodiscard]] std::string quote(std::string_view text);

/// One line of comment text: control characters and other bytes become escapes, trigraphs and a
/// backslash at the end are taken apart. Longer text than `limit` is cut off with "...".
[[nodiscard]] std::string comment_text(std::string_view text, std::size_t limit = 72);

/// The first paragraph of a description as lines of at most `width` characters of comment text.
[[nodiscard]] std::vector<std::string> comment_lines(std::string_view text, std::size_t width);

/// Text for a message on a terminal: everything but printable ASCII escaped, long text cut off.
[[nodiscard]] std::string printable(std::string_view text);

/// `head` + items joined by ", " + `tail`, broken before an item where the line gets too long;
/// following lines are indented by `indent`.
[[nodiscard]] std::string fill(std::string_view head, const std::vector<std::string>& items,
                               std::string_view tail, std::size_t indent);

}  // namespace kube::gen
