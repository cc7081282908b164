// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kube {

/// The envelope of a protobuf object on the wire (runtime.Unknown): four magic bytes and a message
/// that contains the kind.
struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;  ///< the object's own message
  std::string_view content_encoding;
  std::string_view content_type;
};

/// The first bytes of an enveloped object.
inline constexpr std::string_view kEnvelopeMagic{"k8s\0", 4};

/// Returns views into `bytes`. Throws CodecError if the magic bytes are missing or the envelope is
/// malformed.
[[nodiscard]] Envelope open_envelope(std::string_view bytes, std::size_t offset = 0);

}  // namespace kube
