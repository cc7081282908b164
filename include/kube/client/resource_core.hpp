// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/base/log.hpp>
#include <kube/client/options.hpp>
#include <kube/codec/decoder.hpp>
#include <kube/codec/format.hpp>
#include <kube/codec/list_metadata.hpp>
#include <kube/engine/suspension.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/type.hpp>
#include <kube/transport/transport.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace kube::detail {

class AwaitedEvents;
class ListOperation;
class ObjectOperation;
class RestClient;
class WatchCore;
class WatchOperation;
struct ObjectRequest;
struct Place;
struct Poller;
struct Request;

/// An object whose type is known from the context (type erasure).
using AnyRef = Ref<std::byte>;
template <typename T>
[[nodiscard]] Ref<T> cast(const AnyRef& object) noexcept {
  return {object, reinterpret_cast<const T*>(object.get())};
}

/// An object to send, type-erased.
struct Sendable {
  const Type* type = nullptr;
  const std::byte* object = nullptr;
  std::shared_ptr<const void> owner = nullptr;  ///< null: the caller keeps the object alive

  template <typename T>
  static Sendable of(const T& object) noexcept {
    return {&type_of<T>(), reinterpret_cast<const std::byte*>(&object)};
  }
  /// Makes a Sendable that owns a copy of the object, for a request that outlives the call.
  template <typename T>
  static Sendable owning(T object) {
    auto owner = std::make_shared<const T>(std::move(object));
    Sendable sendable = of(*owner);
    sendable.owner = std::move(owner);
    return sendable;
  }
};

/// A verb with its arguments, before anything is sent. Shared by the blocking and the asynchronous
/// form.
class Verb {
 public:
  explicit Verb(std::unique_ptr<ObjectRequest> request) noexcept;
  Verb(Verb&& other) noexcept;
  Verb& operator=(Verb&&) = delete;
  ~Verb();

 private:
  friend class ResourceCore;
  std::unique_ptr<ObjectRequest> request_;
};

/// The encoding of a resource's objects.
enum class Wire : std::uint8_t {
  kTyped,     ///< protobuf if the type supports it, else JSON
  kDynamic,   ///< JSON, with kind and apiVersion in each object
  kMetadata,  ///< only the metadata of each object
};

/// Throws std::invalid_argument, with the position of the error, if a selector is malformed.
/// Requests that can only fail are not sent, and informers do not retry them.
void check_selectors(const ListOptions& options);

/// The resource, namespace and encoding that a ResourceCore works with.
struct ResourceTarget {
  GroupVersionResource resource = {};
  bool is_namespaced = false;
  /// False for a dynamic client, which does not know the scope and uses the namespace it is given.
  bool scope_is_known = false;
  std::string namespace_ = {};
  Wire wire = Wire::kTyped;
  const Type* type = nullptr;
};

/// Resource<T> without the type. See Resource.
class ResourceCore {
 public:
  using OnItem = std::function<void(const AnyRef& item)>;

  ResourceCore(std::shared_ptr<RestClient> rest, ResourceTarget target);

  // Verbs that respond with one object. All arguments are copied, except the object of a Sendable
  // that does not own it: that object must outlive the Verb. Throws std::invalid_argument if the
  // arguments are invalid.
  [[nodiscard]] Verb get(std::string_view name, std::string_view subresource, const Type& wanted,
                         const GetOptions& options) const;
  /// Yields null if the object does not exist.
  [[nodiscard]] Verb find(std::string_view name, const GetOptions& options) const;
  /// POST. The response is decoded as `wanted`; if null, it is ignored.
  [[nodiscard]] Verb create(Sendable object, std::string_view name, std::string_view subresource,
                            const Type* wanted, const CreateOptions& options) const;
  [[nodiscard]] Verb update(Sendable object, std::string_view name, std::string_view subresource,
                            const UpdateOptions& options) const;
  [[nodiscard]] Verb patch(std::string_view name, PatchType type, std::string body,
                           std::string_view subresource, const PatchOptions& options) const;
  [[nodiscard]] Verb apply(const Sendable& object, std::string_view name,
                           std::string_view subresource, const ApplyOptions& options) const;
  [[nodiscard]] Verb remove(std::string_view name, const DeleteOptions& options) const;
  [[nodiscard]] Verb remove_collection(const DeleteOptions& options,
                                       const ListOptions& which) const;
  /// Yields a meta::v1::Table of one object, or of all if `name` is empty.
  [[nodiscard]] Verb table(std::string_view name, const ListOptions& options,
                           TableObjects objects) const;

