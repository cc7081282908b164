// SPDX-License-Identifier: Apache-2.0
// A decoder that compares with siblings must agree with one that does not: on acceptance, on the
// result, and on the error message. The documents here are unlike those of any server.
#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/api/leaf.hpp>
#include <kube/api/registry.hpp>
#include <kube/codec/decoder.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/projection.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/pool.hpp>
#include <kube/object/value.hpp>

#include "unit/codec/samples.hpp"
#include "unit/codec/wire.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {
namespace {

using core::v1::Pod;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : engine_() % limit; }
  bool once_in(std::size_t times) { return below(times) == 0; }

 private:
  std::mt19937 engine_;
};

// --- irregular JSON ---

/// Writes a document as JSON with members that are shuffled, duplicated, null or unknown, with
/// white space and escapes.
class WildJson {
 public:
  WildJson(Random& random, std::size_t wildness) : random_(random), wildness_(wildness) {}

  std::string write(const Value& value) {
    std::string out;
    append(out, value);
    return out;
  }

 private:
  bool wild() { return wildness_ > 0 && random_.once_in(wildness_); }
  void space(std::string& out) {
    while (wild()) out += " \n\t\r"[random_.below(4)];
  }
  void text(std::string& out, std::string_view content) {
    if (!wild() || content.find_first_of("\"\\") != std::string_view::npos) {
      detail::JsonWriter{out}.text(content);
      return;
    }
    out += '"';
    for (const char c : content) {
      if (static_cast<unsigned char>(c) < 0x80 && random_.once_in(3)) {
        constexpr std::string_view kHex = "0123456789abcdef";
        out += "\\u00";
        out += kHex[static_cast<unsigned char>(c) >> 4];
        out += kHex[static_cast<unsigned char>(c) & 15];
      } else {
        out += c;
      }
    }
    out += '"';
  }
  void append(std::string& out, const Value& value) {
    if (value.is_object()) {
      object(out, value);
    } else if (value.is_array()) {
      out += '[';
      bool first = true;
      for (const Value& element : value.as_array()) {
        if (!std::exchange(first, false)) out += ',';
        space(out);
        if (wild() && wild()) {
          out += "null";
        } else {
          append(out, element);
        }
        space(out);
      }
      out += ']';
    } else if (value.is_string()) {
      text(out, value.as_string());
    } else {
      out += encode_json(value);
    }
  }
  void object(std::string& out, const Value& value) {
    std::vector<std::pair<std::string_view, const Value*>> members;
    for (const auto& [key, member] : value.as_object()) members.emplace_back(key.view(), &member);
    for (std::size_t i = 0; i + 1 < members.size(); ++i) {
      if (wild()) std::swap(members[i], members[i + random_.below(members.size() - i)]);
    }
    out += '{';
    bool first = true;
    const auto name = [&](std::string_view key) {
      if (!std::exchange(first, false)) out += ',';
      space(out);
      text(out, key);
      space(out);
      out += ':';
      space(out);
    };
    for (const auto& [key, member] : members) {
      if (wild() && wild()) {
        name(key);
        out += "null";
      }
      if (wild()) {
        name("unknown");
        out += R"([{"a":1.5},"x"])";
      }
      name(key);
      append(out, *member);
      space(out);
      if (wild()) {  // a duplicate member, with the same value or a part of it
        name(key);
        Value again = *member;
        if (again.is_object() && again.size() > 0) {
          again.erase(std::string{again.as_object().begin()->key().view()});
        }
        append(out, again);
        space(out);
      }
    }
    out += '}';
  }

  Random& random_;
  std::size_t wildness_;
};

