// SPDX-License-Identifier: Apache-2.0
#include "codec/siblings.hpp"

#include "base/prefetch.hpp"

#include <functional>
#include <utility>

namespace kube::detail {

namespace {

/// Returns the payload of field 1 if the message starts with it, else an empty text.
std::string_view first_field(std::string_view message) noexcept {
  if (message.size() < 2 || message[0] != 0x0a) return {};
  std::size_t size = 0;
  std::size_t at = 1;
  for (unsigned shift = 0; at < message.size() && shift < 28; shift += 7) {
    const auto byte = static_cast<unsigned char>(message[at++]);
    size |= std::size_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return message.substr(at, size);
  }
  return {};
}

}  // namespace

std::string_view Siblings::name_in_protobuf(std::string_view message) noexcept {
  // Every object starts with its metadata, and the metadata with its name.
  return first_field(first_field(message));
}

std::string_view Siblings::name_in_json(std::string_view text) noexcept {
  constexpr std::string_view kName = "\"name\":\"";
  constexpr std::size_t kWithin = 4096;
  const std::size_t metadata = text.substr(0, kWithin).find("\"metadata\":");
  const std::size_t at = text.substr(0, kWithin).find(kName, metadata);
  if (metadata == std::string_view::npos || at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + kName.size(), 256);
  return rest.substr(0, rest.find('"'));
}

Siblings::Identity Siblings::identity_of(std::string_view name) noexcept {
  const std::size_t cut = name.find_last_of("-.");
  return {std::hash<std::string_view>{}(name.substr(0, cut)), std::hash<std::string_view>{}(name),
          !name.empty()};
}

Siblings::Found Siblings::find(const Identity& identity) {
  if (!identity.has_name) return {last_, last_ != nullptr};
  const auto found = entries_.find(identity.family);
  if (found == entries_.end()) return {last_, false};
  return {found->second.get(), true};
}

void Siblings::prefetch(const Identity& identity) {
  const Entry* const entry = find(identity).entry;
  if (entry == nullptr) return;
  detail::prefetch(entry->bytes.data(), entry->bytes.size());
  detail::prefetch(entry->object.get(), entry->struct_bytes);
}

void Siblings::link(Entry& entry) noexcept {
  entry.older = newest_;
  entry.newer = nullptr;
  (newest_ != nullptr ? newest_->newer : oldest_) = &entry;
  newest_ = &entry;
}

void Siblings::unlink(Entry& entry) noexcept {
  (entry.older != nullptr ? entry.older->newer : oldest_) = entry.newer;
  (entry.newer != nullptr ? entry.newer->older : newest_) = entry.older;
}

void Siblings::erase(Entry& entry) noexcept {
  bytes_ -= entry.cost;
  unlink(entry);
  if (last_ == &entry) last_ = newest_;
  entries_.erase(entry.family);
}

void Siblings::remember(const Identity& identity, std::string_view bytes, JsonTape tape,
                        Ref<std::byte> object) {
  // An object that would displace many others is not kept.
  constexpr std::size_t kFewestEntries = 4;
  const std::size_t needed = cost(bytes.size(), tape, object);
  if (needed > max_bytes_ / kFewestEntries) {
    forget(identity);  // drops an older version of the same object
    return;
  }
  std::string copy{bytes};
  auto found = entries_.find(identity.family);
  if (found == entries_.end()) {
    found = entries_.emplace(identity.family, std::make_unique<Entry>()).first;
    found->second->family = identity.family;
    link(*found->second);
  } else {
    bytes_ -= found->second->cost;
  }
  Entry& entry = *found->second;
  entry.bytes = std::move(copy);
  entry.tape = std::move(tape);
  entry.object = std::move(object);
  entry.struct_bytes = block_of(entry.object)->size - sizeof(Block);
  entry.uses = 0;
  entry.name = identity.name;
  entry.cost = needed;
  bytes_ += needed;
  last_ = &entry;
  while (bytes_ > max_bytes_ && oldest_ != newest_) {
    if (oldest_ == &entry) {  // moves the entry just stored to the end of the list
      unlink(entry);
      link(entry);
    }
    erase(*oldest_);
  }
}

void Siblings::forget(const Identity& identity) noexcept {
  const auto found = entries_.find(identity.family);
  if (found != entries_.end() && found->second->name == identity.name) erase(*found->second);
}

}  // namespace kube::detail
