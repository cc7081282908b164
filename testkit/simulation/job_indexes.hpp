// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/batch/v1.hpp>
#include <kube/api/core/v1.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

/// Indexed jobs: each pod processes one completion index.
namespace kube::testkit::detail {

inline constexpr std::string_view kCompletionIndex = "batch.kubernetes.io/job-completion-index";

[[nodiscard]] bool is_indexed(const batch::v1::Job& job) noexcept;
/// Returns the completion index of the pod.
[[nodiscard]] std::optional<std::int32_t> index_of(const core::v1::Pod& pod);
/// Sets the completion index of `pod`: annotation, label, host name, generated name and
/// environment.
void set_index(core::v1::Pod& pod, const batch::v1::Job& job, std::int32_t index);

/// Converts a set of indexes to text, "1,3-5", and back. Anything that is not a number is skipped.
[[nodiscard]] std::string format_indexes(const std::set<std::int32_t>& indexes);
[[nodiscard]] std::set<std::int32_t> parse_indexes(std::string_view text, std::int32_t completions);

}  // namespace kube::testkit::detail
