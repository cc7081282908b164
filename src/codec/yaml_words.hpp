// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <optional>
#include <string_view>

/// Recognises plain scalars that YAML 1.1, and therefore Kubernetes, does not read as text.
namespace kube::detail {

[[nodiscard]] bool is_null_word(std::string_view text) noexcept;
[[nodiscard]] std::optional<bool> bool_word(std::string_view text) noexcept;
/// True for infinity and "not a number", which JSON does not have.
[[nodiscard]] bool is_not_finite(std::string_view text) noexcept;
[[nodiscard]] std::optional<Value> number_word(std::string_view text);

}  // namespace kube::detail
