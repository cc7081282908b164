// SPDX-License-Identifier: Apache-2.0
#include "recording.hpp"

#include "population.hpp"

#include <kube/api/meta/v1.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kube::bench {
namespace {

/// Appends a bytes field to a protobuf message.
void put(std::string& message, int number, std::string_view bytes) {
  message += static_cast<char>(number << 3 | 2);
  std::size_t size = bytes.size();
  for (; size >= 0x80; size >>= 7) message += static_cast<char>(size | 0x80);
  message += static_cast<char>(size);
  message += bytes;
}

std::string envelope(std::string_view kind, std::string_view object) {
  std::string type;
  put(type, 1, "v1");
  put(type, 2, kind);
  std::string bytes{"k8s\0", 4};
  put(bytes, 1, type);
  put(bytes, 2, object);
  return bytes;
}

/// Encodes an event; the object is in its envelope.
std::string frame(std::string_view type, std::string_view object) {
  std::string raw;
  put(raw, 1, object);
  std::string event;
  put(event, 1, type);
  put(event, 2, raw);
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(event.size() >> static_cast<unsigned>(shift));
  }
  return bytes += event;
}

std::string frame(std::string_view type, const core::v1::Pod& pod, Format format) {
  if (format == Format::kProtobuf) return frame(type, encode_protobuf(pod));
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, encode_json(pod));
}

}  // namespace

Recording::Recording(std::size_t pods) {
  const Population population{{.pods = pods, .templates = std::max<std::size_t>(1, pods / 125)}};
  for (unsigned round = 0; round < states_.size(); ++round) {
    states_[round] = encode_all(population, Format::kProtobuf, round);
  }
  for (unsigned round = 0; round < orders_.size(); ++round) {
    orders_[round] = shuffled(pods, round + 1);
  }
}

std::string Recording::page(std::size_t first, std::size_t limit, std::size_t& next) const {
  const std::size_t end = limit == 0 ? size() : std::min(size(), first + limit);
  next = end == size() ? 0 : end;
  std::string head;
  put(head, 2, kFirstVersion);
  if (next != 0) put(head, 3, std::to_string(next));
  std::string list;
  put(list, 1, head);
  for (std::size_t i = first; i < end; ++i) put(list, 2, states_[0][i]);
  return envelope("PodList", list);
}

std::string Recording::added(std::size_t pod, Format format) const {
  if (format == Format::kJson) {
    return frame("ADDED", *decode_protobuf_message<core::v1::Pod>(states_[0][pod]), format);
  }
  return frame("ADDED", envelope("Pod", states_[0][pod]));
}

const std::string& Recording::update(std::size_t n) const {
  const std::size_t round = n / size() % orders_.size();
  return states_[1 + round][orders_[round][n % size()]];
}

std::string Recording::modified(std::size_t n) const {
  return frame("MODIFIED", envelope("Pod", update(n)));
}

std::string Recording::stamped(std::size_t n, Format format) const {
  core::v1::Pod pod = *decode_protobuf_message<core::v1::Pod>(update(n));
  pod.metadata.annotations[kStampAnnotation] = kNoStamp;
  return frame("MODIFIED", pod, format);
}

std::string Recording::bookmark(bool initial_events_end, Format format) {
  core::v1::Pod pod;
  pod.metadata.resource_version = initial_events_end ? kFirstVersion : kLastVersion;
  if (initial_events_end) pod.metadata.annotations = {{"k8s.io/initial-events-end", "true"}};
  return frame("BOOKMARK", pod, format);
}

std::string Recording::expired() {
  meta::v1::Status status;
  status.status = "Failure";
  status.reason = "Expired";
  status.code = 410;
  return frame("ERROR", encode_protobuf(status));
}

}  // namespace kube::bench
