// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/codec/decoder.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/list_splitter.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace kube {

/// Reads the body of a LIST while it arrives: each item becomes an object as soon as its last byte is
/// there, however the body is cut into chunks.
///
/// Thread safety: none.
template <typename T>
class ListReader {
 public:
  ListReader(Format format, DecoderOptions options = {})
      : splitter_(format, options.limits), format_(format), decoder_(std::move(options)) {}

  /// Calls `on_item(Ref<T>)` for each object that `chunk` completes. Throws CodecError; the reader is of
  /// no use afterwards.
  template <typename OnItem>
  void feed(std::string_view chunk, OnItem on_item) {
    splitter_.feed(chunk, [&](std::string_view item, std::size_t offset) {
      on_item(format_ == Format::kJson ? decoder_.json(item, offset)
                                       : decoder_.protobuf(item, offset));
    });
  }

  /// What the list says of itself. Throws CodecError if the body was not complete, or a list of something
  /// else.
  [[nodiscard]] const ListHead& finish() const {
    splitter_.finish();
    const ListHead& head = splitter_.head();
    const Type& type = type_of<T>();
    const std::string expected = std::string{type.name} + "List";
    if (type.is(Type::kHasTypeMeta) && !head.kind.empty() &&
        (head.kind != expected || head.api_version != type.api_version)) {
      throw CodecError("",
                       "expected " + std::string{type.api_version} + ' ' + expected + ", found " +
                           head.api_version + ' ' + head.kind,
                       0);
    }
    return head;
  }

 private:
  detail::ListSplitter splitter_;
  Format format_;
  Decoder<T> decoder_;
};

}  // namespace kube
