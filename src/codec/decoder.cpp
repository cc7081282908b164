// SPDX-License-Identifier: Apache-2.0
#include <kube/codec/decoder.hpp>

#include <kube/codec/assembler.hpp>
#include <kube/codec/envelope.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json_reader.hpp>
#include <kube/codec/protobuf_reader.hpp>
#include <kube/codec/protobuf_writer.hpp>
#include <kube/codec/siblings.hpp>

#include <functional>
#include <stdexcept>
#include <string>

namespace kube::detail {

namespace {

/// What an object may take that is not in proportion to its input: one struct can be a kilobyte.
constexpr std::size_t kFreeBytes = std::size_t{64} << 10;
/// A sibling that has served this often gives way to a newer object.
constexpr unsigned kMostUses = 16;
/// How much larger than the object a message has to be for the rest of it to be forgotten.
constexpr std::size_t kMostlyDropped = 8;

Ref<std::byte> share_block(Block* block) {
  block->retain();
  return {block, block->root()};
}

}  // namespace

struct DecoderCore::State {
  explicit State(DecoderOptions given)
      : options(std::move(given)),
        assembler(options.pool),
        protobuf(assembler, options.limits),
        json(assembler, options.limits),
        siblings(options.sibling_bytes) {}

  [[nodiscard]] bool compares() const noexcept {
    return assembler.shares() && options.sibling_bytes > 0;
  }
  void start(std::size_t input, std::string_view name) {
    const auto owner = static_cast<std::uint32_t>(std::hash<std::string_view>{}(name));
    assembler.start(kFreeBytes + options.limits.max_expansion * input, name.empty() ? 0 : owner);
  }
  /// Runs `read`, so that a failure leaves nothing behind and is a CodecError. It says whether the object is to be
  /// the sibling of the next ones.
  template <typename Read>
  Block* finish(std::size_t offset, const Siblings::Found& sibling, Read read) {
    try {
      if (sibling.entry != nullptr) {
        assembler.arena().lend(sibling.entry->object.block()->bundle);
      }
      const bool for_others = read();
      return assembler.arena().finish(for_others);
    } catch (const std::length_error& error) {
      assembler.arena().clear();
      throw CodecError("", error.what(), offset);
    } catch (...) {
      assembler.arena().clear();
      throw;
    }
  }
  /// Whether the object just decoded is to be the sibling of the next ones.
  [[nodiscard]] bool gives_way(const Siblings::Found& sibling) const {
    return !sibling.is_family || assembler.promoted() > 0 || sibling.entry == nullptr ||
           ++sibling.entry->uses >= kMostUses;
  }

  /// What of `message` to compare the next ones with. A projection or a slim type drops nearly all of it;
  /// the encoding of what was kept serves as well and takes a fraction of the memory.
  [[nodiscard]] std::string_view memorable(const Type& type, std::string_view message,
                                           const Block& block) {
    if (message.size() < kMostlyDropped * block.image_size()) return message;
    writer.clear();
    writer.message(type, block.root());
    return writer.view();
  }

  DecoderOptions options;
  Assembler assembler;
  ProtobufReader protobuf;
  JsonReader json;
  ProtobufWriter writer;
  Siblings siblings;
};

DecoderCore::DecoderCore(const Type& type, DecoderOptions options)
    : type_(type), state_(std::make_unique<State>(std::move(options))) {}

DecoderCore::~DecoderCore() = default;

Block* DecoderCore::protobuf(std::string_view message, std::size_t offset) {
  State& state = *state_;
  if (type_.kind != Kind::kStruct || (type_.proto.empty() && !type_.fields.empty())) {
    throw CodecError("", std::string{type_.name} + " has no protobuf form", offset);
  }
  const std::string_view name =
      state.assembler.shares() ? Siblings::name_in_protobuf(message) : std::string_view{};
  state.start(message.size(), name);
  std::uint64_t family = 0;
  Siblings::Found found;
  ProtobufReader::Sibling sibling;
  if (state.compares()) {
    family = Siblings::family_of(name);
    found = state.siblings.find(family);
    if (found.entry != nullptr && found.entry->tape.entries.empty()) {
      sibling = {found.entry->bytes, found.entry->object.get()};
    }
  }
  bool remember = false;
  Block* block = state.finish(offset, found, [&] {
    state.protobuf.read(type_, message, state.options.projection, sibling, offset);
    return remember = state.compares() && state.protobuf.is_regular() && state.gives_way(found);
  });
  if (remember) {
    state.siblings.remember(family, state.memorable(type_, message, *block), {},
                            share_block(block));
  }
  return block;
}

Block* DecoderCore::json(std::string_view text, std::size_t offset) {
  State& state = *state_;
  const std::string_view name =
      state.assembler.shares() ? Siblings::name_in_json(text) : std::string_view{};
  state.start(text.size(), name);
  std::uint64_t family = 0;
  Siblings::Found found;
  JsonReader::Sibling sibling;
  JsonTape tape;
  if (state.compares()) {
    family = Siblings::family_of(name);
    found = state.siblings.find(family);
    if (found.entry != nullptr && !found.entry->tape.entries.empty()) {
      sibling = {found.entry->bytes, &found.entry->tape, found.entry->object.get()};
    }
  }
  bool remember = false;
  Block* block = state.finish(offset, found, [&] {
    state.json.read(type_, text, state.options.projection, sibling,
                    state.compares() ? &tape : nullptr, offset);
    return remember = state.compares() && state.json.is_regular() && state.gives_way(found);
  });
  if (remember) {
    state.siblings.remember(family, text, std::move(tape), share_block(block));
  }
  return block;
}

void DecoderCore::prepare(std::string_view bytes) noexcept {
  if (bytes.empty() || !state_->compares()) return;
  try {
    const std::string_view name = Siblings::name_in_protobuf(open_envelope(bytes).raw);
    state_->siblings.prefetch(Siblings::family_of(name));
  } catch (const std::exception&) {
    // enveloped() will say so.
  }
}

Block* DecoderCore::enveloped(std::string_view bytes, std::size_t offset) {
  const Envelope envelope = open_envelope(bytes, offset);
  if (type_.is(Type::kHasTypeMeta) &&
      (envelope.kind != type_.name || envelope.api_version != type_.api_version)) {
    throw CodecError("",
                     "expected " + std::string{type_.api_version} + ' ' + std::string{type_.name} +
                         ", found " + std::string{envelope.api_version.substr(0, 80)} + ' ' +
                         std::string{envelope.kind.substr(0, 80)},
                     offset);
  }
  return protobuf(envelope.raw,
                  offset + static_cast<std::size_t>(envelope.raw.data() - bytes.data()));
}

}  // namespace kube::detail