/// Changes a few scalars somewhere in the document.
void vary(Value& value, Random& random, std::size_t one_in) {
  if (value.is_object()) {
    std::vector<std::string> keys;
    for (const auto& [key, member] : value.as_object()) keys.push_back(key.str());
    for (const std::string& key : keys) {
      if (key == "kind" || key == "apiVersion") continue;
      if (random.once_in(one_in * 8)) {
        value.erase(key);
      } else {
        vary(value[key], random, one_in);
      }
    }
  } else if (value.is_array()) {
    Value copy = Value::array();
    for (const Value& element : value.as_array()) {
      if (random.once_in(one_in * 4)) continue;
      Value changed = element;
      vary(changed, random, one_in);
      copy.push_back(changed);
      if (random.once_in(one_in * 4)) copy.push_back(changed);
    }
    value = std::move(copy);
  } else if (value.is_string() && random.once_in(one_in)) {
    std::string text{value.as_string()};
    if (!text.empty() && random.once_in(2)) {
      text[random.below(text.size())] = static_cast<char>('a' + random.below(26));
    } else {
      text += random.once_in(2) ? "x" : "a longer addition to it";
    }
    value = Value{text};
  } else if (value.kind() == Value::Kind::kInteger && random.once_in(one_in)) {
    value = Value{value.as_integer() + 1};
  }
}

// --- irregular protobuf ---

/// A field of a message, as far as the bytes are one.
struct WireField {
  std::uint32_t number = 0;
  std::uint32_t wire = 0;
  std::string payload;  // excludes the length
};

