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

/// The ListReader of a type that is known at run time only; a client reads the answer to a LIST with it.
class ListReaderCore {
 public:
  using OnItem = std::function<void(const Ref<std::byte>& item)>;

  ListReaderCore(Format format, const Type& type, const DecoderOptions& options);
  ListReaderCore(const ListReaderCore&) = delete;
  ListReaderCore& operator=(const ListReaderCore&) = delete;
  ~ListReaderCore();

  void feed(std::string_view chunk, const OnItem& on_item);
  [[nodiscard]] const ListMetadata& finish(const OnItem& on_item);
  /// How many bytes it keeps: of an incomplete item, and of items that wait for the metadata of the list.
  [[nodiscard]] std::size_t held() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detail

/// Reads the body of a LIST while it arrives: each item becomes an object as soon as its last byte is there,
/// however the body is cut into chunks.
///
/// Thread safety: none.
template <typename T>
class ListReader {
 public:
  ListReader(Format format, const DecoderOptions& options = {})
      : core_(format, type_of<T>(), options) {}

  /// Calls `on_item(Ref<T>)` for each object that `chunk` completes. Throws CodecError; the reader cannot be used
  /// afterwards. The exceptions of `on_item` pass through.
  template <typename OnItem>
  void feed(std::string_view chunk, OnItem on_item) {
    core_.feed(chunk, typed(on_item));
  }
  /// Ends the list. Throws CodecError if the body is not complete, or a list of another kind.
  ///
  /// The items of a list of Values get `kind` and `apiVersion` from the list if they have none. Where the list names
  /// them behind its items, those items come now.
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
