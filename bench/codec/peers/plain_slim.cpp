// SPDX-License-Identifier: Apache-2.0
#include "plain_slim.hpp"

#include <simdjson.h>

namespace kube::bench::plain {

struct SlimReader::State {
  simdjson::ondemand::parser parser;
  std::string buffer;
};

SlimReader::SlimReader() : state_(std::make_unique<State>()) {}
SlimReader::SlimReader(SlimReader&&) noexcept = default;
SlimReader& SlimReader::operator=(SlimReader&&) noexcept = default;
SlimReader::~SlimReader() = default;

void SlimReader::read(std::string_view document, SlimPod& pod) {
  // simdjson reads a few bytes beyond the end.
  state_->buffer.reserve(document.size() + simdjson::SIMDJSON_PADDING);
  state_->buffer.assign(document);
  auto parsed = state_->parser.iterate(state_->buffer);
  // In the order in which servers write them, so that the document is read once.
  simdjson::ondemand::object metadata = parsed["metadata"].get_object();
  pod.name = std::string_view{metadata["name"]};
  pod.name_space = std::string_view{metadata["namespace"]};
  for (auto label : metadata["labels"].get_object()) {
    const std::string_view key = label.unescaped_key();
    pod.labels[std::string{key}] = std::string_view{label.value()};
  }
  pod.node = std::string_view{parsed["spec"]["nodeName"]};
  simdjson::ondemand::object status = parsed["status"].get_object();
  pod.phase = std::string_view{status["phase"]};
  pod.address = std::string_view{status["podIP"]};
}

}  // namespace kube::bench::plain
