// SPDX-License-Identifier: Apache-2.0
#include <kube/client/client.hpp>

#include "base/fork.hpp"
#include "rest_client.hpp"

namespace kube {

Client::Client(Config config, ClientOptions options)
    : core_(detail::make_shared_in_process<detail::RestClient>(std::move(config),
                                                               std::move(options))) {}

const Config& Client::config() const noexcept { return core_->config(); }
const ClientOptions& Client::options() const noexcept { return core_->options(); }

detail::ResourceCore Client::resource_core(const ResourceInfo& info, const Type& type,
                                           std::string_view namespace_) const {
  return {
      core_,
      {.resource = {std::string{info.group}, std::string{info.version}, std::string{info.plural}},
       .is_namespaced = info.namespaced,
       .scope_is_known = true,
       .namespace_ = std::string{namespace_},
       .wire = detail::Wire::kTyped,
       .type = &type}};
}

Resource<Value> Client::dynamic(GroupVersionResource resource, std::string_view namespace_) const {
  return detail::Inside::make<Resource<Value>>(
      detail::ResourceCore{core_,
                           {.resource = std::move(resource),
                            .namespace_ = std::string{namespace_},
                            .wire = detail::Wire::kDynamic,
                            .type = &type_of<Value>()}});
}

Resource<meta::v1::PartialObjectMetadata> Client::metadata(GroupVersionResource resource,
                                                           std::string_view namespace_) const {
  return detail::Inside::make<Resource<meta::v1::PartialObjectMetadata>>(
      detail::ResourceCore{core_,
                           {.resource = std::move(resource),
                            .namespace_ = std::string{namespace_},
                            .wire = detail::Wire::kMetadata,
                            .type = &type_of<meta::v1::PartialObjectMetadata>()}});
}

}  // namespace kube
