// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/job_indexes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace kube::testkit::detail {
namespace {

using batch::v1::Job;
using core::v1::Pod;

std::optional<std::int32_t> number_of(std::string_view text) {
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

void add_environment(List<core::v1::Container>& containers) {
  constexpr std::string_view kName = "JOB_COMPLETION_INDEX";
  for (core::v1::Container& container : containers) {
    const bool set = std::ranges::any_of(std::as_const(container).env,
                                         [&](const auto& one) { return one.name == kName; });
    if (set) continue;
    auto& variable = container.env.emplace_back();
    variable.name = kName;
    variable.value_from.emplace().field_ref.emplace().field_path =
        fmt::format("metadata.labels['{}']", kCompletionIndex);
  }
}

}  // namespace

bool is_indexed(const Job& job) noexcept {
  return job.spec.completion_mode.value_or("") == "Indexed" && job.spec.completions;
}

std::optional<std::int32_t> index_of(const Pod& pod) {
  const String* text = pod.metadata.annotations.find(kCompletionIndex);
  return text != nullptr ? number_of(text->view()) : std::nullopt;
}

void set_index(Pod& pod, const Job& job, std::int32_t index) {
  const std::string text = std::to_string(index);
  const std::string name = fmt::format("{}-{}", job.metadata.name.view(), index);
  pod.metadata.annotations[kCompletionIndex] = text;
  pod.metadata.labels[kCompletionIndex] = text;
  pod.metadata.generate_name = name + '-';
  pod.spec.hostname = name;
  add_environment(pod.spec.init_containers);
  add_environment(pod.spec.containers);
}

std::string format_indexes(const std::set<std::int32_t>& indexes) {
  std::string text;
  for (auto it = indexes.begin(); it != indexes.end();) {
    const std::int32_t first = *it;
    std::int32_t last = first;
    for (++it; it != indexes.end() && *it == last + 1; ++it) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    if (last > first) text += (last == first + 1 ? ',' : '-') + std::to_string(last);
  }
  return text;
}

std::set<std::int32_t> parse_indexes(std::string_view text, std::int32_t completions) {
  std::set<std::int32_t> indexes;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t dash = part.find('-');
    const auto first = number_of(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_of(part.substr(dash + 1));
    if (!first || !last) continue;
    for (std::int32_t i = *first; i <= std::min(*last, completions - 1); ++i) indexes.insert(i);
  }
  return indexes;
}

}  // namespace kube::testkit::detail
