// SPDX-License-Identifier: Apache-2.0
// says: on_add takes (const T& object) or (const kube::Ref<T>& object)
#include <kube/api/core/v1.hpp>
#include <kube/cache/event_handler.hpp>

kube::EventHandler<kube::core::v1::Pod> handler{.on_add = [](int) {}};