bool take_varint(std::string_view& bytes, std::uint64_t& number) {
  number = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    number |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool split_message(std::string_view bytes, std::vector<WireField>& fields) {
  while (!bytes.empty()) {
    std::uint64_t tag = 0;
    if (!take_varint(bytes, tag) || tag < 8 || tag > (1U << 20)) return false;
    WireField field{static_cast<std::uint32_t>(tag >> 3), static_cast<std::uint32_t>(tag & 7), {}};
    const std::string_view before = bytes;
    std::uint64_t number = 0;
    if (field.wire == 0) {
      if (!take_varint(bytes, number)) return false;
      field.payload = before.substr(0, before.size() - bytes.size());
    } else if (field.wire == 1 && bytes.size() >= 8) {
      field.payload = bytes.substr(0, 8);
      bytes.remove_prefix(8);
    } else if (field.wire == 2) {
      if (!take_varint(bytes, number) || number > bytes.size()) return false;
      field.payload = bytes.substr(0, number);
      bytes.remove_prefix(number);
    } else {
      return false;
    }
    fields.push_back(std::move(field));
  }
  return true;
}

/// Rewrites a message with fields that are swapped, duplicated, unknown or split, and with overlong
/// lengths.
class WildProtobuf {
 public:
  WildProtobuf(Random& random, std::size_t wildness) : random_(random), wildness_(wildness) {}

  std::string write(std::string_view message, int depth = 0) {
    std::vector<WireField> fields;
    if (depth > 6 || !split_message(message, fields)) return std::string{message};
    for (std::size_t i = 0; i + 1 < fields.size(); ++i) {
      if (wild()) std::swap(fields[i], fields[i + random_.below(fields.size() - i)]);
    }
    std::string out;
    for (const WireField& field : fields) {
      append(out, field, depth);
      if (wild()) append(out, field, depth);
      if (wild()) out += test::wire::bytes(1000, "unknown");
      if (wild() && wild()) out += test::wire::group(1001, test::wire::integer(1, 2));
    }
    return out;
  }

 private:
  bool wild() { return random_.once_in(wildness_); }
  std::string number(std::uint64_t value) {
    std::string out = test::wire::varint(value);
    if (wild()) {  // an overlong encoding
      out.back() = static_cast<char>(static_cast<unsigned char>(out.back()) | 0x80U);
      out += '\0';
    }
    return out;
  }
  void append(std::string& out, const WireField& field, int depth) {
    out += number((std::uint64_t{field.number} << 3) | field.wire);
    if (field.wire != 2) {
      out += field.payload;
      return;
    }
    // Text may parse as a message; then it is changed, possibly to invalid text, which both
    // decoders must report.
    const std::string payload =
        random_.once_in(4) ? field.payload : write(field.payload, depth + 1);
    out += number(payload.size()) + payload;
  }

  Random& random_;
  std::size_t wildness_;
};

/// Changes single bytes.
std::string damaged(std::string bytes, Random& random) {
  for (std::size_t i = random.below(3); i > 0 && !bytes.empty(); --i) {
    const std::size_t at = random.below(bytes.size());
    switch (random.below(4)) {
      case 0:
        bytes[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ 1U);
        break;
      case 2:
        bytes.erase(at, 1 + random.below(3));
        break;
      default:
        bytes.insert(at, 1, bytes[random.below(bytes.size())]);
        break;
    }
  }
  return bytes;
}

// --- the comparison ---

class Object {
 public:
  Object(const Type& type, detail::Block* block) : type_(&type), block_(block) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  Object(Object&& other) noexcept
      : type_(other.type_), block_(std::exchange(other.block_, nullptr)) {}
  ~Object() {
    if (block_ != nullptr) block_->release();
  }
  [[nodiscard]] const std::byte* get() const { return block_->root(); }
  [[nodiscard]] std::string json() const {
    std::string out;
    try {
      detail::JsonWriter{out}.value(*type_, get());
    } catch (const CodecError&) {
      out += "... embedded content that is no JSON";
    }
    return out;
  }

 private:
  const Type* type_;
  detail::Block* block_;
};

struct Outcome {
  std::vector<Object> object;  // one or none
  std::string error;
};

/// Decodes each document with and without siblings, and keeps some objects to compare them again
/// later.
class Comparison {
 public:
  Comparison(const Type& type, Format format, const Projection& projection = {})
      : type_(type),
        format_(format),
        pool_(std::make_shared<Pool>()),
        plain_(
            std::make_unique<detail::DecoderCore>(type, DecoderOptions{.projection = projection})),
        hinted_(std::make_unique<detail::DecoderCore>(
            type, DecoderOptions{.pool = pool_, .projection = projection})) {}

  void decode(const std::string& document) { decode(document, format_); }
  void decode(const std::string& document, Format format) {
    const std::size_t blocks = block_totals().blocks;
    const Pool::Totals nodes = pool_->totals();
    Outcome hinted = attempt(*hinted_, document, format);
    if (hinted.object.empty()) {
      ++refused_;
      ASSERT_EQ(block_totals().blocks, blocks) << "a refused document left a block behind";
      ASSERT_EQ(pool_->totals().nodes, nodes.nodes) << "a refused document left nodes behind";
      ASSERT_EQ(pool_->totals().bytes, nodes.bytes);
    } else {
      ++accepted_;
    }
    const Outcome plain = attempt(*plain_, document, format);
    ASSERT_EQ(hinted.error, plain.error) << document;
    if (plain.object.empty()) return;
    ASSERT_TRUE(detail::equal_values(type_, plain.object[0].get(), hinted.object[0].get()))
        << document << "\nwithout siblings: " << plain.object[0].json()
        << "\nwith siblings:    " << hinted.object[0].json();
    // Also equal in details that deep_equal ignores, such as null versus [].
    const std::string json = plain.object[0].json();
    ASSERT_EQ(hinted.object[0].json(), json) << document;
    if (kept_.size() < 300) kept_.emplace_back(std::move(hinted.object[0]), json);
  }

  /// Checks that early objects have not changed, and that the pool is empty in the end.
  void finish() {
    for (const auto& [object, json] : kept_) ASSERT_EQ(object.json(), json);
    hinted_.reset();
    for (const auto& [object, json] : kept_) ASSERT_EQ(object.json(), json);
    kept_.clear();
    EXPECT_EQ(pool_->totals().nodes, 0U);
    EXPECT_EQ(pool_->totals().bytes, 0U);
  }

  [[nodiscard]] std::size_t accepted() const { return accepted_; }
  [[nodiscard]] std::size_t refused() const { return refused_; }
  [[nodiscard]] Pool::Totals shared() const { return pool_->totals(); }

 private:
  Outcome attempt(detail::DecoderCore& decoder, const std::string& document, Format format) {
    Outcome outcome;
    try {
      outcome.object.emplace_back(type_, format == Format::kJson ? decoder.json(document, 0)
                                                                 : decoder.protobuf(document, 0));
    } catch (const CodecError& error) {
      outcome.error = error.what();
    }
    return outcome;
  }

  const Type& type_;
  Format format_;
  std::shared_ptr<Pool> pool_;
  std::unique_ptr<detail::DecoderCore> plain_;
  std::unique_ptr<detail::DecoderCore> hinted_;
  std::vector<std::pair<Object, std::string>> kept_;
  std::size_t accepted_ = 0;
  std::size_t refused_ = 0;
};

/// Creates a pod with all fields of the deployment's template.
Value rich_pod() {
  const Value deployment =
      *decode_json<Value>(test::recorded_items("apps_v1_deployments", Format::kJson).at(0));
  Value pod = *decode_json<Value>(test::recorded_items("core_v1_pods", Format::kJson).at(0));
  pod["spec"] = *deployment.find("spec.template.spec");
  pod["status"]["podIPs"] = Value::array({Value::object({{"ip", "10.1.2.3"}})});
  return pod;
}

TEST(HintedDecode, AgreesOnVariedJson) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    Random random{seed};
    Comparison pods{type_of<Pod>(), Format::kJson};
    Comparison values{type_of<Value>(), Format::kJson};
    Value document = rich_pod();
    for (int i = 0; i < 150; ++i) {
      if (random.once_in(20)) document = rich_pod();
      vary(document, random, 40);
      document.at_path("metadata.name") = "web-" + std::to_string(random.below(1000));
      const std::string text = encode_json(document);
      pods.decode(text);
      values.decode(text);
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(values.accepted(), 100U);
    EXPECT_GT(values.shared().nodes, 10U);
    pods.finish();
    values.finish();
  }
}

