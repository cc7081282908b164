// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/meta/v1.hpp>
#include <kube/client/async_log_stream.hpp>
#include <kube/client/async_watch.hpp>
#include <kube/client/object_fields.hpp>
#include <kube/client/options.hpp>
#include <kube/client/resource_core.hpp>
#include <kube/engine/task.hpp>
#include <kube/object/ref.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {

/// The items of a list response and its list metadata.
template <typename T>
struct Listed {
  ListMetadata metadata;
  std::vector<Ref<T>> items;
};

/// Returns a static Options object with no field set. It serves as the default argument of
/// functions called in a statement with a co_await; see AsyncVerbs.
template <typename Options>
[[nodiscard]] const Options& default_options() {
  static const Options kNone{};
  return kNone;
}

namespace detail {

template <typename T>
Task<Ref<T>> object_task(Await<AnyRef> answer) {
  co_return cast<T>(co_await std::move(answer));
}
inline Task<void> success_task(Await<AnyRef> answer) { (void)co_await std::move(answer); }
inline Task<ListMetadata> list_task(Await<ListMetadata> answer) {
  co_return co_await std::move(answer);
}
template <typename T>
Task<Listed<T>> listed_task(std::unique_ptr<Listed<T>> listed, Await<ListMetadata> answer) {
  listed->metadata = co_await std::move(answer);
  co_return std::move(*listed);
}
template <typename T>
Task<AsyncWatch<T>> watch_task(std::unique_ptr<AwaitedEvents> watch, std::stop_token stop) {
  (void)co_await AwaitRef<std::optional<AnyWatchEvent>>{*watch, std::move(stop)};
  co_return Inside::make<AsyncWatch<T>>(std::move(watch));
}
inline Task<AsyncLogStream> log_task(std::unique_ptr<Awaited<std::optional<std::string>>> log,
                                     std::stop_token stop) {
  (void)co_await AwaitRef<std::optional<std::string>>{*log, std::move(stop)};
  co_return Inside::make<AsyncLogStream>(std::move(log));
}

}  // namespace detail

/// The verbs of Resource for coroutines. Each takes the same arguments as the verb without
/// `_async`, and its Task yields the same result or throws the same exception. After a stop of
/// `stop`, or of the Task that awaits it, it throws TransportError kCanceled. Invalid arguments
/// (std::invalid_argument) are reported by the call itself.
///
/// Nothing is sent before the Task is awaited or spawned. Arguments are copied by the call, so they
/// may be temporaries; the Task also keeps the client alive. While it waits for the server it holds
/// no thread.
///
/// g++ 12 destroys twice a temporary that is made with braces (options, even {}, objects, lambdas
/// that capture) in a statement with a co_await. Name such an argument, or the Task:
///
///   const kube::ListOptions options{.label_selector = "app=web"};
///   auto listed = co_await pods.list_async(options);
///
/// The commonest verbs take a stop token alone, without options.
template <typename T>
class AsyncVerbs {
 public:
  // --- Reading ---

