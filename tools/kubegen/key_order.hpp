// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kube::gen {

/// The keys of a document in their original order. (A Value sorts them.)
struct KeyOrder {
  struct Member;

  std::vector<Member> members;     ///< members of an object
  std::vector<KeyOrder> elements;  ///< elements of an array

  /// Return the order of a member or element, or null if there is none.
  [[nodiscard]] const KeyOrder* find(std::string_view key) const noexcept;
  [[nodiscard]] const KeyOrder* find(std::size_t index) const noexcept;
};

struct KeyOrder::Member {
  std::string key;
  KeyOrder order;
};

/// Returns the order of a JSON text, which must be valid.
[[nodiscard]] KeyOrder json_key_order(std::string_view text);
/// Returns the orders of the documents of a YAML stream, which must be valid; empty documents are
/// skipped. Members from a merge key (`<<`) are not part of the order.
[[nodiscard]] std::vector<KeyOrder> yaml_key_orders(const std::string& text);

}  // namespace kube::gen
