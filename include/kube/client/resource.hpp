// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/errors.hpp>
#include <kube/api/meta/v1.hpp>
#include <kube/client/async_verbs.hpp>
#include <kube/client/log_stream.hpp>
#include <kube/client/object_fields.hpp>
#include <kube/client/options.hpp>
#include <kube/client/resource_core.hpp>
#include <kube/client/retry_watch.hpp>
#include <kube/client/watch.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include <concepts>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {

/// The verbs of the API server for the objects of one kind, in one namespace or in all.
///
/// T is an API type (Client::resource), Value (Client::dynamic) or meta::v1::PartialObjectMetadata
/// (Client::metadata). Cheap to copy. All calls block until the response arrives or `stop` is
/// requested. AsyncVerbs has the same verbs for coroutines (get_async(), list_async()...). All of
/// them throw:
///   ApiError         the server returned an error; see is_not_found(), is_conflict() and others
///   TransportError   there is no response; kCanceled after a stop
///   CodecError       the response is malformed
///   ConfigError      the credentials are not available
///   std::invalid_argument   an argument is invalid: an empty name, a missing namespace
///
/// Thread safety: all const methods may be called from any thread.
template <typename T>
class Resource : public AsyncVerbs<T> {
 public:
  /// Returns the same resource with other decoding options: objects share content through a pool,
  /// or fields are left out. Used by informers.
  [[nodiscard]] Resource with_decoding(DecoderOptions options) const {
    Resource copy = *this;
    copy.core_.set_decoding(std::move(options));
    return copy;
  }

  // --- Reading ---

  /// Returns an object. Throws ApiError (is_not_found) if it does not exist.
  [[nodiscard]] Ref<T> get(std::string_view name, const GetOptions& options = {},
                           std::stop_token stop = {}) const {
    return detail::cast<T>(core_.send(core_.get(name, {}, type_of<T>(), options), std::move(stop)));
  }
  /// Returns an object, or null if it does not exist.
  [[nodiscard]] Ref<T> find(std::string_view name, const GetOptions& options = {},
                            std::stop_token stop = {}) const {
    return detail::cast<T>(core_.send(core_.find(name, options), std::move(stop)));
  }
  /// Lists with one request. With a limit there may be more pages (metadata.continue_token).
  [[nodiscard]] Listed<T> list(const ListOptions& options = {}, std::stop_token stop = {}) const {
    Listed<T> listed;
    listed.metadata = list_page(
        options, [&](Ref<T> item) { listed.items.push_back(std::move(item)); }, std::move(stop));
    return listed;
  }
  /// Lists with one request and calls `on_item(Ref<T>)` as each object arrives. An exception of
  /// on_item ends the list.
  template <typename OnItem>
  ListMetadata list_page(const ListOptions& options, OnItem on_item,
                         std::stop_token stop = {}) const {
    return core_.list(
        options, [&](const detail::AnyRef& item) { on_item(detail::cast<T>(item)); },
        std::move(stop));
  }
  /// Lists all objects page by page. If the list expires meanwhile, `on_restart` is called and all
  /// objects are delivered once more; without it, ApiError (is_resource_expired) is thrown.
  template <typename OnItem>
  ListMetadata list_each(const ListOptions& options, OnItem on_item,
                         const std::function<void()>& on_restart = nullptr,
                         const PagerOptions& pager = {}, std::stop_token stop = {}) const {
    return core_.list_all(
        options, pager, [&](const detail::AnyRef& item) { on_item(detail::cast<T>(item)); },
        on_restart, std::move(stop));
  }
  /// Returns all objects, fetched page by page.
  [[nodiscard]] Listed<T> list_all(const ListOptions& options = {}, const PagerOptions& pager = {},
                                   std::stop_token stop = {}) const {
    Listed<T> listed;
    listed.metadata = list_each(
        options, [&](Ref<T> item) { listed.items.push_back(std::move(item)); },
        [&] { listed.items.clear(); }, pager, std::move(stop));
    return listed;
  }
  /// Watches for changes after `options.resource_version`.
  [[nodiscard]] Watch<T> watch(const ListOptions& options = {}, std::stop_token stop = {}) const {
    return detail::Inside::make<Watch<T>>(core_.watch(options, std::move(stop)));
  }
  /// Opens a watch that is reopened whenever it ends. Throws std::invalid_argument unless the
  /// options have a resource version to start from, other than "0".
  [[nodiscard]] RetryWatch<T> retry_watch(const ListOptions& options) const {
    return detail::Inside::make<RetryWatch<T>>(core_, options, &detail::version_of<T>);
  }
  /// Returns the objects as a table of columns and cells, as kubectl shows them.
  [[nodiscard]] Ref<meta::v1::Table> table(const ListOptions& options = {},
                                           TableObjects objects = TableObjects::kMetadata,
                                           std::stop_token stop = {}) const {
    return detail::cast<meta::v1::Table>(
        core_.send(core_.table({}, options, objects), std::move(stop)));
  }

  // --- Writing; each returns the object as the server stored it ---

