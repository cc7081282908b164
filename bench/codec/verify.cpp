// SPDX-License-Identifier: Apache-2.0
//
// Checks that the benchmarks are comparable: that the population is as specified, and that every
// model holds all of a pod. Prints differences, and fails if there are any.
#include "codecs.hpp"
#include "population.hpp"
#include "slim_pod.hpp"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/unknown_field_set.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace {

using namespace kube;
using namespace kube::bench;
using core::v1::Pod;

class Checks {
 public:
  void expect(bool holds, std::string_view what, std::size_t pod) {
    ++count_;
    if (holds) return;
    if (failures_ < 20) fmt::print("pod {}: {}\n", pod, what);
    ++failures_;
  }
  [[nodiscard]] int finish() const {
    fmt::print("{} checks, {} failed\n", count_, failures_);
    return failures_ == 0 ? 0 : 1;
  }

 private:
  std::size_t count_ = 0;
  std::size_t failures_ = 0;
};

void check_uniqueness(const Population& population, Checks& checks) {
  std::set<std::string> seen;
  std::string last;
  for (std::size_t i = 0; i < population.size(); ++i) {
    const Pod pod = population.pod(i);
    const std::string key = pod.metadata.namespace_.str() + '/' + pod.metadata.name.str();
    checks.expect(last < key, "out of order", i);
    last = key;
    checks.expect(seen.insert(pod.metadata.uid.str()).second, "uid not unique", i);
    checks.expect(seen.insert(pod.metadata.resource_version.str()).second, "version not unique", i);
    checks.expect(seen.insert(pod.status.pod_ip.str()).second, "address not unique", i);
    for (const auto& container : pod.status.container_statuses) {
      checks.expect(seen.insert(container.container_id.str()).second, "container id not unique", i);
    }
  }
}

// Deterministic: maps sorted by key, like Kubernetes.
std::string serialise(const wire::Pod& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream{&bytes};
  google::protobuf::io::CodedOutputStream coded{&stream};
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

void check_libprotobuf(const std::string& bytes, std::size_t i, Checks& checks) {
  wire::Pod heap;
  checks.expect(heap.ParseFromString(bytes), "libprotobuf cannot parse it", i);
  checks.expect(serialise(heap) == bytes, "libprotobuf writes something else", i);
  heap.DiscardUnknownFields();
  checks.expect(heap.ByteSizeLong() == bytes.size(), "libprotobuf does not know all fields", i);
}

void check_plain(const std::string& text, std::size_t i, Checks& checks) {
  const auto tree = plain::Json::parse(text);
  auto pod = tree.get<plain::Pod>();
  plain::Json written = pod;
  written["kind"] = "Pod";
  written["apiVersion"] = "v1";
  checks.expect(written == tree, "the plain struct does not hold all of it", i);
  plain::Pod by_simdjson;
  plain::PlainReader{}.read(text, by_simdjson);
  checks.expect(by_simdjson == pod, "simdjson fills the plain struct differently", i);
  const plain::Pod copy = pod;
  checks.expect(copy == pod, "copy of the plain struct differs", i);
}

void check_slim(const Pod& whole, const Pod& projected, const SlimPod& slim, std::size_t i,
                Checks& checks) {
  Pod expected;
  expected.metadata.name = whole.metadata.name;
  expected.metadata.namespace_ = whole.metadata.namespace_;
  expected.metadata.labels = whole.metadata.labels;
  expected.spec.node_name = whole.spec.node_name;
  expected.status.phase = whole.status.phase;
  expected.status.pod_ip = whole.status.pod_ip;
  checks.expect(projected == expected, "the projection keeps something else", i);
  checks.expect(slim.metadata.name == whole.metadata.name &&
                    slim.metadata.namespace_ == whole.metadata.namespace_ &&
                    slim.metadata.labels == whole.metadata.labels &&
                    slim.spec.node_name == whole.spec.node_name &&
                    slim.status.phase == whole.status.phase &&
                    slim.status.pod_ip == whole.status.pod_ip,
                "the slim type holds something else", i);
}

void check_slim_peers(const Pod& pod, const std::string& bytes, const std::string& text,
                      std::size_t i, Checks& checks) {
  plain::SlimPod expected{
      pod.metadata.name.str(),  pod.metadata.namespace_.str(), {},
      pod.spec.node_name.str(), pod.status.phase.str(),        pod.status.pod_ip.str()};
  for (const auto& [key, value] : pod.metadata.labels) expected.labels[key.str()] = value.str();
  plain::SlimPod by_simdjson;
  plain::SlimReader{}.read(text, by_simdjson);
  checks.expect(by_simdjson == expected, "simdjson's slim struct holds something else", i);
  const auto message = SlimProtobuf::decode(bytes);
  const plain::SlimPod by_libprotobuf{
      message->metadata().name(),
      message->metadata().namespace_(),
      {message->metadata().labels().begin(), message->metadata().labels().end()},
      message->spec().nodename(),
      message->status().phase(),
      message->status().podip()};
  checks.expect(by_libprotobuf == expected, "libprotobuf's slim message holds something else", i);
}

struct Decoders {
  std::shared_ptr<Pool> pool = std::make_shared<Pool>();
  Decoder<Pod> pooled{{.pool = pool}};
  Decoder<Pod> pooled_json{{.pool = pool}};
  Decoder<Pod> alone;
  Decoder<Pod> projecting{{.pool = pool, .projection = slim_projection()}};
  Decoder<SlimPod> slim{{.pool = pool}};
};

void check_pod(const Pod& pod, Decoders& decoders, std::size_t i, Checks& checks) {
  const std::string bytes = encode(pod, Format::kProtobuf);
  const std::string text = encode(pod, Format::kJson);
  const auto from_bytes = decoders.pooled.protobuf(bytes);
  const auto from_text = decoders.pooled_json.json(text);
  checks.expect(deep_equal(*from_bytes, pod), "decoded protobuf differs", i);
  checks.expect(deep_equal(*from_text, pod), "decoded JSON differs", i);
  checks.expect(deep_equal(*decoders.alone.protobuf(bytes), pod), "protobuf without pool differs",
                i);
  checks.expect(deep_equal(*decoders.alone.json(text), pod), "JSON without pool differs", i);
  checks.expect(encode(*from_bytes, Format::kProtobuf) == bytes, "protobuf does not come back", i);
  checks.expect(encode(*from_text, Format::kProtobuf) == bytes, "JSON does not become protobuf", i);
  checks.expect(encode(*from_bytes, Format::kJson) == text, "protobuf does not become JSON", i);
  checks.expect(encode(*from_text, Format::kJson) == text, "JSON does not come back", i);
  check_libprotobuf(bytes, i, checks);
  check_plain(text, i, checks);
  check_slim_peers(pod, bytes, text, i, checks);
  check_slim(pod, *decoders.projecting.protobuf(bytes), *decoders.slim.protobuf(bytes), i, checks);
  check_slim(pod, *decoders.projecting.json(text), *decoders.slim.json(text), i, checks);
}

}  // namespace

int main() {
  Checks checks;
  check_uniqueness(Population{{.pods = 20'000}}, checks);
  for (const bool managed_fields : {true, false}) {
    const Population population{{.pods = 2'000, .templates = 80, .managed_fields = managed_fields}};
    Decoders decoders;
    for (std::size_t i = 0; i < population.size(); ++i) {
      for (const unsigned round : {0U, 2U}) {
        const Pod pod = population.pod(i, round);
        checks.expect(pod == population.pod(i, round), "not the same twice", i);
        check_pod(pod, decoders, i, checks);
      }
    }
  }
  return checks.finish();
}
