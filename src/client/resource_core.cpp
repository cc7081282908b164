// SPDX-License-Identifier: Apache-2.0
#include <kube/client/resource_core.hpp>

#include "request.hpp"
#include "rest_client.hpp"
#include "watch_stream.hpp"

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
constexpr std::string_view kMetadataAccept =
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata{0};g=meta.k8s.io;v=v1,"
    "application/json;as=PartialObjectMetadata{0};g=meta.k8s.io;v=v1,application/json";

std::string encode(const Sendable& object, Format format) {
  return format == Format::kJson
             ? encode_json(*object.type, object.object)
             : encode_protobuf(*object.type, object.object, Wrapping::kEnvelope);
}

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

struct ResourceCore::Answer {
  std::unique_ptr<ResponseStream> stream;
  Format format = Format::kJson;
};

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

ResourceCore::Answer ResourceCore::exchange(Request& request, const Sendable* body,
                                            const Type& wanted, Many many,
                                            std::stop_token stop) const {
  const std::string group_version = to_string(target_.resource.group_version());
  const bool accept_is_given = !request.accept.empty();
  while (true) {
    Negotiated wire =
        rest_->negotiate(group_version, body == nullptr ? nullptr : body->type, wanted);
    if (target_.wire != Wire::kTyped) {
      wire.body = Format::kJson;
      wire.content_type = kJsonMedia;
      if (target_.wire == Wire::kDynamic) {
        wire.accept = kJsonMedia;
        wire.assumed = Format::kJson;
        wire.can_fall_back = false;
      } else if (!rest_->uses_json(group_version)) {
        wire.accept = fmt::format(fmt::runtime(kMetadataAccept), many == Many::kYes ? "List" : "");
        wire.can_fall_back = true;
      }
    }
    if (!accept_is_given) request.accept = wire.accept;
    if (body != nullptr) {
      request.body = encode(*body, wire.body);
      request.content_type = wire.content_type;
    }
    try {
      Answer answer{rest_->send(request, stop), wire.assumed};
      if (!answer.stream) return answer;
      const std::string* content_type = find_header(answer.stream->head().headers, "Content-Type");
      const std::optional<Format> format =
          format_of(content_type == nullptr ? "" : *content_type, wire.assumed);
      if (!format) {
        throw unexpected_answer(
            request, answer.stream->head(),
            fmt::format("expected JSON or protobuf, the answer is {}", quoted(*content_type)));
      }
      answer.format = *format;
      return answer;
    } catch (const ApiError& error) {
      const bool is_refused =
          (error.code() == 406 && !accept_is_given) ||
          (error.code() == 415 && wire.body == Format::kProtobuf && body != nullptr);
      if (!wire.can_fall_back || !is_refused) throw;
      rest_->use_json(group_version);
    }
  }
}

AnyRef ResourceCore::decode(const Request& request, Answer& answer, const Type& wanted,
                            std::stop_token stop) const {
  const std::string body = rest_->read_body(request, *answer.stream, std::move(stop));
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
  check_selectors(options);
  Request request = this->request("GET", {}, {});
  request.query.add(options);
  if (options.timeout && options.timeout->count() > 0) request.timeout = *options.timeout;
  Answer answer = exchange(request, nullptr, *target_.type, Many::kYes, stop);
  const auto read = [&] {
    try {
      return answer.stream->read(stop);
    } catch (const TransportError& error) {
      throw rest_->in_context(request, error);
    }
  };
  std::string_view chunk = read();
  if (chunk.empty()) {
    throw unexpected_answer(request, answer.stream->head(), "the answer has an empty body");
  }
  if (begins_status(chunk, answer.format)) {
    const std::string text =
        std::string{chunk} + rest_->read_body(request, *answer.stream, std::move(stop));
    if (const Ref<meta::v1::Status> status = find_status(text, answer.format)) {
      throw ApiError{*status};
    }
    throw unexpected_answer(request, answer.stream->head(), "the answer is a damaged Status");
  }
  ListReaderCore body{answer.format, wire_type(*target_.type), decoding_};
  ByteAccount account = rest_->account(request);
  for (; !chunk.empty(); chunk = read()) {
    body.feed(chunk, on_item);
    account.hold(body.held());
    account.admit(body.held(), stop);
  }
  return body.finish(on_item);
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
  check_selectors(options);
  Request request = this->request("GET", {}, {});
  request.kind = Request::Kind::kWatch;
  request.query.add(options);
  // HTTP/1.1 has no means to notice that a server which keeps its connection has fallen silent.
  if (options.timeout && options.timeout->count() > 0) {
    request.ends_within = *options.timeout + kWatchGrace;
  }
  request.query.add("watch", "true");
  Answer answer = exchange(request, nullptr, *target_.type, Many::kNo, std::move(stop));
  return std::make_unique<WatchOfStream>(std::move(answer.stream), answer.format,
                                         wire_type(*target_.type), decoding_,
                                         WatchContext{.log = rest_->options().log.named("watch"),
                                                      .budget = rest_->budget(),
                                                      .clock = &rest_->clock(),
                                                      .name = rest_->describe(request)});
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
