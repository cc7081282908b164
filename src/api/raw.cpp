// SPDX-License-Identifier: Apache-2.0
#include <kube/api/raw.hpp>

#include "api/protobuf_leaf.hpp"
#include "base/buffer.hpp"
#include "codec/json_scanner.hpp"
#include "codec/leaf.hpp"
#include "codec/utf8.hpp"
#include <kube/codec/json_writer.hpp>

#include <protozero/pbf_writer.hpp>

#include <cstring>
#include <vector>

namespace kube {

namespace {

using detail::JsonWriter;
using detail::Pending;
using Input = LeafOperations::Input;
using Token = LeafOperations::Token;

/// Deeper than any document that an API server accepts.
constexpr int kMaxDepth = 1000;

/// Writes `json`, which may come from protobuf and contain anything. Throws CodecError if it is not
/// JSON.
void write_checked(std::string_view json, JsonWriter& out) {
  detail::JsonScanner scanner{json, 0, kMaxDepth};
  if (!detail::is_utf8(json)) scanner.fail(nullptr, "embedded JSON is not valid UTF-8");
  scanner.skip_value(nullptr, 0);
  scanner.white_space();
  if (!scanner.done()) scanner.fail_expected(nullptr, "end of embedded JSON");
  out.raw(json);
}

Pending raw_from_json(Input& input, Token /*token*/, std::string_view json) {
  return json == "null" ? Pending{} : input.assembler.text(json, input.sibling);
}

Pending raw_from_protobuf(Input& input, std::string_view message) {
  const std::string_view raw = detail::only_text_field(input, message);
  if (raw.empty() || input.problem != nullptr) return {};
  return input.assembler.text(raw, input.sibling);
}

void raw_to_json(const std::byte* value, JsonWriter& out) {
  const auto& text = *reinterpret_cast<const String*>(value);
  if (text.empty()) {
    out.null();
  } else {
    write_checked(text, out);
  }
}

void raw_to_protobuf(const std::byte* value, std::string& out) {
  const auto& text = *reinterpret_cast<const String*>(value);
  if (!text.empty()) protozero::pbf_writer{out}.add_bytes(1, text.data(), text.size());
}

/// Splits the fields of a kubelet around the IP addresses in them: `"k:{\"ip\":\"10.0.0.7\"}"`. The
/// sibling's pieces, if any, indicate where to look first.
void split(std::string_view json, detail::View like, std::vector<std::string_view>& pieces) {
  constexpr std::string_view kBefore = R"("k:{\"ip\":\")";
  pieces.clear();
  while (!json.empty()) {
    std::string_view same;
    if (pieces.size() < like.count) {
      same = reinterpret_cast<const detail::Word*>(like.data)[pieces.size()].text();
    }
    std::size_t start = 0;
    if (same.ends_with(kBefore) && json.starts_with(same)) {
      start = same.size();
    } else if (pieces.size() + 1 == like.count && json == same) {
      break;
    } else {
      // Not json.find(), which stops at every quote, and JSON has many of them.
      const void* found = ::memmem(json.data(), json.size(), kBefore.data(), kBefore.size());
      if (found == nullptr) break;
      start =
          static_cast<std::size_t>(static_cast<const char*>(found) - json.data()) + kBefore.size();
    }
    const std::size_t end = json.find('\\', start);
    if (end == std::string_view::npos) break;
    pieces.push_back(json.substr(0, start));
    pieces.push_back(json.substr(start, end - start));
    json.remove_prefix(end);
  }
  if (!json.empty()) pieces.push_back(json);
}

Pending fields_from_text(Input& input, std::string_view json) {
  if (json.empty()) return {};
  thread_local std::vector<std::string_view> pieces;
  split(json, input.sibling == nullptr ? detail::View{} : input.sibling->view(), pieces);
  const Pending content = input.assembler.pieces(pieces, input.sibling);
  detail::clear_buffer(pieces);
  return content;
}

const FieldsV1& fields_at(const std::byte* value) {
  return *reinterpret_cast<const FieldsV1*>(value);
}

}  // namespace

namespace detail {

constinit const LeafOperations kRawExtensionOperations{.takes_any_json = true,
                                                       .from_json = raw_from_json,
                                                       .from_protobuf = raw_from_protobuf,
                                                       .to_json = raw_to_json,
                                                       .to_protobuf = raw_to_protobuf};

constinit const LeafOperations kJsonOperations{.takes_any_json = true,
                                               .from_json = raw_from_json,
                                               .from_protobuf = raw_from_protobuf,
                                               .to_json = raw_to_json,
                                               .to_protobuf = raw_to_protobuf};

constinit const LeafOperations kFieldsV1Operations{
    .takes_any_json = true,
    .from_json =
        [](Input& input, Token /*token*/, std::string_view json) {
          return json == "null" ? Pending{} : fields_from_text(input, json);
        },
    .from_protobuf =
        [](Input& input, std::string_view message) {
          const std::string_view json = only_text_field(input, message);
          return input.problem == nullptr ? fields_from_text(input, json) : Pending{};
        },
    .to_json =
        [](const std::byte* value, JsonWriter& out) {
          if (fields_at(value).is_set()) {
            write_checked(fields_at(value).str(), out);
          } else {
            out.null();
          }
        },
    .to_protobuf =
        [](const std::byte* value, std::string& out) {
          if (fields_at(value).is_set()) {
            protozero::pbf_writer{out}.add_bytes(1, fields_at(value).str());
          }
        },
};

}  // namespace detail

FieldsV1::FieldsV1(std::string_view json) {
  std::vector<std::string_view> pieces;
  split(json, {}, pieces);
  for (const std::string_view piece : pieces) pieces_.push_back(piece);
}

std::string FieldsV1::str() const {
  std::string json;
  for (const String& piece : pieces_) json.append(piece.view());
  return json;
}

}  // namespace kube
