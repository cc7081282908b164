// SPDX-License-Identifier: Apache-2.0
#include "negotiated_send.hpp"

#include "answer.hpp"

#include <kube/api/validation.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace kube::detail {

namespace {

constexpr std::string_view kMetadataAccept =
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata{0};g=meta.k8s.io;v=v1,"
    "application/json;as=PartialObjectMetadata{0};g=meta.k8s.io;v=v1,application/json";

std::string encode(const Sendable& object, Format format) {
  return format == Format::kJson
             ? encode_json(*object.type, object.object)
             : encode_protobuf(*object.type, object.object, Wrapping::kEnvelope);
}

}  // namespace

NegotiatedSend::NegotiatedSend(RestClient& rest, const ResourceTarget& target, Request& request,
                               Payload payload, Poller poller)
    : rest_(rest),
      target_(target),
      request_(request),
      payload_(payload),
      poller_(std::move(poller)),
      group_version_(to_string(target.resource.group_version())),
      accept_is_given_(!request.accept.empty()) {
  begin();
}

void NegotiatedSend::begin() {
  const Sendable* const body = payload_.body;
  wire_ = rest_.negotiate(group_version_, body == nullptr ? nullptr : body->type, *payload_.wanted);
  if (target_.wire != Wire::kTyped) {
    wire_.body = Format::kJson;
    wire_.content_type = kJsonMedia;
    if (target_.wire == Wire::kDynamic) {
      wire_.accept = kJsonMedia;
      wire_.assumed = Format::kJson;
      wire_.can_fall_back = false;
    } else if (!rest_.uses_json(group_version_)) {
      wire_.accept =
          fmt::format(fmt::runtime(kMetadataAccept), payload_.many == Many::kYes ? "List" : "");
      wire_.can_fall_back = true;
    }
  }
  if (!accept_is_given_) request_.accept = wire_.accept;
  if (body != nullptr) {
    request_.body = encode(*body, wire_.body);
    request_.content_type = wire_.content_type;
  }
  sending_.emplace(rest_, request_, poller_);
}

Poll NegotiatedSend::poll() {
  for (;;) {
    try {
      if (sending_->poll() == Poll::kPending) return Poll::kPending;
      accept(sending_->take());
      return Poll::kReady;
    } catch (const ApiError& error) {
      if (!can_fall_back(error)) throw;
    }
    rest_.use_json(group_version_);
    begin();
  }
}

bool NegotiatedSend::can_fall_back(const ApiError& error) const {
  return wire_.can_fall_back &&
         ((error.code() == 406 && !accept_is_given_) ||
          (error.code() == 415 && wire_.body == Format::kProtobuf && payload_.body != nullptr));
}

void NegotiatedSend::accept(std::unique_ptr<PolledStream> stream) {
  answer_ = {std::move(stream), wire_.assumed};
  if (!answer_.stream) return;
  const HttpResponseHead& head = answer_.stream->head();
  const std::string* const content_type = find_header(head.headers, "Content-Type");
  const std::optional<Format> format =
      format_of(content_type == nullptr ? "" : *content_type, wire_.assumed);
  if (!format) {
    throw unexpected_answer(
        request_, head,
        fmt::format("expected JSON or protobuf, the answer is {}", quoted(*content_type)));
  }
  answer_.format = *format;
}

}  // namespace kube::detail
