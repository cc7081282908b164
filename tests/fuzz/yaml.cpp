// SPDX-License-Identifier: Apache-2.0
// Any text as YAML; what is read must survive being written.
#include "fuzz.hpp"

#include <kube/codec/error.hpp>
#include <kube/codec/yaml.hpp>

#include <string>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    for (const auto& document : kube::decode_yaml_documents(kube::fuzz::text_of(data, size))) {
      const std::string written = kube::yaml_from_json(*document);
      if (document->is_null()) continue;
      kube::fuzz::require(*kube::decode_yaml<kube::Value>(written) == *document, "YAML reads back");
    }
  } catch (const kube::CodecError&) {
    // refused, which is fine
  }
  return 0;
}
