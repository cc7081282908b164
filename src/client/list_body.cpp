// SPDX-License-Identifier: Apache-2.0
#include "list_body.hpp"

#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/object/value.hpp>

namespace kube::detail {

AnyRef ListBody::decode(std::string_view item, std::size_t offset) {
  Block* block =
      format_ == Format::kJson ? decoder_.json(item, offset) : decoder_.protobuf(item, offset);
  return {block, block->root()};
}

void ListBody::feed(std::string_view chunk, const ResourceCore::OnItem& on_item) {
  splitter_.feed(chunk, [&](std::string_view item, std::size_t offset) {
    if (type_.kind == Kind::kValue) {
      untyped(item, offset, on_item);
    } else {
      on_item(decode(item, offset));
    }
  });
}

std::string ListBody::with_type_meta(std::string_view item) const {
  constexpr std::string_view kSuffix = "List";
  const ListHead& head = splitter_.head();
  std::string_view kind = head.kind;
  if (kind.ends_with(kSuffix)) kind.remove_suffix(kSuffix.size());
  std::string text = R"({"apiVersion":)" + kube::encode_json(Value{head.api_version}) +
                     R"(,"kind":)" + kube::encode_json(Value{kind});
  // Behind the brace of the item; a member of the same name in it would win.
  const std::string_view rest = item.substr(item.find('{') + 1);
  if (rest.find_first_not_of(" \t\r\n") != rest.find('}')) text += ',';
  return text.append(rest);
}

void ListBody::untyped(std::string_view item, std::size_t offset,
                       const ResourceCore::OnItem& on_item) {
  const bool knows_type = !splitter_.head().kind.empty();
  if (items_lack_type_ && knows_type && item.starts_with('{')) {
    on_item(decode(with_type_meta(item), offset));
    return;
  }
  const AnyRef object = decode(item, offset);
  const Value& value = *cast<Value>(object);
  items_lack_type_ =
      value.is_object() && value["kind"].is_absent() && value["apiVersion"].is_absent();
  if (!items_lack_type_) {
    on_item(object);
  } else if (knows_type) {
    on_item(decode(with_type_meta(item), offset));
  } else {
    waiting_.emplace_back(item);
    waiting_bytes_ += item.size();
  }
}

const ListHead& ListBody::finish(const ResourceCore::OnItem& on_item) {
  splitter_.finish();
  const ListHead& head = splitter_.head();
  // Somebody in between may answer "{}", which is not the same as a list without items.
  if (head.kind.empty()) throw CodecError("kind", "the answer does not say that it is a list", 0);
  const std::string expected = std::string{type_.name} + "List";
  if (type_.is(Type::kHasTypeMeta) &&
      (head.kind != expected || head.api_version != type_.api_version)) {
    throw CodecError("",
                     "expected " + std::string{type_.api_version} + ' ' + expected + ", found " +
                         head.api_version + ' ' + head.kind,
                     0);
  }
  for (const std::string& item : waiting_) {
    on_item(decode(with_type_meta(item), 0));
  }
  return head;
}

}  // namespace kube::detail
