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
///   auto pods = client.core().v1().pods("shop");  // or client.resource<core::v1::Pod>("shop")
///   for (const auto& pod : pods.list().items) ...
///
/// Copies are cheap and share connections, limits and credentials; destroying the last one closes
/// the connections. The functions core(), apps(), ... give access to the resources of each group.
/// Include the header of the types (<kube/api/core/v1.hpp>) to use the returned resources.
/// Resources, watches and logs may outlive the Client that made them.
///
/// Thread safety: all methods may be called from any thread.
class Client : public chain::Groups<Client> {
 public:
  /// The namespace parameter of chain::Groups.
  using Namespace = std::string_view;

  /// Creates a client without sending a request. Throws ConfigError.
  explicit Client(Config config, ClientOptions options = {});

  using chain::Groups<Client>::resource;  // the group resource.k8s.io
  /// Returns the objects of an API type in one namespace, or in all if it is empty. The namespace
  /// is ignored for cluster-scoped kinds.
  template <typename T>
  [[nodiscard]] Resource<T> resource(std::string_view namespace_ = {}) const {
    return detail::Inside::make<Resource<T>>(
        resource_core(T::kube_resource, type_of<T>(), namespace_));
  }
  /// Returns the objects of any resource, as Value. An empty namespace is left out of URLs.
  [[nodiscard]] Resource<Value> dynamic(GroupVersionResource resource,
                                        std::string_view namespace_ = {}) const;
  /// Returns only the metadata of the objects of any resource: much less to transfer, decode and
  /// store.
  [[nodiscard]] Resource<meta::v1::PartialObjectMetadata> metadata(
      GroupVersionResource resource, std::string_view namespace_ = {}) const;
  /// Returns a client for requests to arbitrary paths.
  [[nodiscard]] RawClient raw() const { return detail::Inside::make<RawClient>(core_); }

  /// Applies an object in its namespace (server-side apply).
  template <typename T>
  Ref<T> apply(const T& object, const ApplyOptions& options, std::stop_token stop = {}) const {
    return resource<T>(object.metadata.namespace_.view()).apply(object, options, std::move(stop));
  }
  /// See apply() and AsyncVerbs.
  template <typename T>
  [[nodiscard]] Task<Ref<T>> apply_async(const T& object, const ApplyOptions& options,
                                         std::stop_token stop = {}) const {
    return resource<T>(object.metadata.namespace_.view())
        .apply_async(object, options, std::move(stop));
  }

  /// The configuration that the client was made with.
  [[nodiscard]] const Config& config() const noexcept;
  /// The options that the client was made with.
  [[nodiscard]] const ClientOptions& options() const noexcept;

 private:
  friend struct detail::Inside;
  /// resource<T>() for a type known only at run time.
  [[nodiscard]] detail::ResourceCore resource_core(const ResourceInfo& info, const Type& type,
                                                   std::string_view namespace_) const;

  std::shared_ptr<detail::RestClient> core_;
};

}  // namespace kube
