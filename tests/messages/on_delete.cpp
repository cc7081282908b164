// SPDX-License-Identifier: Apache-2.0
// says: on_delete takes (const kube::Deleted<T>& gone), (const T& object) or (const kube::Ref<T>& object)
#include <kube/api/core/v1.hpp>
#include <kube/cache/event_handler.hpp>

using kube::core::v1::Pod;

kube::EventHandler<Pod> handler{.on_delete = [](Pod&) {}};