  /// See Resource::get().
  [[nodiscard]] Task<Ref<T>> get_async(std::string_view name,
                                       const GetOptions& options = default_options<GetOptions>(),
                                       std::stop_token stop = {}) const {
    return send<T>(core_.get(name, {}, type_of<T>(), options), std::move(stop));
  }
  [[nodiscard]] Task<Ref<T>> get_async(std::string_view name,
                                       std::same_as<std::stop_token> auto stop) const {
    return get_async(name, default_options<GetOptions>(), std::move(stop));
  }
  /// See Resource::find().
  [[nodiscard]] Task<Ref<T>> find_async(std::string_view name,
                                        const GetOptions& options = default_options<GetOptions>(),
                                        std::stop_token stop = {}) const {
    return send<T>(core_.find(name, options), std::move(stop));
  }
  [[nodiscard]] Task<Ref<T>> find_async(std::string_view name,
                                        std::same_as<std::stop_token> auto stop) const {
    return find_async(name, default_options<GetOptions>(), std::move(stop));
  }
  /// See Resource::list().
  [[nodiscard]] Task<Listed<T>> list_async(
      const ListOptions& options = default_options<ListOptions>(),
      std::stop_token stop = {}) const {
    auto listed = std::make_unique<Listed<T>>();
    auto answer = core_.list_async(options, add_to(*listed), std::move(stop));
    return detail::listed_task(std::move(listed), std::move(answer));
  }
  [[nodiscard]] Task<Listed<T>> list_async(std::same_as<std::stop_token> auto stop) const {
    return list_async(default_options<ListOptions>(), std::move(stop));
  }
  /// See Resource::list_page(). `on_item(Ref<T>)` is called on the queue of the Task.
  template <typename OnItem>
  [[nodiscard]] Task<ListMetadata> list_page_async(const ListOptions& options, OnItem on_item,
                                                   std::stop_token stop = {}) const {
    return detail::list_task(core_.list_async(options, typed(std::move(on_item)), std::move(stop)));
  }
  /// See Resource::list_each(). `on_item(Ref<T>)` and `on_restart()` are called on the queue of the
  /// Task.
  template <typename OnItem>
  [[nodiscard]] Task<ListMetadata> list_each_async(
      const ListOptions& options, OnItem on_item, std::function<void()> on_restart = nullptr,
      const PagerOptions& pager = default_options<PagerOptions>(),
      std::stop_token stop = {}) const {
    return detail::list_task(core_.list_all_async(options, pager, typed(std::move(on_item)),
                                                  std::move(on_restart), std::move(stop)));
  }
  /// See Resource::list_all().
  [[nodiscard]] Task<Listed<T>> list_all_async(
      const ListOptions& options = default_options<ListOptions>(),
      const PagerOptions& pager = default_options<PagerOptions>(),
      std::stop_token stop = {}) const {
    auto listed = std::make_unique<Listed<T>>();
    Listed<T>* const filled = listed.get();
    auto answer = core_.list_all_async(
        options, pager, add_to(*listed), [filled] { filled->items.clear(); }, std::move(stop));
    return detail::listed_task(std::move(listed), std::move(answer));
  }
  [[nodiscard]] Task<Listed<T>> list_all_async(std::same_as<std::stop_token> auto stop) const {
    return list_all_async(default_options<ListOptions>(), default_options<PagerOptions>(),
                          std::move(stop));
  }
  /// See Resource::watch().
  [[nodiscard]] Task<AsyncWatch<T>> watch_async(
      const ListOptions& options = default_options<ListOptions>(),
      std::stop_token stop = {}) const {
    return detail::watch_task<T>(core_.watch_async(options), std::move(stop));
  }
  [[nodiscard]] Task<AsyncWatch<T>> watch_async(std::same_as<std::stop_token> auto stop) const {
    return watch_async(default_options<ListOptions>(), std::move(stop));
  }
  /// See Resource::retry_watch(). Not a Task, because it does not wait.
  [[nodiscard]] AsyncRetryWatch<T> retry_watch_async(const ListOptions& options) const {
    return detail::Inside::make<AsyncRetryWatch<T>>(
        detail::retry_watch_async(core_, options, &detail::version_of<T>));
  }
  /// See Resource::table().
  [[nodiscard]] Task<Ref<meta::v1::Table>> table_async(
      const ListOptions& options = default_options<ListOptions>(),
      TableObjects objects = TableObjects::kMetadata, std::stop_token stop = {}) const {
    return send<meta::v1::Table>(core_.table({}, options, objects), std::move(stop));
  }

  // --- Writing ---

