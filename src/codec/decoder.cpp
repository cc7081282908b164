// SPDX-License-Identifier: Apache-2.0
#include <kube/codec/decoder.hpp>

#include "codec/assembler.hpp"
#include "codec/json_reader.hpp"
#include "codec/protobuf_reader.hpp"
#include "codec/protobuf_writer.hpp"
#include "codec/siblings.hpp"
#include <kube/codec/envelope.hpp>
#include <kube/codec/error.hpp>
#include <kube/object/value.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace kube::detail {

namespace {

/// Memory that an object may take regardless of the size of its input: one struct can be a
/// kilobyte.
constexpr std::size_t kFreeBytes = std::size_t{64} << 10;
/// A sibling that has served this often is replaced by a newer object.
constexpr unsigned kMostUses = 16;
/// If the message is this many times larger than the object, the sibling keeps a re-encoding of the
/// object instead.
constexpr std::size_t kMostlyDropped = 8;

/// A larger encoding buffer is not kept for the next object.
constexpr std::size_t kKeptEncoding = std::size_t{64} << 10;

Ref<std::byte> share_block(Block* block) {
  block->retain();
  return ref_to_root<std::byte>(block);
}

/// Finds metadata.name in decoded objects.
class NameFinder {
 public:
  explicit NameFinder(const Type& type) noexcept : is_value_(type.kind == Kind::kValue) {
    if (type.kind != Kind::kStruct) return;
    const Field* const metadata = find(type, "metadata", Kind::kStruct);
    if (metadata == nullptr) return;
    const Field* const name = find(*metadata->type, "name", Kind::kString);
    if (name != nullptr) offset_ = metadata->offset + name->offset;
  }
  /// Returns an empty text if the object has no name.
  [[nodiscard]] std::string_view of(const Block& block) const noexcept {
    if (is_value_) {
      const Value& name = (*reinterpret_cast<const Value*>(block.root()))["metadata"]["name"];
      return name.is_string() ? name.as_string() : std::string_view{};
    }
    return offset_ ? word_at(block.root() + *offset_).text() : std::string_view{};
  }

 private:
  static const Field* find(const Type& type, std::string_view name, Kind kind) noexcept {
    const auto found = std::ranges::find(type.fields, name, &Field::name);
    return found != type.fields.end() && found->type->kind == kind ? &*found : nullptr;
  }

  bool is_value_;
  std::optional<std::size_t> offset_;
};

}  // namespace

struct DecoderCore::State {
  State(const Type& type, const DecoderOptions& given)
      : options(given),
        names(type),
        assembler(options.pool),
        protobuf(assembler, options.limits),
        json(assembler, options.limits),
        siblings(options.sibling_bytes) {}

  [[nodiscard]] bool compares() const noexcept {
    return assembler.shares() && options.sibling_bytes > 0;
  }
  /// Runs `read`, which returns true if the object shall become the sibling of later ones. Converts
  /// failures to CodecError and leaves no partial state behind.
  template <typename Read>
  Block* decode(std::string_view input, std::size_t offset, const Siblings::Found& sibling,
                Read read) {
    const auto owner = static_cast<std::uint32_t>(apparent.name);
    try {
      return assembler.arena().with_room(input.size(), [&] {
        assembler.start(kFreeBytes + options.limits.max_expansion * input.size(),
                        apparent.has_name ? owner : 0);
        if (sibling.entry != nullptr) {
          assembler.arena().lend(block_of(sibling.entry->object)->bundle);
        }
        const bool for_others = read();
        return assembler.arena().finish(for_others);
      });
    } catch (const std::length_error& error) {
      throw CodecError("", error.what(), offset);
    }
  }
  /// True if the object just decoded shall replace `sibling`.
  [[nodiscard]] bool replaces(const Siblings::Found& sibling) const {
    return !sibling.is_family || assembler.promoted() > 0 || sibling.entry == nullptr ||
           ++sibling.entry->uses >= kMostUses;
  }

  /// Returns the bytes to compare later messages with. A projection or a slim type drops most of
  /// the message; then an encoding of the decoded object serves as well and takes a fraction of the
  /// memory.
  [[nodiscard]] std::string_view bytes_to_remember(const Type& type, std::string_view message,
                                                   const Block& block) {
    if (message.size() < kMostlyDropped * block.image_size()) return message;
    writer.clear();
    writer.message(type, block.root());
    return writer.view();
  }

