// SPDX-License-Identifier: Apache-2.0
// A projection has the same effect as clearing the other fields by hand.
#include <kube/codec/projection.hpp>

#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/codec/decoder.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/pool.hpp>
#include <kube/object/value.hpp>

#include "unit/codec/samples.hpp"
#include "unit/codec/wire.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kube {
namespace {

using apps::v1::Deployment;
using core::v1::Container;
using core::v1::Pod;
namespace wire = test::wire;

/// Compares projected deployments with recorded ones that `clear` has reduced by hand.
void expect_cleared(const Projection& projection, const std::function<void(Deployment&)>& clear) {
  const auto json = test::recorded_items("apps_v1_deployments", Format::kJson);
  const auto protobuf = test::recorded_items("apps_v1_deployments", Format::kProtobuf);
  Decoder<Deployment> plain{{.projection = projection}};
  Decoder<Deployment> sharing{{.pool = std::make_shared<Pool>(), .projection = projection}};
  for (std::size_t i = 0; i < json.size(); ++i) {
    Deployment expected = *decode_json<Deployment>(json[i]);
    clear(expected);

    EXPECT_EQ(test::item_json(*plain.json(json[i])), test::item_json(expected));
    EXPECT_EQ(*plain.protobuf(protobuf[i]), expected);
    for (int times = 0; times < 3; ++times) {
      EXPECT_EQ(*sharing.json(json[i]), expected);
      EXPECT_EQ(*sharing.protobuf(protobuf[i]), expected);
    }
  }
}

Deployment only(const std::function<void(Deployment& to, const Deployment& from)>& keep,
                Deployment& whole) {
  Deployment kept;
  keep(kept, whole);
  return kept;
}

TEST(Projection, OfEverythingChangesNothing) {
  expect_cleared(Projection{}, [](Deployment&) {});
  expect_cleared(fields<Deployment>("metadata", "spec", "status"), [](Deployment&) {});
  expect_cleared(without_fields<Deployment>(), [](Deployment&) {});
}

TEST(Projection, OfNothingLeavesAnEmptyObject) {
  expect_cleared(fields<Deployment>(), [](Deployment& all) { all = Deployment{}; });
  expect_cleared(without_fields<Deployment>("metadata", "spec", "status"),
                 [](Deployment& all) { all = Deployment{}; });
}

TEST(Projection, KeepsNestedFields) {
  expect_cleared(fields<Deployment>("metadata.name", "spec.replicas", "spec.selector.matchLabels",
                                    "status.conditions.type"),
                 [](Deployment& all) {
                   all = only(
                       [](Deployment& to, const Deployment& from) {
                         to.metadata.name = from.metadata.name;
                         to.spec.replicas = from.spec.replicas;
                         if (from.spec.selector) {
                           to.spec.selector.ensure().match_labels =
                               from.spec.selector->match_labels;
                         }
                         for (const auto& condition : from.status.conditions) {
                           to.status.conditions.emplace_back().type = condition.type;
                         }
                       },
                       all);
                 });
}

TEST(Projection, LeavesOutNestedFields) {
  expect_cleared(without_fields<Deployment>(
                     "metadata.managedFields", "spec.template.spec.containers.env",
                     "spec.template.spec.volumes", "spec.template.metadata.labels['app']",
                     "status.conditions.message"),
                 [](Deployment& all) {
                   all.metadata.managed_fields.reset();
                   for (Container& container : all.spec.template_.spec.containers)
                     container.env.reset();
                   all.spec.template_.spec.volumes.reset();
                   all.spec.template_.metadata.labels.erase("app");
                   for (auto& condition : all.status.conditions) condition.message.clear();
                 });
}

TEST(Projection, ReachesFieldsOfInlineStructs) {
  // In protobuf the probe's handler is a nested message; the path is the JSON path.
  expect_cleared(
      without_fields<Deployment>("spec.template.spec.containers.livenessProbe.httpGet.path",
                                 "spec.template.spec.containers.env.valueFrom.secretKeyRef.name"),
      [](Deployment& all) {
        for (Container& container : all.spec.template_.spec.containers) {
          if (container.liveness_probe && container.liveness_probe->http_get) {
            container.liveness_probe->http_get->path.clear();
          }
          for (auto& variable : container.env) {
            if (variable.value_from && variable.value_from->secret_key_ref) {
              variable.value_from->secret_key_ref->name.clear();
            }
          }
        }
      });
}

TEST(Projection, ChoosesKeysInMapsOfQuantities) {
  expect_cleared(fields<Deployment>("spec.template.spec.containers.resources.limits['memory']",
                                    "spec.template.spec.containers.name"),
                 [](Deployment& all) {
                   Deployment kept;
                   for (const Container& from : all.spec.template_.spec.containers) {
                     Container& to = kept.spec.template_.spec.containers.emplace_back();
                     to.name = from.name;
                     if (const Quantity* memory = from.resources.limits.find("memory")) {
                       to.resources.limits["memory"] = *memory;
                     }
                   }
                   all = kept;
                 });
}

TEST(Projection, MixesWholeAndPartInAnyOrder) {
  for (const Projection& projection :
       {fields<Deployment>("metadata.labels", "metadata.labels['app']", "metadata.name"),
        fields<Deployment>("metadata.labels['app']", "metadata.name", "metadata.labels")}) {
    expect_cleared(projection, [](Deployment& all) {
      Deployment kept;
      kept.metadata.name = all.metadata.name;
      kept.metadata.labels = all.metadata.labels;
      all = kept;
    });
  }
  for (const Projection& projection : {without_fields<Deployment>("metadata", "metadata.name"),
                                       without_fields<Deployment>("metadata.name", "metadata")}) {
    expect_cleared(projection, [](Deployment& all) { all.metadata = {}; });
  }
}

TEST(Projection, ValidatesSkippedFields) {
  Decoder<Pod> decoder{{.projection = fields<Pod>("metadata.name")}};

  EXPECT_EQ(decoder.json(R"({"spec":{"nodeName":5},"metadata":{"name":"p"}})")->metadata.name, "p");
  EXPECT_THROW(static_cast<void>(decoder.json(R"({"spec":{"nodeName":tru}})")), CodecError);
  EXPECT_THROW(static_cast<void>(decoder.json(R"({"spec":{"nodeName":"\q"}})")), CodecError);
  EXPECT_EQ(
      decoder.protobuf(wire::bytes(1, wire::bytes(1, "p")) + wire::bytes(2, wire::integer(10, 5)))
          ->metadata.name,
      "p");
  EXPECT_THROW(static_cast<void>(decoder.protobuf(wire::tag(2, 2) + "\x7f")), CodecError);
}

TEST(Projection, OfAnyJsonGoesThroughArrays) {
  const std::string text =
      R"({"a":{"b":[{"c":1,"d":2},{"d":3},5,[{"c":6,"e":7}]]},"x":{"a":{"b":1}},"f":null})";
  const auto projected = [&](const Projection& projection) {
    Decoder<Value> plain{{.projection = projection}};
    Decoder<Value> sharing{{.pool = std::make_shared<Pool>(), .projection = projection}};
    const std::string json = encode_json(*plain.json(text));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(encode_json(*sharing.json(text)), json);
    return json;
  };
  EXPECT_EQ(projected(fields<Value>("a.b.c")), R"({"a":{"b":[{"c":1},{},5,[{"c":6}]]}})");
  EXPECT_EQ(projected(without_fields<Value>("a.b.c", "x")),
            R"({"a":{"b":[{"d":2},{"d":3},5,[{"e":7}]]},"f":null})");
  EXPECT_EQ(projected(fields<Value>("f", "x.a['b']")), R"({"f":null,"x":{"a":{"b":1}}})");
  EXPECT_EQ(projected(fields<Value>("unknown")), "{}");
}

TEST(Projection, NeedsLessMemory) {
  const std::string item = test::recorded_items("apps_v1_deployments", Format::kProtobuf).at(0);
  Decoder<Deployment> all;
  Decoder<Deployment> few{
      {.projection = without_fields<Deployment>("metadata.managedFields", "metadata.annotations")}};

  EXPECT_LT(bytes_of(few.protobuf(item)).own, bytes_of(all.protobuf(item)).own / 2);
}

std::string refusal(const std::function<Projection()>& make) {
  try {
    static_cast<void>(make());
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Projection, NamesThePathAndTheStepThatDoesNotExist) {
  EXPECT_EQ(refusal([] { return fields<Pod>("spec.nodename"); }),
            "projection \"spec.nodename\": PodSpec has no field \"nodename\"");
  EXPECT_EQ(refusal([] { return fields<Pod>("Spec"); }),
            "projection \"Spec\": Pod has no field \"Spec\"");
  EXPECT_EQ(refusal([] { return without_fields<Pod>("spec.containers.img"); }),
            "projection \"spec.containers.img\": Container has no field \"img\"");
  EXPECT_EQ(refusal([] { return fields<Pod>("metadata.name.first"); }),
            "projection \"metadata.name.first\": string has no field \"first\"");
  EXPECT_EQ(refusal([] { return fields<Pod>("metadata.labels['a'].b"); }),
            "projection \"metadata.labels['a'].b\": string has no field \"b\"");
  EXPECT_EQ(refusal([] { return fields<Pod>("status.startTime.seconds"); }),
            "projection \"status.startTime.seconds\": RFC 3339 time has no field \"seconds\"");
  EXPECT_EQ(refusal([] { return fields<Pod>("metadata.name", ""); }), "projection: empty path");
}

// Regression: a path below one that is named as a whole was not checked.
TEST(Projection, ChecksEveryPath) {
  const std::string expected = "projection \"spec.nodename\": PodSpec has no field \"nodename\"";

  EXPECT_EQ(refusal([] { return fields<Pod>("spec", "spec.nodename"); }), expected);
  EXPECT_EQ(refusal([] { return fields<Pod>("spec.nodename", "spec"); }), expected);
  EXPECT_EQ(refusal([] { return without_fields<Pod>("spec", "spec.nodename"); }), expected);
  EXPECT_EQ(refusal([] { return without_fields<Pod>("spec.nodename", "spec"); }), expected);
}

TEST(Projection, RefusesIndexesAndMalformedPaths) {
  EXPECT_NE(refusal([] { return fields<Pod>("spec.containers[0].image"); }), "nothing was thrown");
  EXPECT_NE(refusal([] { return fields<Pod>("spec..nodeName"); }), "nothing was thrown");
  EXPECT_NE(refusal([] { return fields<Pod>("metadata.labels['a"); }), "nothing was thrown");
}

TEST(Projection, IsAValue) {
  Projection one = fields<Pod>("metadata.name");
  const Projection two = one;
  one = without_fields<Pod>("metadata.name");
  Decoder<Pod> keeps{{.projection = two}};
  Decoder<Pod> drops{{.projection = one}};
  const std::string json = R"({"metadata":{"name":"p","uid":"u"}})";

  EXPECT_EQ(keeps.json(json)->metadata.name, "p");
  EXPECT_EQ(keeps.json(json)->metadata.uid, "");
  EXPECT_EQ(drops.json(json)->metadata.name, "");
  EXPECT_EQ(drops.json(json)->metadata.uid, "u");
  EXPECT_EQ(Projection{}.root(), nullptr);
}

}  // namespace
}  // namespace kube
