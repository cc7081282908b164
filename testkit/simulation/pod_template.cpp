// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/pod_template.hpp"

#include <kube/codec/json.hpp>

namespace kube::testkit::detail {

core::v1::Pod pod_from_template(const core::v1::PodTemplateSpec& pod_template,
                                std::string_view namespace_) {
  core::v1::Pod pod;
  pod.metadata.namespace_ = namespace_;
  pod.metadata.labels = pod_template.metadata.labels;
  pod.metadata.annotations = pod_template.metadata.annotations;
  pod.metadata.finalizers = pod_template.metadata.finalizers;
  pod.spec = pod_template.spec;
  return pod;
}

std::string text_hash(std::string_view text, std::optional<std::int32_t> collisions) {
  // FNV-1a with 32 bits. Its decimal digits are mapped to an alphabet without vowels, so that names
  // do not form words.
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::uint32_t hash = 2166136261U;
  const auto add = [&](std::string_view bytes) {
    for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 16777619U;
  };
  add(text);
  if (collisions) add(std::to_string(*collisions));
  std::string spelled;
  for (const char digit : std::to_string(hash)) {
    spelled += kAlphabet[static_cast<unsigned char>(digit) % kAlphabet.size()];
  }
  return spelled;
}

std::string template_hash(const core::v1::PodTemplateSpec& pod_template,
                          std::optional<std::int32_t> collisions) {
  return text_hash(encode_json(pod_template), collisions);
}

bool same_template(const core::v1::PodTemplateSpec& a, const core::v1::PodTemplateSpec& b) {
  const auto without_hash = [](const core::v1::PodTemplateSpec& pod_template) {
    core::v1::PodTemplateSpec copy = pod_template;
    copy.metadata.labels.erase(kTemplateHashLabel);
    return encode_json(copy);
  };
  return without_hash(a) == without_hash(b);
}

}  // namespace kube::testkit::detail
