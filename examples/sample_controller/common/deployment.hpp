// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/apps/v1.hpp>

#include "foo.hpp"

#include <string>
#include <string_view>

/// Shared by both forms of the sample controller.
namespace sample {

using kube::apps::v1::Deployment;
using samplecontroller::v1alpha1::Foo;

/// The controller's name in events and as field manager.
inline constexpr std::string_view kAgentName = "sample-controller";

/// Reasons and messages of the events on a Foo.
inline constexpr std::string_view kReasonSynced = "Synced";
inline constexpr std::string_view kReasonResourceExists = "ErrResourceExists";
inline constexpr std::string_view kMessageSynced = "the Deployment is as this Foo wants it";
[[nodiscard]] std::string message_resource_exists(std::string_view deployment);

/// Returns the Deployment of a Foo: nginx, with the replicas of the Foo, and the Foo as its
/// controller.
[[nodiscard]] Deployment desired_deployment(const Foo& foo);

}  // namespace sample
