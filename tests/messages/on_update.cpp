// SPDX-License-Identifier: Apache-2.0
// says: on_update takes (const T& before, const T& now) or (const kube::Ref<T>& before
#include <kube/api/core/v1.hpp>
#include <kube/cache/event_handler.hpp>

using kube::core::v1::Pod;

kube::EventHandler<Pod> handler{.on_update = [](const Pod&) {}};
