// SPDX-License-Identifier: Apache-2.0
#include <kube/client/resource_core.hpp>

#include "complete.hpp"
#include "list_all_operation.hpp"
#include "list_operation.hpp"
#include "object_operation.hpp"
#include "request.hpp"
#include "rest_client.hpp"
#include "watch_operation.hpp"

#include <kube/api/fields.hpp>
#include <kube/api/labels.hpp>
#include <kube/api/meta/v1.hpp>
#include <kube/api/validation.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/list_reader.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/value.hpp>

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <utility>

namespace kube::detail {

namespace {

/// The type for the metadata of any kind of object, not only of PartialObjectMetadata.
const Type kAnyMetadata = [] {
  Type type = type_of<meta::v1::PartialObjectMetadata>();
  type.flags &= static_cast<std::uint8_t>(~Type::kHasTypeMeta);
  return type;
}();

constexpr std::chrono::seconds kWatchGrace{30};

}  // namespace

void check_selectors(const ListOptions& options) {
  static_cast<void>(labels::Selector::parse(options.label_selector));
  static_cast<void>(field_selectors::Selector::parse(options.field_selector));
}

ResourceCore::ResourceCore(std::shared_ptr<RestClient> rest, ResourceTarget target)
    : rest_(std::move(rest)), target_(std::move(target)) {
  decoding_.sibling_bytes = 0;  // useful only with a shared pool; see set_decoding()
}

const Type& ResourceCore::wire_type(const Type& wanted) const noexcept {
  return target_.wire == Wire::kMetadata && &wanted == target_.type ? kAnyMetadata : wanted;
}

Request ResourceCore::request(std::string_view method, std::string_view name,
                              std::string_view subresource) const {
  const Scope scope = !target_.scope_is_known ? Scope::kUnknown
                      : target_.is_namespaced ? Scope::kNamespaced
                                              : Scope::kCluster;
  Request request;
  request.method = method;
  request.path = path_of({.resource = target_.resource,
                          .scope = scope,
                          .namespace_ = target_.namespace_,
                          .name = std::string{name},
                          .subresource = std::string{subresource}},
                         method);
  request.resource = target_.resource.group_resource();
  request.name = name;
  switch (target_.wire) {
    case Wire::kTyped:
      request.limiter = to_string(target_.resource.group_version());
      break;
    case Wire::kDynamic:
      request.limiter = "dynamic";
      break;
    case Wire::kMetadata:
      request.limiter = "metadata";
      break;
  }
  return request;
}

Verb::Verb(std::unique_ptr<ObjectRequest> request) noexcept : request_(std::move(request)) {}
Verb::Verb(Verb&& other) noexcept = default;
Verb::~Verb() = default;

Verb ResourceCore::verb(ObjectRequest request) {
  return Verb{std::make_unique<ObjectRequest>(std::move(request))};
}

std::unique_ptr<ObjectOperation> ResourceCore::start(Verb verb) const {
  return std::make_unique<ObjectOperation>(*this, std::move(*verb.request_));
}

AnyRef ResourceCore::send(Verb verb, std::stop_token stop) const {
  ObjectOperation operation{*this, std::move(*verb.request_)};
  const Poller poller{.stop = stop};
  complete(operation, rest_->clock(), stop, [&] { return operation.poll(poller); });
  return operation.take();
}

const Logger& ResourceCore::log() const noexcept { return rest_->options().log; }

Verb ResourceCore::get(std::string_view name, std::string_view subresource, const Type& wanted,
                       const GetOptions& options) const {
  require_name(name);
  Request request = this->request("GET", name, subresource);
  add_options(request.query, options);
  return verb({.request = std::move(request), .wanted = &wanted});
}

Verb ResourceCore::find(std::string_view name, const GetOptions& options) const {
  Verb found = get(name, {}, *target_.type, options);
  found.request_->may_be_missing = true;
  return found;
}

ListMetadata ResourceCore::list(const ListOptions& options, const OnItem& on_item,
                                std::stop_token stop) const {
  const auto operation = start_list(options, {.stop = stop});
  complete(*operation, rest_->clock(), stop,
           [&] { return operation->poll(on_item, std::numeric_limits<std::size_t>::max()); });
  return operation->metadata();
}

std::unique_ptr<ListOperation> ResourceCore::start_list(const ListOptions& options,
                                                        Poller poller) const {
  check_selectors(options);
  Request request = this->request("GET", {}, {});
  add_options(request.query, options);
  if (options.timeout && options.timeout->count() > 0) request.timeout = *options.timeout;
  return std::make_unique<ListOperation>(*this, std::move(request), std::move(poller));
}

ListMetadata ResourceCore::list_all(ListOptions options, const PagerOptions& pager,
                                    const OnItem& on_item, const std::function<void()>& on_restart,
                                    std::stop_token stop) const {
  ListAllOperation operation{*this, std::move(options), pager, {.stop = stop}};
  complete(operation, rest_->clock(), stop, [&] {
    return operation.poll(on_item, on_restart, std::numeric_limits<std::size_t>::max());
  });
  return operation.metadata();
}

std::unique_ptr<WatchCore> ResourceCore::watch(const ListOptions& options,
                                               std::stop_token stop) const {
  const auto operation = start_watch(options, {.stop = stop});
  complete(*operation, rest_->clock(), stop, [&] { return operation->poll_open(); });
  return operation->take();
}

std::unique_ptr<WatchOperation> ResourceCore::start_watch(const ListOptions& options,
                                                          Poller poller) const {
  check_selectors(options);
  Request request = this->request("GET", {}, {});
  request.kind = Request::Kind::kWatch;
  add_options(request.query, options);
  // HTTP/1.1 cannot detect a server that keeps the connection open but no longer responds.
  if (options.timeout && options.timeout->count() > 0) {
    request.ends_within = *options.timeout + kWatchGrace;
  }
  request.query.add("watch", "true");
  return std::make_unique<WatchOperation>(*this, std::move(request), std::move(poller));
}

Request ResourceCore::log_request(std::string_view name, const LogOptions& options) const {
  require_name(name);
  Request request = this->request("GET", name, "log");
  request.accept = "*/*";
  add_options(request.query, options);
  return request;
}

std::unique_ptr<ResponseStream> ResourceCore::log(std::string_view name, const LogOptions& options,
                                                  std::stop_token stop) const {
  return rest_->send(log_request(name, options), std::move(stop));
}

Verb ResourceCore::table(std::string_view name, const ListOptions& options,
                         TableObjects objects) const {
  Request request = this->request("GET", name, {});
  request.accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
  add_options(request.query, options);
  request.query.add("includeObject", objects == TableObjects::kNone       ? "None"
                                     : objects == TableObjects::kMetadata ? "Metadata"
                                                                          : "Object");
  return verb({.request = std::move(request), .wanted = &type_of<meta::v1::Table>()});
}

}  // namespace kube::detail
