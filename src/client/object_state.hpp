// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string>
#include <string_view>

/// The state of objects whose type is not known at compile time.
namespace kube::detail {

/// Returns a text at `path`; empty if there is none.
[[nodiscard]] std::string_view text_at(const Value& object, std::string_view path);

/// Returns phase, conditions and deletion for messages: "phase Pending; Ready=False
/// (ContainersNotReady)". Contains no other field, so that secrets cannot get into a log.
[[nodiscard]] std::string describe_state(const Value& object);

/// Returns why an object is not ready, or an empty text if it is. Knows the workloads, pods, jobs,
/// namespaces, CustomResourceDefinitions and APIServices; any other object is ready once it exists.
[[nodiscard]] std::string why_not_ready(const Value& object);

}  // namespace kube::detail
