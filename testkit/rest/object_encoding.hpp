// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/meta/v1.hpp>
#include <kube/base/clock.hpp>

#include <optional>
#include <span>
#include <string>

#include "testkit/http/message.hpp"
#include "testkit/kinds/resource_catalog.hpp"
#include "testkit/printing/table.hpp"
#include "testkit/requests/negotiation.hpp"
#include "testkit/store/stored_object.hpp"

namespace kube::testkit::detail {

struct ListPage {
  std::vector<StoredObject> objects;
  std::uint64_t revision = 0;
  std::string continue_ = {};
  std::optional<std::int64_t> remaining = std::nullopt;
};

/// Encodes objects of one resource in the negotiated format.
/// Thread safety: const methods, from any thread.
class ObjectEncoder {
 public:
  ObjectEncoder(ObjectCodec& codec, const Resource& resource, Output output, IncludeObject include,
                Clock::WallTime now)
      : codec_(codec),
        resource_(resource),
        output_(std::move(output)),
        include_(include),
        now_(now) {}

  [[nodiscard]] const Output& output() const noexcept { return output_; }
  /// Returns the body of a response with one object. Throws ApiError 406 if the transform is for
  /// lists.
  [[nodiscard]] std::string object(const StoredObject& object) const;
  /// Returns the body of a response with a list. Throws ApiError 406 if the transform is for single
  /// objects.
  [[nodiscard]] std::string list(const ListPage& page) const;
  /// Returns the transformed object of a watch event; `columns` is true for the first Table only
  /// (WT-25).
  [[nodiscard]] std::string event_object(const StoredObject& object, bool columns) const;
  /// Returns the object of a bookmark event.
  [[nodiscard]] std::string bookmark(std::uint64_t revision, bool initial_events_end,
                                     bool columns) const;

 private:
  [[nodiscard]] StoredObject partial(const StoredObject& object) const;
  [[nodiscard]] std::string table(Value metadata, const std::vector<StoredObject>& objects,
                                  IncludeObject include, bool columns) const;

  ObjectCodec& codec_;
  const Resource& resource_;
  Output output_;
  IncludeObject include_;
  Clock::WallTime now_;
};

/// Encodes a described value as a response body in the format of `output`.
[[nodiscard]] std::string encode_as(const Output& output, const Type& type, const std::byte* value);
template <typename T>
[[nodiscard]] std::string encode_as(const Output& output, const T& object) {
  return encode_as(output, type_of<T>(), reinterpret_cast<const std::byte*>(&object));
}
/// Converts JSON text to a response body in JSON or YAML.
[[nodiscard]] std::string finish_json(const Output& output, std::string json);

/// Returns one frame of a watch: an event with an encoded object.
[[nodiscard]] std::string watch_frame(Format format, std::string_view type,
                                      std::string_view object);

}  // namespace kube::testkit::detail
