// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "testkit/rest/rest.hpp"

/// What a write says, as the server reads it.
namespace kube::testkit::detail {

/// Tells about unknown and duplicate fields as the request wants it: not at all, as warnings, or by throwing
/// what `refuse` makes (CR-7); in the order of `json`, if it is given.
void report_fields(RestRequest& request, const WriteOptions& options,
                   const std::vector<std::string>& unknown,
                   const std::vector<std::string>& duplicate,
                   const std::function<ApiError(const std::string&)>& refuse,
                   std::string_view json = {});
/// The object as the server reads it: of the resource's type, without what that does not have. Throws
/// CodecError.
[[nodiscard]] Value normalized(ObjectCodec& codec, const Resource& resource, const Value& object);
/// The stringData of a secret is for writing only: it becomes data.
void take_in_plain_data(const Resource& resource, Value& object);
/// Bytes that are null are read as an empty text. Returns StoredObject::nulls.
[[nodiscard]] std::uint32_t fill_nulls(const Resource& resource, Value& object);

}  // namespace kube::testkit::detail
