// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/transport/transport.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube::testkit::detail {

enum class Format { kJson, kYaml, kProtobuf };
enum class Transform { kNone, kTable, kPartial, kPartialList, kDiscovery };

/// How an answer is written.
struct Output {
  Format format = Format::kJson;
  Transform transform = Transform::kNone;
  /// "v1" or "v1beta1" of the transform.
  std::string transform_version = "v1";
  bool pretty = false;

  [[nodiscard]] std::string_view content_type() const noexcept;
};

/// What can be had.
struct Offer {
  /// Objects without a protobuf form: only their metadata comes in protobuf (CT-4).
  bool custom = false;
  bool watch = false;
  bool transforms = true;
  bool discovery = false;
};

/// A media type with its parameters, names in lower case.
struct MediaType {
  std::string type;
  std::vector<std::pair<std::string, std::string>> parameters;
  double quality = 1;

  [[nodiscard]] std::string_view parameter(std::string_view name) const noexcept;
};
[[nodiscard]] MediaType parse_media_type(std::string_view text);
/// The clauses of an Accept header, the most wanted first.
[[nodiscard]] std::vector<MediaType> parse_accept(std::string_view text);

/// What the client prefers of the offer (CT-2, CT-3). Throws ApiError 406.
[[nodiscard]] Output negotiate(std::string_view accept, const Offer& offer);
/// How errors are written for that client (CT-6).
[[nodiscard]] Format error_format(std::string_view accept);
/// The format of a request's body (CT-1). Throws ApiError 415.
[[nodiscard]] Format body_format(std::string_view content_type, bool custom);

/// Compact JSON, indented by two spaces.
[[nodiscard]] std::string indent_json(std::string_view json);

}  // namespace kube::testkit::detail