  /// Makes the object the sibling of later ones. Does nothing if memory is exhausted, which only
  /// costs speed.
  template <typename Remember>
  void remember(Block& block, Remember remember) noexcept {
    try {
      remember(identity_of(block), share_block(&block));
    } catch (const std::exception&) {
      siblings.forget(identity_of(block));
    }
  }
  /// Identifies the object by its decoded name or, if it has none, by the name found in the
  /// document without decoding.
  [[nodiscard]] Siblings::Identity identity_of(const Block& block) const noexcept {
    const std::string_view name = names.of(block);
    return name.empty() ? apparent : Siblings::identity_of(name);
  }

  const DecoderOptions& options;
  const NameFinder names;
  Siblings::Identity apparent;  ///< of the document that was decoded last
  Assembler assembler;
  ProtobufReader protobuf;
  JsonReader json;
  ProtobufWriter writer;
  Siblings siblings;
};

DecoderCore::DecoderCore(const Type& type, DecoderOptions options)
    : type_(type), options_(std::move(options)) {}

DecoderCore::~DecoderCore() = default;

DecoderCore::State& DecoderCore::state() {
  if (state_ == nullptr) state_ = std::make_unique<State>(type_, options_);
  return *state_;
}

Block* DecoderCore::protobuf(std::string_view message, std::size_t offset) {
  if (type_.kind != Kind::kStruct || (type_.proto.empty() && !type_.fields.empty())) {
    throw CodecError("", std::string{type_.name} + " has no protobuf form", offset);
  }
  State& state = this->state();
  if (state.assembler.shares()) {
    state.apparent = Siblings::identity_of(Siblings::name_in_protobuf(message));
  }
  Siblings::Found found;
  ProtobufReader::Sibling sibling;
  if (state.compares()) {
    found = state.siblings.find(state.apparent);
    if (found.entry != nullptr && found.entry->tape.entries.empty()) {
      sibling = {found.entry->bytes, found.entry->object.get()};
    }
  }
  bool remember = false;
  Block* block = state.decode(message, offset, found, [&] {
    state.protobuf.read(type_, message, state.options.projection, sibling, offset);
    return remember = state.compares() && state.protobuf.is_regular() && state.replaces(found);
  });
  if (remember) {
    state.remember(*block, [&](const Siblings::Identity& identity, Ref<std::byte> object) {
      state.siblings.remember(identity, state.bytes_to_remember(type_, message, *block), {},
                              std::move(object));
    });
    if (state.writer.size() > kKeptEncoding) state.writer = {};
  }
  return block;
}

Block* DecoderCore::json(std::string_view text, std::size_t offset) {
  State& state = this->state();
  if (state.assembler.shares()) {
    state.apparent = Siblings::identity_of(Siblings::name_in_json(text));
  }
  Siblings::Found found;
  JsonReader::Sibling sibling;
  JsonTape tape;
  if (state.compares()) {
    found = state.siblings.find(state.apparent);
    if (found.entry != nullptr && !found.entry->tape.entries.empty()) {
      sibling = {found.entry->bytes, &found.entry->tape, found.entry->object.get()};
    }
  }
  bool remember = false;
  Block* block = state.decode(text, offset, found, [&] {
    state.json.read(type_, text, state.options.projection, sibling,
                    state.compares() ? &tape : nullptr, offset);
    return remember = state.compares() && state.json.is_regular() && state.replaces(found);
  });
  if (remember) {
    state.remember(*block, [&](const Siblings::Identity& identity, Ref<std::byte> object) {
      state.siblings.remember(identity, text, std::move(tape), std::move(object));
    });
  }
  return block;
}

void DecoderCore::prepare(std::string_view bytes) noexcept {
  if (bytes.empty() || state_ == nullptr || !state_->compares()) return;
  try {
    const std::string_view name = Siblings::name_in_protobuf(open_envelope(bytes).raw);
    state_->siblings.prefetch(Siblings::identity_of(name));
  } catch (const std::exception&) {
    // enveloped() will report it.
  }
}

void DecoderCore::rest() noexcept {
  if (state_ == nullptr) return;
  if (state_->siblings.empty() && !state_->assembler.has_sightings()) {
    state_.reset();
  } else {
    state_->assembler.rest();
  }
}

void DecoderCore::forget(const Block& object) noexcept {
  if (state_ == nullptr || !state_->compares()) return;
  state_->siblings.forget(state_->identity_of(object));
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
