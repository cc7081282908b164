// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/apps/v1.hpp>

#include "foo.hpp"

#include <string>
#include <string_view>

/// What both forms of the sample controller have in common.
namespace sample {

using kube::apps::v1::Deployment;
using samplecontroller::v1alpha1::Foo;

/// Who the controller is: in events, and as the manager of the fields that it writes.
inline constexpr std::string_view kAgentName = "sample-controller";

/// Reasons and messages of the events on a Foo.
inline constexpr std::string_view kReasonSynced = "Synced";
inline constexpr std::string_view kReasonResourceExists = "ErrResourceExists";
inline constexpr std::string_view kMessageSynced = "the Deployment is as this Foo wants it";
[[nodiscard]] std::string message_resource_exists(std::string_view deployment);

/// The Deployment that a Foo wants: nginx, as often as the Foo says, with the Foo as its controller.
[[nodiscard]] Deployment desired_deployment(const Foo& foo);

}  // namespace sample
