// SPDX-License-Identifier: Apache-2.0
// Input: a CustomResourceDefinition. No part of it may escape from a string or comment of the
// generated code.
#include "fuzz.hpp"

#include "crd.hpp"
#include "header_output.hpp"

#include <kube/codec/error.hpp>
#include <kube/codec/yaml.hpp>

#include <string>
#include <vector>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<kube::gen::Document> documents;
  try {
    for (const auto& root : kube::decode_yaml_documents(kube::fuzz::text_of(data, size))) {
      documents.push_back({"crd.yaml", root});
    }
    if (documents.empty()) return 0;
    const std::string header =
        kube::gen::user_header(kube::gen::read_crds(documents, "demo"), {"0", "crd.yaml"});
    for (const char c : header) {
      kube::fuzz::require(c == '\n' || (c >= ' ' && c <= '~'), "the header is plain ASCII");
    }
  } catch (const kube::Error&) {
    // An error is fine.
  }
  return 0;
}
