// SPDX-License-Identifier: Apache-2.0
#include <kube/client/resource_core.hpp>

#include "complete.hpp"
#include "list_operation.hpp"
#include "negotiated_send.hpp"
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

/// The metadata of an object of any kind: not only of those that say they are PartialObjectMetadata.
const Type kAnyMetadata = [] {
  Type type = type_of<meta::v1::PartialObjectMetadata>();
  type.flags &= static_cast<std::uint8_t>(~Type::kHasTypeMeta);
  return type;
}();

constexpr std::chrono::seconds kWatchGrace{30};

/// Whether a decoded Value is a Status that tells of a failure.
bool is_failure(const Value& document) {
  const Value& kind = document["kind"];
  const Value& version = document["apiVersion"];
  const Value& status = document["status"];
  return kind.is_string() && kind.as_string() == "Status" && version.is_string() &&
         version.as_string() == "v1" && status.is_string() && status.as_string() != "Success";
}

}  // namespace

void check_selectors(const ListOptions& options) {
  static_cast<void>(labels::Selector::parse(options.label_selector));
  static_cast<void>(field_selectors::Selector::parse(options.field_selector));
}

ResourceCore::ResourceCore(std::shared_ptr<RestClient> rest, ResourceTarget target)
    : rest_(std::move(rest)), target_(std::move(target)) {
  decoding_.sibling_bytes = 0;  // of use only where a pool is shared, by set_decoding()
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

Answer ResourceCore::exchange(Request& request, const Sendable* body, const Type& wanted, Many many,
                              std::stop_token stop) const {
  NegotiatedSend operation{*rest_, target_, request, {body, &wanted, many}, {.stop = stop}};
  complete(operation, rest_->clock(), stop, [&] { return operation.poll(); });
  return operation.take();
}

AnyRef ResourceCore::decode(const Request& request, Answer& answer, const Type& wanted,
                            std::stop_token stop) const {
  return decode_body(request, answer, rest_->read_body(request, *answer.stream, std::move(stop)),
                     wanted);
}

AnyRef ResourceCore::decode_body(const Request& request, const Answer& answer,
                                 const std::string& body, const Type& wanted) const {
  if (body.empty()) {
    throw unexpected_answer(request, answer.stream->head(), "the answer has an empty body");
  }
  try {
    DecoderCore decoder{
        wanted, &wanted == target_.type || &wanted == &kAnyMetadata ? decoding_ : DecoderOptions{}};
    AnyRef object = ref_to_root<std::byte>(
        answer.format == Format::kJson ? decoder.json(body, 0) : decoder.enveloped(body, 0));
    if ((wanted.kind == Kind::kValue && is_failure(*cast<Value>(object))) ||
        (&wanted == &kAnyMetadata && begins_status(body, answer.format))) {
      throw CodecError("", "a Status instead of an object", 0);
    }
    return object;
  } catch (const CodecError&) {
    const Ref<meta::v1::Status> status = find_status(body, answer.format);
    if (status && status->status != "Success") throw ApiError{*status};
    throw;
  }
}

AnyRef ResourceCore::one_object(Request& request, const Sendable* body, const Type& wanted,
                                std::stop_token stop) const {
  Answer answer = exchange(request, body, wanted, Many::kNo, stop);
  return decode(request, answer, wire_type(wanted), std::move(stop));
}

void ResourceCore::no_object(Request& request, const Sendable* body, std::stop_token stop) const {
  Answer answer = exchange(request, body, *target_.type, Many::kNo, stop);
  const std::string text = rest_->read_body(request, *answer.stream, std::move(stop));
  if (!begins_status(text, answer.format)) return;
  const Ref<meta::v1::Status> status = find_status(text, answer.format);
  if (status && status->status == "Failure") throw ApiError{*status};
}

const Logger& ResourceCore::log() const noexcept { return rest_->options().log; }

AnyRef ResourceCore::get(std::string_view name, std::string_view subresource, const Type& wanted,
                         const GetOptions& options, std::stop_token stop) const {
  require_name(name);
  Request request = this->request("GET", name, subresource);
  request.query.add(options);
  return one_object(request, nullptr, wanted, std::move(stop));
}

AnyRef ResourceCore::find(std::string_view name, const GetOptions& options,
                          std::stop_token stop) const {
  try {
    return get(name, {}, *target_.type, options, std::move(stop));
  } catch (const ApiError& error) {
    // A proxy's page or a resource that is not served is no answer to the question.
    if (is_not_found(error) && !is_unexpected_server_error(error)) return nullptr;
    throw;
  }
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
  request.query.add(options);
  if (options.timeout && options.timeout->count() > 0) request.timeout = *options.timeout;
  return std::make_unique<ListOperation>(*this, std::move(request), std::move(poller));
}

ListMetadata ResourceCore::list_all(ListOptions options, const PagerOptions& pager,
                                    const OnItem& on_item, const std::function<void()>& on_restart,
                                    std::stop_token stop) const {
  const ListOptions asked = options;
  if (options.limit == 0) options.limit = pager.page_size;
  std::optional<ListMetadata> first;
  while (true) {
    ListMetadata head;
    try {
      head = list(options, on_item, stop);
    } catch (const ApiError& error) {
      if (!is_resource_expired(error) || !pager.full_list_if_expired ||
          options.continue_token.empty() || !on_restart) {
        throw;
      }
      on_restart();
      options = asked;
      options.limit = 0;
      options.continue_token.clear();
      return list(options, on_item, std::move(stop));
    }
    options.continue_token = head.continue_token;
    // A continued list is of the version that it began with; asking for one is an error.
    options.resource_version.clear();
    options.resource_version_match.clear();
    if (!first) first = std::move(head);
    if (options.continue_token.empty()) break;
  }
  first->continue_token.clear();
  first->remaining_item_count.reset();
  return std::move(*first);
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
  request.query.add(options);
  // HTTP/1.1 has no means to notice that a server which keeps its connection has fallen silent.
  if (options.timeout && options.timeout->count() > 0) {
    request.ends_within = *options.timeout + kWatchGrace;
  }
  request.query.add("watch", "true");
  return std::make_unique<WatchOperation>(*this, std::move(request), std::move(poller));
}

std::unique_ptr<ResponseStream> ResourceCore::log(std::string_view name, const LogOptions& options,
                                                  std::stop_token stop) const {
  require_name(name);
  Request request = this->request("GET", name, "log");
  request.accept = "*/*";
  request.query.add(options);
  return rest_->send(request, std::move(stop));
}

AnyRef ResourceCore::table(std::string_view name, const ListOptions& options, TableObjects objects,
                           std::stop_token stop) const {
  Request request = this->request("GET", name, {});
  request.accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
  request.query.add(options);
  request.query.add("includeObject", objects == TableObjects::kNone       ? "None"
                                     : objects == TableObjects::kMetadata ? "Metadata"
                                                                          : "Object");
  return one_object(request, nullptr, type_of<meta::v1::Table>(), std::move(stop));
}

}  // namespace kube::detail
