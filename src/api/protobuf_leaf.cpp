// SPDX-License-Identifier: Apache-2.0
#include "api/protobuf_leaf.hpp"

#include <protozero/pbf_reader.hpp>

namespace kube::detail {

std::string_view only_text_field(LeafOperations::Input& input, std::string_view message) {
  std::string_view text;
  try {
    protozero::pbf_reader reader{message.data(), message.size()};
    while (reader.next()) {
      if (reader.tag() == 1 && reader.wire_type() == protozero::pbf_wire_type::length_delimited) {
        const protozero::data_view view = reader.get_view();
        text = {view.data(), view.size()};
      } else {
        reader.skip();
      }
    }
  } catch (const protozero::exception&) {
    input.problem = "malformed message";
  }
  return text;
}

}  // namespace kube::detail
