// SPDX-License-Identifier: Apache-2.0
#include "answer.hpp"

#include "base/text.hpp"
#include <kube/api/validation.hpp>
#include <kube/codec/envelope.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>

namespace kube::detail {

namespace reason = meta::v1::status_reason;

namespace {

/// Maximum length of the quotation of an unexpected body in an error.
constexpr std::size_t kMostQuoted = 2048;

std::string_view header(const Headers& headers, std::string_view name) {
  const std::string* value = find_header(headers, name);
  return value == nullptr ? std::string_view{} : std::string_view{*value};
}

std::string media_type(std::string_view content_type) {
  return lower_case(trimmed(content_type.substr(0, content_type.find(';'))));
}

struct Meaning {
  std::string_view reason = reason::kUnknown;
  std::string message = {};
};

/// Returns reason and message for a status code if the body does not provide them. Each message
/// says what can be done.
Meaning meaning_of(int code, const Request& request, const Headers& headers,
                   std::string_view text) {
  switch (code) {
    case 400:
      return {reason::kBadRequest, "the server does not understand the request"};
    case 401:
      return {
          reason::kUnauthorized,
          "the server did not accept the credentials; check the token, certificate or login plugin "
          "of the user in the configuration"};
    case 403:
      return {reason::kForbidden,
              fmt::format("the server does not allow this user to do that ({})", text)};
    case 404:
      return {
          reason::kNotFound,
          "the server has nothing at this address; check that it serves this resource and version"};
    case 405:
      return {reason::kMethodNotAllowed,
              "the server does not offer this operation on the resource"};
    case 406:
      return {reason::kNotAcceptable,
              fmt::format("the server has no content type that the client can read ({})", text)};
    case 409:
      return request.method == "POST" ? Meaning{reason::kAlreadyExists,
                                                "the server reports that the object exists already"}
                                      : Meaning{reason::kConflict,
                                                "the server reports a conflict; read the object "
                                                "again and repeat the change"};
    case 413:
      return {reason::kUnknown, "the request is larger than the server or a proxy accepts"};
    case 415:
      return {reason::kUnsupportedMediaType,
              fmt::format("the server does not read the content type of the request ({})", text)};
    case 422:
      return {reason::kInvalid, "the server found the content of the request to be invalid"};
    case 429:
      return {reason::kTooManyRequests, "the server is overloaded; try again later"};
    case 503:
      return {reason::kServiceUnavailable,
              "the server cannot answer at the moment; try again later"};
    case 504:
      return {reason::kTimeout,
              "the server did not answer in time; it may or may not carry out the request"};
    default:
      break;
  }
  if (code >= 500) {
    return {reason::kInternalError, fmt::format("the server failed with code {} ({})", code, text)};
  }
  if (code >= 300 && code < 400) {
    const std::string_view location = header(headers, "Location");
    return {
        reason::kUnknown,
        fmt::format("the server redirects to {} (code {}), which is not followed; if that is where "
                    "the API is, use it as the server address",
                    location.empty() ? "an unnamed location" : quoted(location), code)};
  }
  return {reason::kUnknown,
          fmt::format("the server answered with code {} and no explanation", code)};
}

std::string about(const Request& request) {
  std::string text = request.method;
  if (request.resource.empty()) return text + ' ' + request.path;
  text += ' ' + to_string(request.resource);
  if (!request.name.empty()) text += ' ' + request.name;
  return text;
}

meta::v1::Status status_with(const Request& request, int code, std::string_view why,
                             std::string_view message, std::string_view cause) {
  meta::v1::Status status{.status = "Failure", .message = message, .reason = why, .code = code};
  status.details = meta::v1::StatusDetails{
      .name = request.name, .group = request.resource.group, .kind = request.resource.resource};
  status.details->causes.push_back(
      {.reason = meta::v1::cause_type::kUnexpectedServerResponse, .message = cause});
  return status;
}

}  // namespace

std::optional<Format> format_of(std::string_view content_type, Format assumed) {
  const std::string media = media_type(content_type);
  if (media.empty()) return assumed;
  if (media == kJsonMedia) return Format::kJson;
  if (media == kProtobufMedia) return Format::kProtobuf;
  return std::nullopt;
}

Ref<meta::v1::Status> find_status(std::string_view body, Format format) {
  try {
    if (format == Format::kProtobuf) return decode_protobuf<meta::v1::Status>(body);
    const Ref<Value> document = decode_json<Value>(body);
    const Value& kind = (*document)["kind"];
    const Value& version = (*document)["apiVersion"];
    if (!kind.is_string() || kind.as_string() != "Status" || !version.is_string()) return nullptr;
    return decode_json<meta::v1::Status>(body);
  } catch (const CodecError&) {
    return nullptr;
  }
}

bool begins_status(std::string_view body, Format format) {
  if (format == Format::kJson) return trimmed(body).starts_with(R"({"kind":"Status")");
  // Beginning of the protobuf envelope: magic, then the TypeMeta with apiVersion and kind.
  constexpr std::string_view kBegin{"k8s\0\x0a\x0c\x0a\x02v1\x12\x06Status", 18};
  return body.starts_with(kBegin);
}

std::optional<int> retry_after_of(const Headers& headers) {
  const std::string_view text = header(headers, "Retry-After");
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || seconds < 0) {
    return std::nullopt;
  }
  return seconds;
}

