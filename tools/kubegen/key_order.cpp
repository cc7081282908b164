// SPDX-License-Identifier: Apache-2.0
#include "key_order.hpp"

#include "codec/json_scanner.hpp"

#include <yaml-cpp/yaml.h>

#include <limits>
#include <utility>

namespace kube::gen {
namespace {

KeyOrder read_json(kube::detail::JsonScanner& in) {
  constexpr int kChecked = 0;  // depth is not checked here: the decoder has done so
  KeyOrder order;
  in.white_space();
  if (in.consume('{')) {
    for (in.white_space(); !in.consume('}'); in.white_space()) {
      in.consume(',');
      in.expect('"', "key", nullptr);
      std::string_view raw;
      const bool has_escapes = in.string(raw, nullptr);
      std::string key{raw};
      if (has_escapes) key.resize(in.unescape(raw, key.data(), nullptr));
      in.expect(':', "':'", nullptr);
      order.members.push_back({std::move(key), read_json(in)});
    }
  } else if (in.consume('[')) {
    for (in.white_space(); !in.consume(']'); in.white_space()) {
      in.consume(',');
      order.elements.push_back(read_json(in));
    }
  } else {
    in.skip_value(nullptr, kChecked);
  }
  return order;
}

KeyOrder read_yaml(const YAML::Node& node) {
  KeyOrder order;
  if (node.IsMap()) {
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) continue;
      order.members.push_back({entry.first.Scalar(), read_yaml(entry.second)});
    }
  } else if (node.IsSequence()) {
    for (const auto& element : node) order.elements.push_back(read_yaml(element));
  }
  return order;
}

}  // namespace

const KeyOrder* KeyOrder::find(std::string_view key) const noexcept {
  for (const Member& member : members) {
    if (member.key == key) return &member.order;
  }
  return nullptr;
}

const KeyOrder* KeyOrder::find(std::size_t index) const noexcept {
  return index < elements.size() ? &elements[index] : nullptr;
}

KeyOrder json_key_order(std::string_view text) {
  kube::detail::JsonScanner in{text, 0, std::numeric_limits<int>::max()};
  return read_json(in);
}

std::vector<KeyOrder> yaml_key_orders(const std::string& text) {
  std::vector<KeyOrder> orders;
  for (const YAML::Node& root : YAML::LoadAll(text)) {
    if (root.IsDefined() && !root.IsNull()) orders.push_back(read_yaml(root));
  }
  return orders;
}

}  // namespace kube::gen
