// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/chain.hpp>
#include <kube/api/group_version.hpp>
#include <kube/api/resource_info.hpp>
#include <kube/client/client_options.hpp>
#include <kube/client/raw.hpp>
#include <kube/client/resource.hpp>
#include <kube/config/config.hpp>

#include <memory>
#include <stop_token>
#include <string_view>
#include <utility>

namespace kube {

/// A client of one API server.
///
///   kube::Client client{kube::load_config()};
///   auto pods = client.core().v1().pods("shop");                // or client.resource<core::v1::Pod>("shop")
///   for (const auto& pod : pods.list().items) ...
///
/// Copies are cheap and share connections, limits and credentials; the last one closes the connections.
/// The functions core(), apps(), ... lead to the resources of each group; include the header of the types
/// (<kube/api/core/v1.hpp>) to use what they return. Resources, watches and logs outlive the Client that made
/// them.
///
/// Thread safety: all methods may be called from any thread.
class Client : public chain::Groups<Client> {
 public:
  /// What the functions of the resources take.
  using Namespace = std::string_view;

  /// Nothing is sent yet. Throws ConfigError.
  explicit Client(Config config, ClientOptions options = {});

  using chain::Groups<Client>::resource;  // the group resource.k8s.io
  /// The objects of a type of the API, in one namespace or (empty) in all. The namespace is ignored if the
  /// kind has none.
  template <typename T>
  [[nodiscard]] Resource<T> resource(std::string_view namespace_ = {}) const {
    return detail::Inside::make<Resource<T>>(
        resource_core(T::kube_resource, type_of<T>(), namespace_));
  }
  /// The objects of any resource, as Value. The namespace is left out of URLs if it is empty.
  [[nodiscard]] Resource<Value> dynamic(GroupVersionResource resource,
                                        std::string_view namespace_ = {}) const;
  /// Only the metadata of the objects of any resource: much less to send, decode and keep.
  [[nodiscard]] Resource<meta::v1::PartialObjectMetadata> metadata(
      GroupVersionResource resource, std::string_view namespace_ = {}) const;
  [[nodiscard]] RawClient raw() const { return detail::Inside::make<RawClient>(core_); }

  /// Server-side apply of an object, in the namespace that it names.
  template <typename T>
  Ref<T> apply(const T& object, const ApplyOptions& options, std::stop_token stop = {}) const {
    return resource<T>(object.metadata.namespace_.view()).apply(object, options, std::move(stop));
  }
  template <typename T>
  [[nodiscard]] Task<Ref<T>> apply_async(const T& object, const ApplyOptions& options,
                                         std::stop_token stop = {}) const {
    return resource<T>(object.metadata.namespace_.view())
        .apply_async(object, options, std::move(stop));
  }

  [[nodiscard]] const Config& config() const noexcept;
  [[nodiscard]] const ClientOptions& options() const noexcept;

 private:
  friend struct detail::Inside;
  /// resource<T>() for a type that is known at run time only.
  [[nodiscard]] detail::ResourceCore resource_core(const ResourceInfo& info, const Type& type,
                                                   std::string_view namespace_) const;

  std::shared_ptr<detail::RestClient> core_;
};

}  // namespace kube