ApiError error_of(const Request& request, const HttpResponseHead& head, std::string_view body) {
  const std::string_view content_type = header(head.headers, "Content-Type");
  const Format assumed =
      request.accept.starts_with(kProtobufMedia) ? Format::kProtobuf : Format::kJson;
  if (const auto format = format_of(content_type, assumed)) {
    const Ref<meta::v1::Status> status = find_status(body, *format);
    if (status && status->status == "Failure") {
      meta::v1::Status copy = *status;
      if (copy.code == 0) copy.code = head.status;
      return ApiError{std::move(copy)};
    }
  }
  const bool is_text = content_type.empty() || media_type(content_type).starts_with("text/") ||
                       media_type(content_type) == kJsonMedia;
  const std::string text =
      is_text ? std::string{trimmed(body.substr(0, kMostQuoted))} : std::string{"unknown"};
  const Meaning meaning = meaning_of(head.status, request, head.headers, quoted(text));
  meta::v1::Status status =
      status_with(request, head.status, meaning.reason,
                  fmt::format("{} ({})", meaning.message, about(request)), text);
  status.details->retry_after_seconds = retry_after_of(head.headers).value_or(0);
  return ApiError{std::move(status)};
}

ApiError unexpected_answer(const Request& request, const HttpResponseHead& head,
                           std::string_view problem) {
  return ApiError{
      status_with(request, head.status, reason::kUnknown,
                  fmt::format("{}: {}; check that the address is that of a Kubernetes API server",
                              about(request), problem),
                  problem)};
}

namespace {

Ref<meta::v1::Status> internal_error(const std::string& message,
                                     std::initializer_list<std::string_view> causes) {
  meta::v1::Status status{.status = "Failure",
                          .message = message,
                          .reason = reason::kInternalError,
                          .details = meta::v1::StatusDetails{},
                          .code = 500};
  for (const std::string_view cause : causes) {
    status.details->causes.push_back({.reason = cause, .message = message});
  }
  return freeze(status);
}

}  // namespace

Ref<meta::v1::Status> watch_decoding_status(std::string_view problem) {
  return internal_error(fmt::format("the watch cannot be decoded: {}", problem),
                        {meta::v1::cause_type::kUnexpectedServerResponse, kWatchDecodingCause});
}

Ref<meta::v1::Status> watch_failure_status(std::string_view problem) {
  return internal_error(std::string{problem}, {});
}

}  // namespace kube::detail
