// SPDX-License-Identifier: Apache-2.0
#include <kube/codec/siblings.hpp>

#include <kube/base/prefetch.hpp>

#include <functional>
#include <utility>

namespace kube::detail {

namespace {

/// The payload of field 1 at the start of a message; empty if something else stands there.
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
  // Every object has its metadata first, and the metadata its name.
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

std::uint64_t Siblings::family_of(std::string_view name) noexcept {
  const std::size_t cut = name.find_last_of("-.");
  return std::hash<std::string_view>{}(name.substr(0, cut));
}

std::size_t Siblings::cost(const Entry& entry) noexcept {
  return entry.bytes.capacity() + entry.tape.entries.capacity() * sizeof(JsonTape::Entry) +
         sizeof(Entry);
}

Siblings::Found Siblings::find(std::uint64_t family) {
  const auto found = entries_.find(family);
  if (found == entries_.end()) return {last_, false};
  return {found->second.get(), true};
}

void Siblings::prefetch(std::uint64_t family) {
  const Entry* const entry = find(family).entry;
  if (entry == nullptr) return;
  detail::prefetch(entry->bytes.data(), entry->bytes.size());
  detail::prefetch(entry->object.get(), entry->struct_bytes);
}

void Siblings::remember(std::uint64_t family, std::string_view bytes, JsonTape tape,
                        Ref<std::byte> object) {
  std::unique_ptr<Entry>& slot = entries_[family];
  if (slot == nullptr) {
    slot = std::make_unique<Entry>();
    order_.push_back(family);
  } else {
    bytes_ -= cost(*slot);
  }
  slot->bytes.assign(bytes);
  slot->tape = std::move(tape);
  slot->object = std::move(object);
  slot->struct_bytes = slot->object.block()->size - sizeof(Block);
  slot->uses = 0;
  bytes_ += cost(*slot);
  last_ = slot.get();
  while (bytes_ > max_bytes_ && order_.size() > 1) {
    const std::uint64_t oldest = order_.front();
    order_.pop_front();
    if (oldest == family) {  // the one just stored goes to the end of the line
      order_.push_back(oldest);
      continue;
    }
    const auto found = entries_.find(oldest);
    bytes_ -= cost(*found->second);
    entries_.erase(found);
  }
}

}  // namespace kube::detail
