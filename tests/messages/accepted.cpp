// SPDX-License-Identifier: Apache-2.0
// Every signature that the messages name compiles.
#include <kube/api/core/v1.hpp>
#include <kube/cache/event_handler.hpp>
#include <kube/cache/indexer.hpp>
#include <kube/cache/transform.hpp>
#include <kube/controller/controller_builder.hpp>

#include <list>
#include <stop_token>
#include <string>
#include <vector>

using kube::Ref;
using kube::core::v1::Pod;

struct Handler {
  void operator()(const Pod& /*pod*/) const {}
  [[nodiscard]] static std::vector<kube::Request> requests(const Pod& pod) {
    return {{kube::key_of(pod)}};
  }
};

const std::vector<kube::EventHandler<Pod>> handlers{
    {.on_add = [](const Pod&) {},
     .on_update = [](const Pod&, const Pod&) {},
     .on_delete = [](const kube::Deleted<Pod>&) {}},
    {.on_add = [](const Ref<Pod>&) {},
     .on_update = [](const Ref<Pod>&, const Ref<Pod>&) {},
     .on_delete = [](const Ref<Pod>&) {}},
    {.on_add = [](const Pod&, bool) {}, .on_delete = [](const Pod&) {}},
    {.on_add = [](const Ref<Pod>&, bool) { return 1; }, .on_delete = [](Pod) {}},
    {.on_add = Handler{}, .on_update = nullptr, .on_delete = Handler{}},
    {.on_delete = [calls =
                       0](const auto& gone) mutable { calls += gone.key.name.empty() ? 0 : 1; }},
};

const std::vector<kube::Transform<Pod>> transforms{
    [](Pod& pod) { pod.metadata.managed_fields.reset(); },
    [](const Ref<Pod>& pod) { return pod; },
    nullptr,
};

const kube::Indexers<Pod> indexers{
    {"node", [](const Pod& pod) { return std::vector<std::string>{pod.spec.node_name.str()}; }},
    {"any", [](const auto& pod) -> std::vector<std::string> { return {pod.metadata.name.str()}; }},
    {"copy",
     [calls = 0](Pod) mutable {
       return std::vector(static_cast<std::size_t>(++calls), std::string{"x"});
     }},
};

void add_index(kube::Indexers<Pod>& more) {
  more["name"] = [](const Pod& pod) { return std::vector<std::string>{pod.metadata.name.str()}; };
}

void build(kube::ControllerBuilder& builder) {
  builder.watches<Pod>(&Handler::requests)
      .watches<Pod>([](const auto& pod) { return std::list{kube::Request{kube::key_of(pod)}}; })
      .watches<Pod>(
          [](const Pod& pod, const kube::ObjectChange&) { return Handler::requests(pod); });
  builder.reconcile([](const kube::Request&) { return kube::done(); });
  builder.reconcile([](const kube::Request&, std::stop_token) { return kube::requeue(); });
}
