// SPDX-License-Identifier: Apache-2.0
// Input: a CEL expression about an object. Must yield issues, or a cost estimate and a value or an
// error within the limits of an evaluation.
#include "fuzz.hpp"
#include "testkit/cel/program.hpp"
#include "testkit/cel/schema_sizes.hpp"
#include "testkit/cel/schema_type.hpp"

#include <kube/codec/json.hpp>
#include <kube/object/value.hpp>

#include <string>

namespace {

using kube::Value;
using kube::fuzz::require;
using namespace kube::testkit::cel;

constexpr const char* kSchema =
    R"({"type":"object","properties":{"i":{"type":"integer"},"d":{"type":"number"},"s":{"type":"string"},)"
    R"("b":{"type":"boolean"},"t":{"type":"string","format":"date-time"},"u":{"type":"string","format":"duration"},)"
    R"("y":{"type":"string","format":"byte"},"x":{"x-kubernetes-int-or-string":true},)"
    R"("l":{"type":"array","items":{"type":"integer"}},)"
    R"("e":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},)"
    R"("k":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["n"],"items":)"
    R"({"type":"object","properties":{"n":{"type":"string"},"v":{"type":"integer"}}}},)"
    R"("m":{"type":"object","additionalProperties":{"type":"string"}},)"
    R"("o":{"type":"object","properties":{"p":{"type":"string"}}}}})";
constexpr const char* kObject =
    R"({"i":5,"d":1.5,"s":"hello","b":true,"t":"2020-01-02T03:04:05Z","u":"90s","y":"aGk=","x":"50%",)"
    R"("l":[3,1,2],"e":["a","b"],"k":[{"n":"a","v":1},{"n":"b","v":2}],"m":{"a":"1","b-c":"2"},"o":{"p":"q"}})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto schema = kube::decode_json<Value>(kSchema);
  static const auto object = kube::decode_json<Value>(kObject);
  static const TypePtr type = type_of_schema(*schema, true, "selfType");
  static const Variables variables{
      {"self", type}, {"oldSelf", optional_type(type)}, {"any", simple_type(TypeKind::kDyn)}};

  const Program program{std::string_view{reinterpret_cast<const char*>(data), size}, variables};
  if (!program.issues().empty()) return 0;
  static const auto sizes = sizes_of_schema(*schema, true);
  static_cast<void>(program.estimate(*sizes));
  if (!program.missing().empty()) return 0;
  const Outcome outcome = program.run(
      [](std::string_view name) {
        if (name == "self") return from_document(*object, type.get());
        if (name == "oldSelf") return Val::some(from_document(*object, type.get()));
        return from_document(*object, nullptr);
      },
      20'000);
  require(!outcome.exceeded || outcome.value.is_error(), "an evaluation that ended has no value");
  if (!outcome.value.is_error()) static_cast<void>(to_literal(outcome.value));
  return 0;
}
