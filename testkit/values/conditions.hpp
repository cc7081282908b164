// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string>
#include <string_view>

namespace kube::testkit::detail {

/// Sets a condition in `status.conditions`; lastTransitionTime changes only with the status.
void set_condition(Value& object, std::string_view type, bool status, std::string_view reason,
                   std::string_view message, const std::string& now);

}  // namespace kube::testkit::detail