  /// See Resource::create().
  [[nodiscard]] Task<Ref<T>> create_async(
      T object, const CreateOptions& options = default_options<CreateOptions>(),
      std::stop_token stop = {}) const requires detail::Writable<T> {
    return send<T>(
        core_.create(detail::Sendable::owning(std::move(object)), {}, {}, &type_of<T>(), options),
        std::move(stop));
  }
  [[nodiscard]] Task<Ref<T>> create_async(
      T object, std::same_as<std::stop_token> auto stop) const requires detail::Writable<T> {
    return create_async(std::move(object), default_options<CreateOptions>(), std::move(stop));
  }
  /// See Resource::update().
  [[nodiscard]] Task<Ref<T>> update_async(
      T object, const UpdateOptions& options = default_options<UpdateOptions>(),
      std::stop_token stop = {}) const requires detail::Writable<T> {
    return put(std::move(object), {}, options, std::move(stop));
  }
  [[nodiscard]] Task<Ref<T>> update_async(
      T object, std::same_as<std::stop_token> auto stop) const requires detail::Writable<T> {
    return update_async(std::move(object), default_options<UpdateOptions>(), std::move(stop));
  }
  /// See Resource::update_status().
  [[nodiscard]] Task<Ref<T>> update_status_async(
      T object, const UpdateOptions& options = default_options<UpdateOptions>(),
      std::stop_token stop = {}) const requires detail::Writable<T> {
    return put(std::move(object), "status", options, std::move(stop));
  }
  [[nodiscard]] Task<Ref<T>> update_status_async(
      T object, std::same_as<std::stop_token> auto stop) const requires detail::Writable<T> {
    return update_status_async(std::move(object), default_options<UpdateOptions>(),
                               std::move(stop));
  }
  /// See Resource::patch().
  [[nodiscard]] Task<Ref<T>> patch_async(
      std::string_view name, PatchType type, std::string body,
      const PatchOptions& options = default_options<PatchOptions>(),
      std::string_view subresource = {}, std::stop_token stop = {}) const {
    return send<T>(core_.patch(name, type, std::move(body), subresource, options), std::move(stop));
  }
  [[nodiscard]] Task<Ref<T>> patch_async(std::string_view name, PatchType type, std::string body,
                                         std::same_as<std::stop_token> auto stop) const {
    return patch_async(name, type, std::move(body), default_options<PatchOptions>(), {},
                       std::move(stop));
  }
  /// See Resource::apply().
  [[nodiscard]] Task<Ref<T>> apply_async(
      const T& object, const ApplyOptions& options,
      std::stop_token stop = {}) const requires detail::Writable<T> {
    return send<T>(core_.apply(detail::Sendable::of(object), detail::name_of(object), {}, options),
                   std::move(stop));
  }
  /// See Resource::apply_status().
  [[nodiscard]] Task<Ref<T>> apply_status_async(
      const T& object, const ApplyOptions& options,
      std::stop_token stop = {}) const requires detail::Writable<T> {
    return send<T>(
        core_.apply(detail::Sendable::of(object), detail::name_of(object), "status", options),
        std::move(stop));
  }
  /// See Resource::delete_().
  [[nodiscard]] Task<void> delete_async(
      std::string_view name, const DeleteOptions& options = default_options<DeleteOptions>(),
      std::stop_token stop = {}) const {
    return detail::success_task(core_.send_async(core_.remove(name, options), std::move(stop)));
  }
  [[nodiscard]] Task<void> delete_async(std::string_view name,
                                        std::same_as<std::stop_token> auto stop) const {
    return delete_async(name, default_options<DeleteOptions>(), std::move(stop));
  }
  /// See Resource::delete_collection().
  [[nodiscard]] Task<void> delete_collection_async(
      const DeleteOptions& options = default_options<DeleteOptions>(),
      const ListOptions& which = default_options<ListOptions>(), std::stop_token stop = {}) const {
    return detail::success_task(
        core_.send_async(core_.remove_collection(options, which), std::move(stop)));
  }

  // --- Subresources ---