  /// Sends the verb and waits for the response. Returns null if the response is ignored.
  AnyRef send(Verb verb, std::stop_token stop) const;
  /// Starts the verb as a polled operation.
  [[nodiscard]] std::unique_ptr<ObjectOperation> start(Verb verb) const;
  /// Starts the verb for a coroutine to await.
  [[nodiscard]] Await<AnyRef> send_async(Verb verb, std::stop_token stop) const;

  /// Sends one list request. Calls `on_item` as each item arrives.
  [[nodiscard]] ListMetadata list(const ListOptions& options, const OnItem& on_item,
                                  std::stop_token stop) const;
  /// Lists all pages. Calls `on_restart` before all items are delivered again; without it, that is
  /// an error.
  [[nodiscard]] ListMetadata list_all(ListOptions options, const PagerOptions& pager,
                                      const OnItem& on_item,
                                      const std::function<void()>& on_restart,
                                      std::stop_token stop) const;
  [[nodiscard]] std::unique_ptr<WatchCore> watch(const ListOptions& options,
                                                 std::stop_token stop) const;
  /// Polled forms of list() and watch(). Throw std::invalid_argument if a selector is malformed.
  [[nodiscard]] std::unique_ptr<ListOperation> start_list(const ListOptions& options,
                                                          Poller poller) const;
  [[nodiscard]] std::unique_ptr<WatchOperation> start_watch(const ListOptions& options,
                                                            Poller poller) const;
  // Awaitable forms, owned by the coroutine. The functions are called on its queue.
  [[nodiscard]] Await<ListMetadata> list_async(const ListOptions& options, OnItem on_item,
                                               std::stop_token stop) const;
  [[nodiscard]] Await<ListMetadata> list_all_async(const ListOptions& options,
                                                   const PagerOptions& pager, OnItem on_item,
                                                   std::function<void()> on_restart,
                                                   std::stop_token stop) const;
  /// The first await opens the watch; each later one yields an event.
  [[nodiscard]] std::unique_ptr<AwaitedEvents> watch_async(const ListOptions& options) const;
  /// The first await opens the log; each later one yields a line.
  [[nodiscard]] std::unique_ptr<Awaited<std::optional<std::string>>> log_async(
      std::string_view name, const LogOptions& options) const;
  [[nodiscard]] std::unique_ptr<ResponseStream> log(std::string_view name,
                                                    const LogOptions& options,
                                                    std::stop_token stop) const;

  [[nodiscard]] const ResourceTarget& target() const noexcept { return target_; }
  [[nodiscard]] const std::shared_ptr<RestClient>& rest() const noexcept { return rest_; }
  /// The Logger of the client.
  [[nodiscard]] const Logger& log() const noexcept;
  [[nodiscard]] const DecoderOptions& decoding() const noexcept { return decoding_; }
  void set_decoding(DecoderOptions options) { decoding_ = std::move(options); }

 private:
  friend class ListOperation;
  friend class ObjectOperation;
  friend class WatchOperation;

  [[nodiscard]] Request request(std::string_view method, std::string_view name,
                                std::string_view subresource) const;
  [[nodiscard]] Request log_request(std::string_view name, const LogOptions& options) const;
  [[nodiscard]] static Verb verb(ObjectRequest request);
  /// Returns the type that responses are decoded with. For kMetadata, one that accepts the metadata
  /// of any kind.
  [[nodiscard]] const Type& wire_type(const Type& wanted) const noexcept;

  std::shared_ptr<RestClient> rest_;
  ResourceTarget target_;
  DecoderOptions decoding_;
};

}  // namespace kube::detail
