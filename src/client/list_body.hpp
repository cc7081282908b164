// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/client/resource_core.hpp>
#include <kube/codec/list_splitter.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace kube::detail {

/// Reads the answer to a LIST while it arrives, for any type. Items of an untyped list that do not say what
/// they are get kind and apiVersion from the list (RC-36).
class ListBody {
 public:
  ListBody(Format format, const Type& type, const DecoderOptions& options)
      : splitter_(format, options.limits), format_(format), type_(type), decoder_(type, options) {}

  /// Throws CodecError; what `on_item` throws passes through.
  void feed(std::string_view chunk, const ResourceCore::OnItem& on_item);
  /// What the list says of itself. Delivers what had to wait for that. Throws CodecError if the body is not
  /// complete, or a list of something else.
  [[nodiscard]] const ListHead& finish(const ResourceCore::OnItem& on_item);
  /// How many bytes it keeps: of an incomplete item, and of items that have to wait.
  [[nodiscard]] std::size_t held() const noexcept { return splitter_.held() + waiting_bytes_; }

 private:
  [[nodiscard]] AnyRef decode(std::string_view item, std::size_t offset);
  void untyped(std::string_view item, std::size_t offset, const ResourceCore::OnItem& on_item);
  [[nodiscard]] std::string with_type_meta(std::string_view item) const;

  ListSplitter splitter_;
  const Format format_;
  const Type& type_;
  DecoderCore decoder_;
  bool items_lack_type_ = false;  // the last one did, so the next one probably does
  std::size_t waiting_bytes_ = 0;
  std::vector<std::string> waiting_;  // items that came before the list had said what it is
};

}  // namespace kube::detail