  /// Creates an object.
  Ref<T> create(const T& object, const CreateOptions& options = {},
                std::stop_token stop = {}) const requires detail::Writable<T> {
    return detail::cast<T>(
        core_.send(core_.create(detail::Sendable::of(object), {}, {}, &type_of<T>(), options),
                   std::move(stop)));
  }
  /// Replaces the object of that name, if its resource version is still the newest (or is not set).
  Ref<T> update(const T& object, const UpdateOptions& options = {},
                std::stop_token stop = {}) const requires detail::Writable<T> {
    return put(object, {}, options, std::move(stop));
  }
  /// Replaces the status of an object.
  Ref<T> update_status(const T& object, const UpdateOptions& options = {},
                       std::stop_token stop = {}) const requires detail::Writable<T> {
    return put(object, "status", options, std::move(stop));
  }
  /// Sends `body` unchanged. `subresource` may be "status" or "scale".
  Ref<T> patch(std::string_view name, PatchType type, std::string body,
               const PatchOptions& options = {}, std::string_view subresource = {},
               std::stop_token stop = {}) const {
    return detail::cast<T>(core_.send(
        core_.patch(name, type, std::move(body), subresource, options), std::move(stop)));
  }
  /// Server-side apply. Fields that are not set are no longer owned, so build a new object instead
  /// of modifying one that was read.
  Ref<T> apply(const T& object, const ApplyOptions& options,
               std::stop_token stop = {}) const requires detail::Writable<T> {
    return detail::cast<T>(
        core_.send(core_.apply(detail::Sendable::of(object), detail::name_of(object), {}, options),
                   std::move(stop)));
  }
  /// Server-side apply of the status.
  Ref<T> apply_status(const T& object, const ApplyOptions& options,
                      std::stop_token stop = {}) const requires detail::Writable<T> {
    return detail::cast<T>(core_.send(
        core_.apply(detail::Sendable::of(object), detail::name_of(object), "status", options),
        std::move(stop)));
  }
  /// Requests deletion. The object may remain until its finalizers are removed.
  void delete_(std::string_view name, const DeleteOptions& options = {},
               std::stop_token stop = {}) const {
    core_.send(core_.remove(name, options), std::move(stop));
  }
  /// Requests deletion of all objects that `which` selects.
  void delete_collection(const DeleteOptions& options = {}, const ListOptions& which = {},
                         std::stop_token stop = {}) const {
    core_.send(core_.remove_collection(options, which), std::move(stop));
  }

  // --- Subresources ---

  /// Returns a subresource that holds one object of type S.
  template <typename S>
  [[nodiscard]] Ref<S> get_subresource(std::string_view name, std::string_view subresource,
                                       const GetOptions& options = {},
                                       std::stop_token stop = {}) const {
    return detail::cast<S>(
        core_.send(core_.get(name, subresource, type_of<S>(), options), std::move(stop)));
  }
  /// Replaces a subresource.
  template <typename S>
  Ref<S> update_subresource(std::string_view name, std::string_view subresource, const S& object,
                            const UpdateOptions& options = {}, std::stop_token stop = {}) const {
    return detail::cast<S>(core_.send(
        core_.update(detail::Sendable::of(object), name, subresource, options), std::move(stop)));
  }
  /// Creates a subresource.
  template <typename S>
  Ref<S> create_subresource(std::string_view name, std::string_view subresource, const S& object,
                            const CreateOptions& options = {}, std::stop_token stop = {}) const {
    return detail::cast<S>(core_.send(
        core_.create(detail::Sendable::of(object), name, subresource, &type_of<S>(), options),
        std::move(stop)));
  }
  /// Returns an object through its status subresource.
  [[nodiscard]] Ref<T> get_status(std::string_view name, const GetOptions& options = {},
                                  std::stop_token stop = {}) const {
    return get_subresource<T>(name, "status", options, std::move(stop));
  }
  /// Returns the scale of a workload.
  template <typename Scale = autoscaling::v1::Scale>
  [[nodiscard]] Ref<Scale> get_scale(std::string_view name, std::stop_token stop = {}) const {
    return get_subresource<Scale>(name, "scale", {}, std::move(stop));
  }
  /// Replaces the scale of a workload.
  template <typename Scale = autoscaling::v1::Scale>
  Ref<Scale> update_scale(std::string_view name, const Scale& scale,
                          const UpdateOptions& options = {}, std::stop_token stop = {}) const {
    return update_subresource<Scale>(name, "scale", scale, options, std::move(stop));
  }
  /// Pods only: evicts the pod that `eviction` names. Throws ApiError 429 with the cause
  /// "DisruptionBudget" if a disruption budget does not allow it now; try again later.
  template <typename Eviction = policy::v1::Eviction>
  void evict(const Eviction& eviction, std::stop_token stop = {}) const {
    core_.send(core_.create(detail::Sendable::of(eviction), detail::name_of(eviction), "eviction",
                            nullptr, {}),
               std::move(stop));
  }
  /// Pods only: binds the pod that `binding` names to a node.
  template <typename Binding = core::v1::Binding>
  void bind(const Binding& binding, const CreateOptions& options = {},
            std::stop_token stop = {}) const {
    core_.send(core_.create(detail::Sendable::of(binding), detail::name_of(binding), "binding",
                            nullptr, options),
               std::move(stop));
  }
  /// Service accounts only: creates a token.
  template <typename TokenRequest = authentication::v1::TokenRequest>
  [[nodiscard]] Ref<TokenRequest> create_token(std::string_view name, const TokenRequest& request,
                                               std::stop_token stop = {}) const {
    return create_subresource<TokenRequest>(name, "token", request, {}, std::move(stop));
  }
  /// Pods only: opens the log of a container.
  [[nodiscard]] LogStream logs(std::string_view name, const LogOptions& options = {},
                               std::stop_token stop = {}) const {
    return LogStream{core_.log(name, options, std::move(stop))};
  }

 private:
  friend struct detail::Inside;
  using AsyncVerbs<T>::core_;
  explicit Resource(detail::ResourceCore core) : AsyncVerbs<T>(std::move(core)) {}
  [[nodiscard]] Ref<T> put(const T& object, std::string_view subresource,
                           const UpdateOptions& options, std::stop_token stop) const {
    return detail::cast<T>(core_.send(
        core_.update(detail::Sendable::of(object), detail::name_of(object), subresource, options),
        std::move(stop)));
  }
};

}  // namespace kube
