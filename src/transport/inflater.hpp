// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace kube::detail {

/// Incremental gzip decoder: everything that can be decoded is output at once. Concatenated members
/// form one text (RC-22).
class Inflater {
 public:
  Inflater();
  ~Inflater();

  /// Decodes a prefix of `input`, so that `output` grows to at most `limit` bytes, and removes it
  /// from `input`. Throws TransportError (kProtocol) if it is not gzip; `what` begins the message.
  void run(std::string_view& input, std::string& output, std::size_t limit, std::string_view what);
  /// True if more output may be available without more input.
  [[nodiscard]] bool has_more() const noexcept { return more_; }
  /// True between members, and before the first one.
  [[nodiscard]] bool complete() const noexcept { return between_members_; }
  /// Frees the decoder state if no input is pending. It is allocated again when needed.
  void rest() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;  // null after rest()
  bool between_members_ = true;
  bool more_ = false;
};

}  // namespace kube::detail
