// SPDX-License-Identifier: Apache-2.0
#include <kube/client/raw.hpp>

#include "request.hpp"
#include "rest_client.hpp"

#include <kube/api/validation.hpp>

#include <stdexcept>

namespace kube {

namespace {

detail::Request request_of(const RawRequest& raw) {
  if (!raw.path.starts_with('/') || raw.path.find_first_of("?# \r\n\t") != std::string::npos) {
    throw std::invalid_argument(
        "a raw path begins with '/' and has no query or white space in it: " +
        detail::quoted(raw.path));
  }
  detail::Request request;
  request.method = raw.method;
  request.path = raw.path;
  for (const auto& [key, value] : raw.query) request.query.add(key, value);
  request.headers = raw.headers;
  request.body = raw.body;
  request.accept = "*/*";
  if (!raw.body.empty()) request.content_type = detail::kJsonMedia;
  request.timeout = raw.timeout;
  request.limiter = "raw";
  return request;
}

}  // namespace

std::string RawClient::get(std::string path, std::stop_token stop) const {
  return send({.path = std::move(path)}, std::move(stop)).body;
}

RawResponse RawClient::send(const RawRequest& raw, std::stop_token stop) const {
  const detail::Request request = request_of(raw);
  const std::unique_ptr<detail::PolledStream> stream = rest_->send(request, stop);
  std::string body = rest_->read_body(request, *stream, std::move(stop));
  return {stream->head().status, stream->head().headers, std::move(body)};
}

std::unique_ptr<ResponseStream> RawClient::open(const RawRequest& raw, std::stop_token stop) const {
  return rest_->send(request_of(raw), std::move(stop));
}

}  // namespace kube
