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

/// The negotiated format of a response.
struct Output {
  Format format = Format::kJson;
  Transform transform = Transform::kNone;
  /// The version of the transform: "v1" or "v1beta1".
  std::string transform_version = "v1";
  bool pretty = false;

  [[nodiscard]] std::string_view content_type() const noexcept;
};

/// The formats available for a response.
struct Offer {
  /// Custom resources have no protobuf form: only their metadata is available as protobuf (CT-4).
  bool custom = false;
  bool watch = false;
  bool transforms = true;
  bool discovery = false;
};

/// A media type with its parameters; names are in lower case.
struct MediaType {
  std::string type;
  std::vector<std::pair<std::string, std::string>> parameters;
  double quality = 1;

  [[nodiscard]] std::string_view parameter(std::string_view name) const noexcept;
};
[[nodiscard]] MediaType parse_media_type(std::string_view text);
/// Parses an Accept header; the most preferred clause comes first.
[[nodiscard]] std::vector<MediaType> parse_accept(std::string_view text);

/// Returns the offered format that the client prefers (CT-2, CT-3). Throws ApiError 406.
[[nodiscard]] Output negotiate(std::string_view accept, const Offer& offer);
/// Returns the format of errors for that client (CT-6).
[[nodiscard]] Format error_format(std::string_view accept);
/// Returns the format of a request body (CT-1). Throws ApiError 415.
[[nodiscard]] Format body_format(std::string_view content_type, bool custom);

/// Indents compact JSON by two spaces.
[[nodiscard]] std::string indent_json(std::string_view json);

}  // namespace kube::testkit::detail
