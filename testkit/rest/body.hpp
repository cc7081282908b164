// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "testkit/rest/rest.hpp"

/// Decoding and normalization of request bodies.
namespace kube::testkit::detail {

/// The fields of a body that are dropped.
struct DroppedFields {
  std::vector<std::string> unknown = {};    ///< paths
  std::vector<std::string> duplicate = {};  ///< paths
  /// Duplicate keys of a YAML body, as parse_yaml() describes them.
  std::vector<std::string> yaml_duplicate = {};
};

/// Reports dropped fields as requested by fieldValidation: not at all, as warnings, or by throwing
/// the result of `refuse` (CR-7). The order is that of `json`, if it is given.
void report_fields(RestRequest& request, const WriteOptions& options, const DroppedFields& dropped,
                   const std::function<ApiError(const std::string&)>& refuse,
                   std::string_view json = {});
/// Returns the error of a real server about the duplicate keys of a YAML text.
[[nodiscard]] std::string yaml_error(const std::vector<std::string>& duplicates);
/// Returns the object decoded as the resource's type, without unknown fields. Throws CodecError.
[[nodiscard]] Value normalized(ObjectCodec& codec, const Resource& resource, const Value& object);
/// Merges the write-only stringData of a Secret into data.
void merge_string_data(const Resource& resource, Value& object);
/// Replaces null byte values by empty ones. Returns StoredObject::nulls.
[[nodiscard]] std::uint32_t fill_nulls(const Resource& resource, Value& object);

}  // namespace kube::testkit::detail
