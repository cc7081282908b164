// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/base/log.hpp>
#include <kube/client/options.hpp>
#include <kube/codec/decoder.hpp>
#include <kube/codec/format.hpp>
#include <kube/codec/list_metadata.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/type.hpp>
#include <kube/transport/transport.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace kube::detail {

class ListOperation;
class ObjectOperation;
class RestClient;
class WatchCore;
class WatchOperation;
enum class Many : bool;
struct Answer;
struct Place;
struct Poller;
struct Request;

/// An object of a type that is known elsewhere.
using AnyRef = Ref<std::byte>;
template <typename T>
[[nodiscard]] Ref<T> cast(const AnyRef& object) noexcept {
  return {object, reinterpret_cast<const T*>(object.get())};
}

/// An object to send.
struct Sendable {
  const Type* type = nullptr;
  const std::byte* object = nullptr;

  template <typename T>
  static Sendable of(const T& object) noexcept {
    return {&type_of<T>(), reinterpret_cast<const std::byte*>(&object)};
  }
};

/// How the objects of a resource travel.
enum class Wire : std::uint8_t {
  kTyped,     ///< protobuf if the type has it, else JSON
  kDynamic,   ///< JSON, with kind and apiVersion in each object
  kMetadata,  ///< only the metadata of each
};

/// Throws std::invalid_argument, with the place of the mistake, if a selector is malformed: nothing is asked of the server
/// that can only fail, and informers do not try again and again.
void check_selectors(const ListOptions& options);

/// What a ResourceCore is about.
struct ResourceTarget {
  GroupVersionResource resource = {};
  bool is_namespaced = false;
  /// Whether that is known: a dynamic client believes what it is given.
  bool scope_is_known = false;
  std::string namespace_ = {};
  Wire wire = Wire::kTyped;
  const Type* type = nullptr;
};

/// The verbs of Resource<T> without the T. See there.
class ResourceCore {
 public:
  using OnItem = std::function<void(const AnyRef& item)>;

  ResourceCore(std::shared_ptr<RestClient> rest, ResourceTarget target);

  [[nodiscard]] AnyRef get(std::string_view name, std::string_view subresource, const Type& wanted,
                           const GetOptions& options, std::stop_token stop) const;
  /// Null if it is not there.
  [[nodiscard]] AnyRef find(std::string_view name, const GetOptions& options,
                            std::stop_token stop) const;
  /// One answer. Calls `on_item` as each item arrives.
  [[nodiscard]] ListMetadata list(const ListOptions& options, const OnItem& on_item,
                                  std::stop_token stop) const;
  /// All pages. `on_restart` is called before all items are delivered anew; without it that is an error.
  [[nodiscard]] ListMetadata list_all(ListOptions options, const PagerOptions& pager,
                                      const OnItem& on_item,
                                      const std::function<void()>& on_restart,
                                      std::stop_token stop) const;
  [[nodiscard]] std::unique_ptr<WatchCore> watch(const ListOptions& options,
                                                 std::stop_token stop) const;
  /// list() and watch() in the form that is polled. Throws std::invalid_argument if a selector is malformed.
  [[nodiscard]] std::unique_ptr<ListOperation> start_list(const ListOptions& options,
                                                          Poller poller) const;
  [[nodiscard]] std::unique_ptr<WatchOperation> start_watch(const ListOptions& options,
                                                            Poller poller) const;
  /// POST. The answer may be of another type, or (null) of no interest.
  AnyRef create(Sendable object, std::string_view name, std::string_view subresource,
                const Type* wanted, const CreateOptions& options, std::stop_token stop) const;
  [[nodiscard]] AnyRef update(Sendable object, std::string_view name, std::string_view subresource,
                              const UpdateOptions& options, std::stop_token stop) const;
  [[nodiscard]] AnyRef patch(std::string_view name, PatchType type, std::string body,
                             std::string_view subresource, const PatchOptions& options,
                             std::stop_token stop) const;
  [[nodiscard]] AnyRef apply(Sendable object, std::string_view name, std::string_view subresource,
                             const ApplyOptions& options, std::stop_token stop) const;
  void remove(std::string_view name, const DeleteOptions& options, std::stop_token stop) const;
  void remove_collection(const DeleteOptions& options, const ListOptions& which,
                         std::stop_token stop) const;
  [[nodiscard]] std::unique_ptr<ResponseStream> log(std::string_view name,
                                                    const LogOptions& options,
                                                    std::stop_token stop) const;
  /// A meta::v1::Table of one object, or of all if `name` is empty.
  [[nodiscard]] AnyRef table(std::string_view name, const ListOptions& options,
                             TableObjects objects, std::stop_token stop) const;

  [[nodiscard]] const ResourceTarget& target() const noexcept { return target_; }
  [[nodiscard]] const std::shared_ptr<RestClient>& rest() const noexcept { return rest_; }
  /// That of the client.
  [[nodiscard]] const Logger& log() const noexcept;
  [[nodiscard]] const DecoderOptions& decoding() const noexcept { return decoding_; }
  void set_decoding(DecoderOptions options) { decoding_ = std::move(options); }

 private:
  friend class ListOperation;
  friend class ObjectOperation;
  friend class WatchOperation;

  [[nodiscard]] Request request(std::string_view method, std::string_view name,
                                std::string_view subresource) const;
  /// Sends it, and again as JSON if the server does not like protobuf.
  [[nodiscard]] Answer exchange(Request& request, const Sendable* body, const Type& wanted,
                                Many many, std::stop_token stop) const;
  [[nodiscard]] AnyRef one_object(Request& request, const Sendable* body, const Type& wanted,
                                  std::stop_token stop) const;
  void no_object(Request& request, const Sendable* body, std::stop_token stop) const;
  [[nodiscard]] AnyRef decode(const Request& request, Answer& answer, const Type& wanted,
                              std::stop_token stop) const;
  [[nodiscard]] AnyRef decode_body(const Request& request, const Answer& answer,
                                   const std::string& body, const Type& wanted) const;
  /// The type that answers are decoded with: of metadata, one that takes those of any kind.
  [[nodiscard]] const Type& wire_type(const Type& wanted) const noexcept;

  std::shared_ptr<RestClient> rest_;
  ResourceTarget target_;
  DecoderOptions decoding_;
};

}  // namespace kube::detail
