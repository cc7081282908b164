// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kube::gen {

/// The keys of a document in the order in which they are written. A Value sorts them.
struct KeyOrder {
  struct Member;

  std::vector<Member> members;     ///< of an object
  std::vector<KeyOrder> elements;  ///< of an array

  /// The node of a member or element; null if there is none.
  [[nodiscard]] const KeyOrder* find(std::string_view key) const noexcept;
  [[nodiscard]] const KeyOrder* find(std::size_t index) const noexcept;
};

struct KeyOrder::Member {
  std::string key;
  KeyOrder order;
};

/// That of a JSON text, which must be valid.
[[nodiscard]] KeyOrder json_key_order(std::string_view text);
/// Those of the documents of a YAML stream, which must be valid; documents without content are left out. What a merge
/// key (`<<`) brings in has no place in the order.
[[nodiscard]] std::vector<KeyOrder> yaml_key_orders(const std::string& text);

}  // namespace kube::gen
