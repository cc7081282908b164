// SPDX-License-Identifier: Apache-2.0
#include "rest_client.hpp"

namespace kube::detail {

namespace {

bool has_protobuf(const Type& type) { return type.kind == Kind::kStruct && !type.proto.empty(); }

}  // namespace

Negotiated RestClient::negotiate(const std::string& group_version, const Type* sent,
                                 const Type& wanted) const {
  Negotiated result;
  const bool is_explicit = !config_.content_type.empty() || !config_.accept.empty();
  const bool speaks_protobuf =
      is_explicit ? format_of(config_.content_type, Format::kJson) == Format::kProtobuf
                  : !uses_json(group_version);
  if (speaks_protobuf && (sent == nullptr ? has_protobuf(wanted) : has_protobuf(*sent))) {
    result.body = Format::kProtobuf;
  }
  result.assumed = speaks_protobuf && has_protobuf(wanted) ? Format::kProtobuf : Format::kJson;
  result.content_type = result.body == Format::kProtobuf ? kProtobufMedia : kJsonMedia;
  if (!config_.accept.empty()) {
    result.accept = config_.accept;
  } else if (!is_explicit && result.assumed == Format::kProtobuf) {
    result.accept = std::string{kProtobufMedia} + ',' + std::string{kJsonMedia};
  } else {
    result.accept =
        std::string{result.assumed == Format::kProtobuf ? kProtobufMedia : kJsonMedia} + ", */*";
  }
  result.can_fall_back =
      !is_explicit && (result.body == Format::kProtobuf || result.assumed == Format::kProtobuf);
  return result;
}

}  // namespace kube::detail
