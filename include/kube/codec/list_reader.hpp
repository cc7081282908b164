// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/codec/decoder.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/format.hpp>
#include <kube/codec/list_metadata.hpp>
#include <kube/object/value.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace kube {

namespace detail {

/// The ListReader of a type that is known at run time. A client reads the response to a LIST with
/// it.
class ListReaderCore {
 public:
  using OnItem = std::function<void(const Ref<std::byte>& item)>;

  ListReaderCore(Format format, const Type& type, const DecoderOptions& options);
  ListReaderCore(const ListReaderCore&) = delete;
  ListReaderCore& operator=(const ListReaderCore&) = delete;
  ~ListReaderCore();

  void feed(std::string_view chunk, const OnItem& on_item);
  [[nodiscard]] const ListMetadata& finish(const OnItem& on_item);
  /// Number of buffered bytes: of an incomplete item, and of items that wait for the metadata of
  /// the list.
  [[nodiscard]] std::size_t held() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detail

/// Decodes the body of a LIST while it arrives: each item is decoded as soon as its last byte is
/// received, however the body is split into chunks.
///
/// Thread safety: none.
template <typename T>
class ListReader {
 public:
  /// `format` is that of the body.
  ListReader(Format format, const DecoderOptions& options = {})
      : core_(format, type_of<T>(), options) {}

  /// Calls `on_item(Ref<T>)` for each object that `chunk` completes. Throws CodecError, after which
  /// the reader cannot be used. Exceptions of `on_item` are passed through.
  template <typename OnItem>
  void feed(std::string_view chunk, OnItem on_item) {
    core_.feed(chunk, typed(on_item));
  }
  /// Ends the list. Throws CodecError if the body is incomplete, or a list of another kind.
  ///
  /// Items of a list of Values inherit `kind` and `apiVersion` from the list if they have none. If
  /// the list has these fields after its items, finish() calls `on_item` for the items.
  template <typename OnItem>
  const ListMetadata& finish(OnItem on_item) {
    return core_.finish(typed(on_item));
  }
  const ListMetadata& finish() requires(!std::same_as<T, Value>) {
    return core_.finish([](const Ref<std::byte>&) {});
  }

 private:
  template <typename OnItem>
  static detail::ListReaderCore::OnItem typed(OnItem& on_item) {
    return [&on_item](const Ref<std::byte>& item) {
      on_item(Ref<T>{item, reinterpret_cast<const T*>(item.get())});
    };
  }

  detail::ListReaderCore core_;
};

}  // namespace kube