TEST(HintedDecode, AgreesOnIrregularJson) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    Random random{seed};
    WildJson wild{random, 5 + 10 * (seed % 6)};
    Comparison pods{type_of<Pod>(), Format::kJson};
    Comparison values{type_of<Value>(), Format::kJson};
    Value document = rich_pod();
    for (int i = 0; i < 120; ++i) {
      if (random.once_in(10)) document = rich_pod();
      vary(document, random, 60);
      const std::string text = random.once_in(3) ? encode_json(document) : wild.write(document);
      for (std::size_t times = 1 + random.below(2); times > 0; --times) {
        pods.decode(text);
        values.decode(text);
        if (HasFatalFailure()) return;
      }
    }
    EXPECT_GT(values.accepted(), 100U);
    pods.finish();
    values.finish();
  }
}

TEST(HintedDecode, AgreesOnDamagedJson) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    Random random{seed};
    WildJson wild{random, 30};
    Comparison pods{type_of<Pod>(), Format::kJson};
    Comparison values{type_of<Value>(), Format::kJson};
    for (int i = 0; i < 250; ++i) {
      const std::string text =
          damaged(random.once_in(3) ? wild.write(rich_pod()) : encode_json(rich_pod()), random);
      pods.decode(text);
      values.decode(text);
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(pods.accepted(), 20U);
    EXPECT_GT(pods.refused(), 20U);
    pods.finish();
    values.finish();
  }
}

TEST(HintedDecode, AgreesOnIrregularProtobuf) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    Random random{seed};
    WildProtobuf wild{random, 8 + 20 * (seed % 5)};
    Comparison pods{type_of<Pod>(), Format::kProtobuf};
    Value document = rich_pod();
    for (int i = 0; i < 200; ++i) {
      if (random.once_in(10)) document = rich_pod();
      vary(document, random, 60);
      std::string message;
      try {
        message = encode_protobuf_message(*decode_json<Pod>(encode_json(document)));
      } catch (const CodecError&) {
        continue;  // the variation is not a valid pod
      }
      if (!random.once_in(3)) message = wild.write(message);
      for (std::size_t times = 1 + random.below(2); times > 0; --times) {
        pods.decode(message);
        if (HasFatalFailure()) return;
      }
    }
    EXPECT_GT(pods.accepted(), 20U) << seed;
    pods.finish();
  }
}

