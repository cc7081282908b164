// SPDX-License-Identifier: Apache-2.0
#include <kube/codec/list_reader.hpp>

#include "codec/list_splitter.hpp"
#include <kube/codec/json.hpp>
#include <kube/object/value.hpp>

#include <string>
#include <vector>

namespace kube::detail {

struct ListReaderCore::State {
  State(Format wire, const Type& item_type, const DecoderOptions& options)
      : splitter(wire, options.limits),
        format(wire),
        type(item_type),
        decoder(item_type, options) {}

  [[nodiscard]] Ref<std::byte> decode(std::string_view item, std::size_t offset) {
    return ref_to_root<std::byte>(format == Format::kJson ? decoder.json(item, offset)
                                                          : decoder.protobuf(item, offset));
  }
  void take_untyped(std::string_view item, std::size_t offset, const OnItem& on_item);
  [[nodiscard]] std::string with_type_meta(std::string_view item) const;

  ListSplitter splitter;
  const Format format;
  const Type& type;
  DecoderCore decoder;
  bool items_lack_type = false;  // predicts the next item: the last one had no type
  std::size_t waiting_bytes = 0;
  std::vector<std::string> waiting;  // items received before the kind of the list
};

/// Adds the kind of the list to an item that has none (RC-36).
std::string ListReaderCore::State::with_type_meta(std::string_view item) const {
  constexpr std::string_view kSuffix = "List";
  const ListMetadata& list = splitter.metadata();
  std::string_view kind = list.kind;
  if (kind.ends_with(kSuffix)) kind.remove_suffix(kSuffix.size());
  std::string text = R"({"apiVersion":)" + kube::encode_json(Value{list.api_version}) +
                     R"(,"kind":)" + kube::encode_json(Value{kind});
  // Inserted after the opening brace of the item, so that a member of the same name in it overrides
  // it.
  const std::string_view rest = item.substr(item.find('{') + 1);
  if (rest.find_first_not_of(" \t\r\n") != rest.find('}')) text += ',';
  return text.append(rest);
}

void ListReaderCore::State::take_untyped(std::string_view item, std::size_t offset,
                                         const OnItem& on_item) {
  const bool knows_type = !splitter.metadata().kind.empty();
  if (items_lack_type && knows_type && item.starts_with('{')) {
    on_item(decode(with_type_meta(item), offset));
    return;
  }
  const Ref<std::byte> object = decode(item, offset);
  const Value& value = *reinterpret_cast<const Value*>(object.get());
  items_lack_type =
      value.is_object() && value["kind"].is_absent() && value["apiVersion"].is_absent();
  if (!items_lack_type) {
    on_item(object);
  } else if (knows_type) {
    on_item(decode(with_type_meta(item), offset));
  } else {
    waiting.emplace_back(item);
    waiting_bytes += item.size();
  }
}

ListReaderCore::ListReaderCore(Format format, const Type& type, const DecoderOptions& options)
    : state_(std::make_unique<State>(format, type, options)) {}
ListReaderCore::~ListReaderCore() = default;

std::size_t ListReaderCore::held() const noexcept {
  return state_->splitter.held() + state_->waiting_bytes;
}

void ListReaderCore::feed(std::string_view chunk, const OnItem& on_item) {
  state_->splitter.feed(chunk, [&](std::string_view item, std::size_t offset) {
    if (state_->type.kind == Kind::kValue) {
      state_->take_untyped(item, offset, on_item);
    } else {
      on_item(state_->decode(item, offset));
    }
  });
}

const ListMetadata& ListReaderCore::finish(const OnItem& on_item) {
  state_->splitter.finish();
  const ListMetadata& list = state_->splitter.metadata();
  const Type& type = state_->type;
  // A proxy may answer "{}", which differs from a list without items.
  if (list.kind.empty()) throw CodecError("kind", "missing, so the response is not a list", 0);
  const std::string expected = std::string{type.name} + "List";
  if (type.is(Type::kHasTypeMeta) &&
      (list.kind != expected || list.api_version != type.api_version)) {
    throw CodecError("",
                     "expected " + std::string{type.api_version} + ' ' + expected + ", found " +
                         list.api_version + ' ' + list.kind,
                     0);
  }
  for (const std::string& item : state_->waiting) {
    on_item(state_->decode(state_->with_type_meta(item), 0));
  }
  return list;
}

}  // namespace kube::detail