  /// See Resource::get_subresource().
  template <typename S>
  [[nodiscard]] Task<Ref<S>> get_subresource_async(
      std::string_view name, std::string_view subresource,
      const GetOptions& options = default_options<GetOptions>(), std::stop_token stop = {}) const {
    return send<S>(core_.get(name, subresource, type_of<S>(), options), std::move(stop));
  }
  /// See Resource::update_subresource().
  template <typename S>
  [[nodiscard]] Task<Ref<S>> update_subresource_async(
      std::string_view name, std::string_view subresource, S object,
      const UpdateOptions& options = default_options<UpdateOptions>(),
      std::stop_token stop = {}) const {
    return send<S>(
        core_.update(detail::Sendable::owning(std::move(object)), name, subresource, options),
        std::move(stop));
  }
  /// See Resource::create_subresource().
  template <typename S>
  [[nodiscard]] Task<Ref<S>> create_subresource_async(
      std::string_view name, std::string_view subresource, S object,
      const CreateOptions& options = default_options<CreateOptions>(),
      std::stop_token stop = {}) const {
    return send<S>(core_.create(detail::Sendable::owning(std::move(object)), name, subresource,
                                &type_of<S>(), options),
                   std::move(stop));
  }
  /// See Resource::get_status().
  [[nodiscard]] Task<Ref<T>> get_status_async(
      std::string_view name, const GetOptions& options = default_options<GetOptions>(),
      std::stop_token stop = {}) const {
    return get_subresource_async<T>(name, "status", options, std::move(stop));
  }
  [[nodiscard]] Task<Ref<T>> get_status_async(std::string_view name,
                                              std::same_as<std::stop_token> auto stop) const {
    return get_status_async(name, default_options<GetOptions>(), std::move(stop));
  }
  /// See Resource::get_scale().
  template <typename Scale = autoscaling::v1::Scale>
  [[nodiscard]] Task<Ref<Scale>> get_scale_async(std::string_view name,
                                                 std::stop_token stop = {}) const {
    return get_subresource_async<Scale>(name, "scale", {}, std::move(stop));
  }
  /// See Resource::update_scale().
  template <typename Scale = autoscaling::v1::Scale>
  [[nodiscard]] Task<Ref<Scale>> update_scale_async(
      std::string_view name, Scale scale,
      const UpdateOptions& options = default_options<UpdateOptions>(),
      std::stop_token stop = {}) const {
    return update_subresource_async<Scale>(name, "scale", std::move(scale), options,
                                           std::move(stop));
  }
  /// See Resource::evict().
  template <typename Eviction = policy::v1::Eviction>
  [[nodiscard]] Task<void> evict_async(Eviction eviction, std::stop_token stop = {}) const {
    return post(std::move(eviction), "eviction", {}, std::move(stop));
  }
  /// See Resource::bind().
  template <typename Binding = core::v1::Binding>
  [[nodiscard]] Task<void> bind_async(
      Binding binding, const CreateOptions& options = default_options<CreateOptions>(),
      std::stop_token stop = {}) const {
    return post(std::move(binding), "binding", options, std::move(stop));
  }
  /// See Resource::create_token().
  template <typename TokenRequest = authentication::v1::TokenRequest>
  [[nodiscard]] Task<Ref<TokenRequest>> create_token_async(std::string_view name,
                                                           TokenRequest request,
                                                           std::stop_token stop = {}) const {
    return create_subresource_async<TokenRequest>(name, "token", std::move(request), {},
                                                  std::move(stop));
  }
  /// See Resource::logs().
  [[nodiscard]] Task<AsyncLogStream> logs_async(
      std::string_view name, const LogOptions& options = default_options<LogOptions>(),
      std::stop_token stop = {}) const {
    return detail::log_task(core_.log_async(name, options), std::move(stop));
  }
  [[nodiscard]] Task<AsyncLogStream> logs_async(std::string_view name,
                                                std::same_as<std::stop_token> auto stop) const {
    return logs_async(name, default_options<LogOptions>(), std::move(stop));
  }

 protected:
  ~AsyncVerbs() = default;
  AsyncVerbs(const AsyncVerbs&) = default;
  AsyncVerbs& operator=(const AsyncVerbs&) = default;

 private:
  template <typename>
  friend class Resource;
  friend struct detail::Inside;
  explicit AsyncVerbs(detail::ResourceCore core) : core_(std::move(core)) {}

  template <typename Answer>
  [[nodiscard]] Task<Ref<Answer>> send(detail::Verb verb, std::stop_token stop) const {
    return detail::object_task<Answer>(core_.send_async(std::move(verb), std::move(stop)));
  }
  [[nodiscard]] Task<Ref<T>> put(T object, std::string_view subresource,
                                 const UpdateOptions& options, std::stop_token stop) const {
    const std::string name{detail::name_of(object)};
    return send<T>(
        core_.update(detail::Sendable::owning(std::move(object)), name, subresource, options),
        std::move(stop));
  }
  template <typename Object>
  [[nodiscard]] Task<void> post(Object object, std::string_view subresource,
                                const CreateOptions& options, std::stop_token stop) const {
    const std::string name{detail::name_of(object)};
    return detail::success_task(
        core_.send_async(core_.create(detail::Sendable::owning(std::move(object)), name,
                                      subresource, nullptr, options),
                         std::move(stop)));
  }
  template <typename OnItem>
  [[nodiscard]] static detail::ResourceCore::OnItem typed(OnItem on_item) {
    return [on_item = std::move(on_item)](const detail::AnyRef& item) mutable {
      on_item(detail::cast<T>(item));
    };
  }
  [[nodiscard]] static detail::ResourceCore::OnItem add_to(Listed<T>& listed) {
    return [&listed](const detail::AnyRef& item) { listed.items.push_back(detail::cast<T>(item)); };
  }

  detail::ResourceCore core_;
};

}  // namespace kube
