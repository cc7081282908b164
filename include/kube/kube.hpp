// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Umbrella header: all of kubecxx except the testkit and the generated API types, whose headers
/// are large. Include those that the program uses, such as <kube/api/apps/v1.hpp>, or
/// <kube/api/all.hpp>.

#include <kube/api/conditions.hpp>
#include <kube/api/errors.hpp>
#include <kube/api/fields.hpp>
#include <kube/api/label_selector.hpp>
#include <kube/api/labels.hpp>
#include <kube/api/object_key.hpp>
#include <kube/api/owner_references.hpp>
#include <kube/base/log.hpp>
#include <kube/base/metrics.hpp>
#include <kube/cache/informer.hpp>
#include <kube/cache/lister.hpp>
#include <kube/cache/resource_list_watch.hpp>
#include <kube/cache/selecting.hpp>
#include <kube/cache/shared_informer.hpp>
#include <kube/client/client.hpp>
#include <kube/client/discovery.hpp>
#include <kube/client/manifest.hpp>
#include <kube/client/rest_mapper.hpp>
#include <kube/client/retry.hpp>
#include <kube/client/wait.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/codec/yaml.hpp>
#include <kube/config/load.hpp>
#include <kube/controller/create_or_update.hpp>
#include <kube/controller/event_recorder.hpp>
#include <kube/controller/finalizers.hpp>
#include <kube/controller/leader_elector.hpp>
#include <kube/controller/lease_lock.hpp>
#include <kube/controller/manager.hpp>
#include <kube/controller/predicates.hpp>
#include <kube/controller/reconcile.hpp>
#include <kube/controller/signals.hpp>
#include <kube/engine/runtime.hpp>
#include <kube/engine/serial_queue.hpp>
#include <kube/engine/sleep.hpp>
#include <kube/engine/spawn.hpp>
#include <kube/engine/when_all.hpp>
#include <kube/engine/when_any.hpp>
#include <kube/informers/resource_informer_factory.hpp>
#include <kube/informers/shared_informer_factory.hpp>
#include <kube/workqueue/priority_queue.hpp>
#include <kube/workqueue/rate_limiting_queue.hpp>
#include <kube/workqueue/work_queue.hpp>
