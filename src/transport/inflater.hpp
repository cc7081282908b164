// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace kube::detail {

/// gzip, decoded while it arrives: whatever can be decoded from the bytes so far comes out at once, and
/// several members in sequence are one text (RC-22).
class Inflater {
 public:
  Inflater();
  ~Inflater();

  /// Decodes a part of `input`, at most so much that `output` gets `limit` bytes, and removes it from
  /// `input`. Throws TransportError (kProtocol) if it is not gzip; `what` begins the message.
  void run(std::string_view& input, std::string& output, std::size_t limit, std::string_view what);
  /// There may be more to come without more input.
  [[nodiscard]] bool has_more() const noexcept { return more_; }
  /// True between members, and before the first.
  [[nodiscard]] bool complete() const noexcept { return between_members_; }
  /// Nothing is there to be decoded: between members, no memory is needed until there is.
  void rest() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;  // null at rest
  bool between_members_ = true;
  bool more_ = false;
};

}  // namespace kube::detail
