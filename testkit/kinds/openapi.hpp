// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::detail {

/// One document of `/openapi/v3` (OA-2).
struct OpenApiDocument {
  std::string path;  ///< "api/v1", "apis/apps/v1"
  std::string json;
  std::string hash;  ///< upper-case hex, as in the index and (quoted) in ETag
};

/// Returns the OpenAPI v3 documents of all built-in group versions that are served by default and
/// of the established versions of `definitions` (CustomResourceDefinition objects), sorted by path.
/// The built-in ones are generated once per process.
[[nodiscard]] std::vector<OpenApiDocument> openapi_v3_documents(std::span<const Value> definitions);

/// Returns the body of `/openapi/v3`: path to `/openapi/v3/<path>?hash=<hash>`.
[[nodiscard]] std::string openapi_v3_index(std::span<const OpenApiDocument> documents);

/// Returns the body of `/openapi/v2` as JSON (OA-1): all schemas in one document.
[[nodiscard]] Value openapi_v2(std::span<const Value> definitions);

/// Returns it as a protobuf message (openapi.v2.Document), for clients that accept
/// `application/com.github.proto-openapi.spec.v2@v1.0+protobuf`.
[[nodiscard]] std::string openapi_v2_protobuf(const Value& document);

/// Returns the SHA-512 of `bytes` in upper-case hex, for ETags of OpenAPI and discovery.
[[nodiscard]] std::string etag_hash(std::string_view bytes);

}  // namespace kube::testkit::detail