TEST(HintedDecode, AgreesOnDamagedProtobuf) {
  const std::string message = encode_protobuf_message(*decode_json<Pod>(encode_json(rich_pod())));
  for (unsigned seed = 1; seed <= 6; ++seed) {
    Random random{seed};
    WildProtobuf wild{random, 60};
    Comparison pods{type_of<Pod>(), Format::kProtobuf};
    for (int i = 0; i < 500; ++i) {
      pods.decode(damaged(random.once_in(3) ? wild.write(message) : message, random));
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(pods.accepted(), 20U);
    EXPECT_GT(pods.refused(), 20U);
    pods.finish();
  }
}

TEST(HintedDecode, AgreesOnEveryRecordedKind) {
  Random random{42};
  std::size_t kinds = 0;
  const Ref<Value> index = decode_json<Value>(test::fixture("index.json"));
  for (const Value& entry : index->as_array()) {
    const std::string path{entry["path"].as_string()};
    const std::string file{entry["file"].as_string()};
    for (const ApiKind& kind : api_kinds()) {
      if (kind.resource == nullptr) continue;
      const ResourceInfo& resource = *kind.resource;
      const std::string prefix = resource.group.empty() ? "/api/" : "/apis/";
      if (path != prefix + resource.api_version() + '/' + std::string{resource.plural}) continue;
      ++kinds;
      for (const Format format : {Format::kJson, Format::kProtobuf}) {
        if (format == Format::kProtobuf && !entry.get_bool("protobuf").value_or(false)) continue;
        Comparison comparison{*kind.type, format};
        for (const std::string& item : test::recorded_items(file, format)) {
          WildJson wild_json{random, 20};
          WildProtobuf wild_protobuf{random, 20};
          comparison.decode(item);
          comparison.decode(item);
          comparison.decode(format == Format::kJson ? wild_json.write(*decode_json<Value>(item))
                                                    : wild_protobuf.write(item));
          for (int i = 0; i < 6; ++i) comparison.decode(damaged(item, random));
          comparison.decode(item);
          if (HasFatalFailure()) return;
        }
        comparison.finish();
      }
    }
  }
  EXPECT_GT(kinds, 30U);
}

TEST(HintedDecode, AgreesUnderAProjection) {
  const std::vector<Projection> pod_projections{
      fields<Pod>("metadata", "spec.nodeName", "status.podIP"),
      fields<Pod>("metadata.name", "metadata.labels['app']", "spec.containers.env.name",
                  "spec.containers.resources.limits['cpu']"),
      without_fields<Pod>(
          "metadata.managedFields", "spec.containers.env",
          "metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']"),
  };
  for (std::size_t p = 0; p < pod_projections.size(); ++p) {
    Random random{static_cast<unsigned>(p)};
    WildJson wild{random, 15};
    WildProtobuf wild_protobuf{random, 15};
    Comparison json{type_of<Pod>(), Format::kJson, pod_projections[p]};
    Comparison protobuf{type_of<Pod>(), Format::kProtobuf, pod_projections[p]};
    for (int i = 0; i < 200; ++i) {
      Value document = rich_pod();
      vary(document, random, 60);
      json.decode(random.once_in(2) ? encode_json(document) : wild.write(document));
      if (HasFatalFailure()) return;
      try {
        const std::string message =
            encode_protobuf_message(*decode_json<Pod>(encode_json(document)));
        protobuf.decode(random.once_in(2) ? message : wild_protobuf.write(message));
      } catch (const CodecError&) {
        continue;
      }
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(protobuf.accepted(), 20U);
    json.finish();
    protobuf.finish();
  }
}

// If nearly all of a message is dropped, the sibling remembers only the kept part.
TEST(HintedDecode, AgreesWhenNearlyEverythingIsDropped) {
  Random random{31};
  WildProtobuf wild{random, 15};
  Comparison pods{type_of<Pod>(), Format::kProtobuf,
                  fields<Pod>("metadata.name", "metadata.labels", "spec.nodeName",
                              "spec.containers.image", "status.conditions", "status.podIP")};
  std::size_t most_nodes = 0;
  for (int i = 0; i < 300; ++i) {
    Value document = rich_pod();
    vary(document, random, 10);
    document["metadata"]["annotations"]["dropped"] = Value{std::string(40'000, 'd')};
    std::string message;
    try {
      message = encode_protobuf_message(*decode_json<Pod>(encode_json(document)));
    } catch (const CodecError&) {
      continue;
    }
    pods.decode(random.once_in(4) ? wild.write(message) : message);
    if (HasFatalFailure()) return;
    most_nodes = std::max(most_nodes, pods.shared().nodes);
  }
  EXPECT_GT(pods.accepted(), 100U);
  EXPECT_GT(most_nodes, 0U);
  pods.finish();
}

TEST(HintedDecode, AgreesOnAnyJsonUnderAProjection) {
  Random random{9};
  WildJson wild{random, 15};
  Comparison values{type_of<Value>(), Format::kJson,
                    fields<Value>("metadata.name", "spec.containers.env", "spec.volumes.name")};
  for (int i = 0; i < 300; ++i) {
    Value document = rich_pod();
    vary(document, random, 60);
    values.decode(random.once_in(2) ? encode_json(document) : wild.write(document));
    if (HasFatalFailure()) return;
  }
  values.finish();
}

TEST(HintedDecode, AgreesWhenOneDecoderReadsBothFormats) {
  Random random{5};
  Comparison pods{type_of<Pod>(), Format::kJson};
  for (int i = 0; i < 300; ++i) {
    Value document = rich_pod();
    vary(document, random, 80);
    try {
      const Ref<Pod> pod = decode_json<Pod>(encode_json(document));
      pods.decode(encode_json(*pod), Format::kJson);
      pods.decode(encode_protobuf_message(*pod), Format::kProtobuf);
    } catch (const CodecError&) {
      continue;
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(pods.accepted(), 100U);
  pods.finish();
}

TEST(HintedDecode, AgreesWhileSiblingsAreForgotten) {
  // The memory limit fits one or two siblings; there are a hundred families.
  Random random{6};
  auto pool = std::make_shared<Pool>();
  Decoder<Pod> plain;
  Decoder<Pod> hinted{{.pool = pool, .sibling_bytes = 20'000}};
  std::vector<Ref<Pod>> kept;
  for (int i = 0; i < 400; ++i) {
    Value document = rich_pod();
    document.at_path("metadata.name") =
        "family" + std::to_string(random.below(100)) + "-" + std::to_string(i);
    const std::string text = encode_json(document);
    kept.push_back(hinted.json(text));

    ASSERT_EQ(*kept.back(), *plain.json(text));
  }
  EXPECT_GT(pool->totals().nodes, 0U);
}

TEST(HintedDecode, DistinguishesNumbersWithACommonPrefix) {
  Comparison values{type_of<Value>(), Format::kJson};
  Comparison pods{type_of<Pod>(), Format::kJson};
  for (const std::string_view number :
       {"1", "12", "123", "12", "1", "1.5", "1.55", "1e1", "1e10", "-1", "-12", "0", "0.0"}) {
    const std::string text = R"({"metadata":{"name":"a-1"},"x":)" + std::string{number} + "}";
    values.decode(text);
    values.decode(R"({"metadata":{"name":"a-1"},"x":[)" + std::string{number} + ",1]}");
    pods.decode(R"({"metadata":{"name":"a-1","deletionTimestamp":null},"spec":{"containers":[{)"
                R"("livenessProbe":{"httpGet":{"port":)" +
                std::string{number} + "}}}]}}");
  }
  values.finish();
  pods.finish();
}

TEST(HintedDecode, DistinguishesTextsWithACommonPrefix) {
  Comparison values{type_of<Value>(), Format::kJson};
  for (const std::string_view text :
       {"a text of some length", "a text of some length, and more", "a text of some length",
        "a text of some length\\\"", "a text of some len\\u0067th", "a text of some length\\\\"}) {
    values.decode(R"({"metadata":{"name":"a-1"},"x":")" + std::string{text} + "\",\"y\":1}");
    values.decode(R"({"metadata":{"name":"a-1"},"x":")" + std::string{text} + "\" ,\"y\":1}");
    values.decode(R"({"metadata":{"name":"a-1"},"x":")" + std::string{text} + "\"\"y\":1}");
  }
  EXPECT_GT(values.refused(), 0U);
  values.finish();
}

TEST(HintedDecode, AppendsToAListInTwoEncodings) {
  namespace wire = test::wire;
  std::string numbers;
  for (int i = 1; i <= 8; ++i) numbers += wire::integer(4, i);
  const auto pod = [](std::string_view groups) {
    return wire::bytes(1, wire::bytes(1, "web-1")) + wire::bytes(2, wire::bytes(14, groups));
  };
  Comparison pods{type_of<Pod>(), Format::kProtobuf};

  for (const std::string& groups :
       {numbers, numbers, wire::bytes(4, "\x63") + numbers, numbers + wire::bytes(4, "\x63"),
        numbers + wire::integer(4, 9), numbers, wire::integer(2, 7) + numbers}) {
    pods.decode(pod(groups));
  }

  EXPECT_EQ(pods.accepted(), 7U);
  EXPECT_GT(pods.shared().nodes, 0U);
  pods.finish();
}

// Regression: times and durations are numbers in memory, but were treated as handles inside lists.
struct Schedule {
  meta::v1::ObjectMeta metadata;
  List<Time> times;
  List<Duration> delays;
  Map<Time> by_name;
  List<Quantity> amounts;
  List<IntOrString> ports;
  List<FieldsV1> fields;
  List<Json> any;
  Map<Quantity> limits;
  static const Type kube_type;
};
constexpr Field kScheduleFields[] = {
    field<meta::v1::ObjectMeta>("metadata", offsetof(Schedule, metadata)),
    field<List<Time>>("times", offsetof(Schedule, times)),
    field<List<Duration>>("delays", offsetof(Schedule, delays)),
    field<Map<Time>>("byName", offsetof(Schedule, by_name)),
    field<List<Quantity>>("amounts", offsetof(Schedule, amounts)),
    field<List<IntOrString>>("ports", offsetof(Schedule, ports)),
    field<List<FieldsV1>>("fields", offsetof(Schedule, fields)),
    field<List<Json>>("any", offsetof(Schedule, any)),
    field<Map<Quantity>>("limits", offsetof(Schedule, limits)),
};
constexpr ProtoField kScheduleProto[] = {{1, 0}, {2, 1}, {3, 2}, {4, 3}, {5, 4},
                                         {6, 5}, {7, 6}, {8, 7}, {9, 8}};
constexpr Type Schedule::kube_type{.size = sizeof(Schedule),
                                   .name = "Schedule",
                                   .fields = kScheduleFields,
                                   .proto = kScheduleProto};

TEST(HintedDecode, AgreesOnListsAndMapsOfLeaves) {
  Random random{3};
  Comparison json{type_of<Schedule>(), Format::kJson};
  Comparison protobuf{type_of<Schedule>(), Format::kProtobuf};
  Schedule schedule;
  schedule.metadata.name = "s-1";
  for (int i = 0; i < 400; ++i) {
    switch (random.below(9)) {
      case 0:
        schedule.times.push_back(Time::from_unix(static_cast<std::int64_t>(random.below(1000))));
        break;
      case 1:
        schedule.delays.push_back(Duration{std::chrono::milliseconds{random.below(1000)}});
        break;
      case 2:
        schedule.by_name["n" + std::to_string(random.below(20))] =
            Time::from_unix(static_cast<std::int64_t>(random.below(1000)));
        break;
      case 3:
        schedule.amounts.push_back(std::to_string(random.below(100)) + "000000000000000000m");
        break;
      case 4:
        schedule.ports.push_back(random.once_in(2)
                                     ? IntOrString{"a name of some length"}
                                     : IntOrString{static_cast<int>(random.below(9))});
        break;
      case 5:
        schedule.fields.push_back(FieldsV1{R"({"f:status":{"k:{\"ip\":\"10.0.0.)" +
                                           std::to_string(random.below(9)) +
                                           R"(\"}":{".":{},"f:ip":{}}}})"});
        break;
      case 6:
        schedule.any.push_back(Json{R"({"a":[)" + std::to_string(random.below(9)) + "]}"});
        break;
      case 7:
        schedule.limits["l" + std::to_string(random.below(20))] = "123456789012345678";
        break;
      default:
        schedule.times.reset();
        schedule.delays.reset();
        break;
    }
    const std::string text = encode_json(schedule);
    json.decode(text);
    json.decode(text);
    protobuf.decode(encode_protobuf_message(schedule));
    if (HasFatalFailure()) return;
  }
  json.finish();
  protobuf.finish();
}

}  // namespace
}  // namespace kube
