// SPDX-License-Identifier: Apache-2.0
#include "object_operation.hpp"

#include "answer.hpp"
#include "rest_client.hpp"

#include <kube/api/meta/v1.hpp>
#include <kube/codec/decoder.hpp>
#include <kube/codec/error.hpp>
#include <kube/object/value.hpp>

#include <string>
#include <utility>

namespace kube::detail {

namespace {

/// Returns whether a decoded Value is a Status of a failure.
bool is_failure(const Value& document) {
  const Value& kind = document["kind"];
  const Value& version = document["apiVersion"];
  const Value& status = document["status"];
  return kind.is_string() && kind.as_string() == "Status" && version.is_string() &&
         version.as_string() == "v1" && status.is_string() && status.as_string() != "Success";
}

}  // namespace

ObjectOperation::ObjectOperation(ResourceCore resource, ObjectRequest request)
    : resource_(std::move(resource)), request_(std::move(request)) {}

TransportError ObjectOperation::canceled() const {
  if (reading_) return reading_->canceled();
  if (sending_) return sending_->canceled();
  return {TransportError::Kind::kCanceled,
          resource_.rest()->describe(request_.request) + ": canceled"};
}

Clock::TimePoint ObjectOperation::wake_at() const noexcept {
  if (reading_) return reading_->wake_at();
  return sending_ ? sending_->wake_at() : Clock::TimePoint::max();
}

Poll ObjectOperation::poll(const Poller& poller) {
  try {
    return poll_answer(poller);
  } catch (const ApiError& error) {
    // The error page of a proxy, or of a resource that is not served, does not mean that the object
    // is absent.
    if (!request_.may_be_missing || !is_not_found(error) || is_unexpected_server_error(error)) {
      throw;
    }
    return Poll::kReady;
  }
}

Poll ObjectOperation::poll_answer(const Poller& poller) {
  RestClient& rest = *resource_.rest();
  if (!reading_) {
    if (!sending_) {
      const Type& wanted = request_.wanted != nullptr ? *request_.wanted : *resource_.target().type;
      sending_.emplace(rest, resource_.target(), request_.request,
                       Payload{request_.body ? &*request_.body : nullptr, &wanted, Many::kNo},
                       poller);
    }
    if (sending_->poll() == Poll::kPending) return Poll::kPending;
    answer_ = sending_->take();
    reading_.emplace(rest, request_.request, *answer_.stream, poller);
    sending_.reset();
  }
  if (reading_->poll() == Poll::kPending) return Poll::kPending;
  const std::string body = reading_->take();
  if (request_.wanted != nullptr) {
    object_ = decode(body);
  } else {
    check_success(body);
  }
  return Poll::kReady;
}

AnyRef ObjectOperation::decode(const std::string& body) const {
  const Type& wanted = resource_.wire_type(*request_.wanted);
  const bool is_own = request_.wanted == resource_.target().type;
  if (body.empty()) {
    throw unexpected_answer(request_.request, answer_.stream->head(),
                            "the answer has an empty body");
  }
  try {
    DecoderCore decoder{wanted, is_own ? resource_.decoding() : DecoderOptions{}};
    AnyRef object = ref_to_root<std::byte>(
        answer_.format == Format::kJson ? decoder.json(body, 0) : decoder.enveloped(body, 0));
    if ((wanted.kind == Kind::kValue && is_failure(*cast<Value>(object))) ||
        (&wanted != request_.wanted && begins_status(body, answer_.format))) {
      throw CodecError("", "a Status instead of an object", 0);
    }
    return object;
  } catch (const CodecError&) {
    const Ref<meta::v1::Status> status = find_status(body, answer_.format);
    if (status && status->status != "Success") throw ApiError{*status};
    throw;
  }
}

void ObjectOperation::check_success(const std::string& body) const {
  if (!begins_status(body, answer_.format)) return;
  const Ref<meta::v1::Status> status = find_status(body, answer_.format);
  if (status && status->status == "Failure") throw ApiError{*status};
}

}  // namespace kube::detail
