// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/event_series.hpp>

#include <kube/codec/json.hpp>
#include <kube/object/value.hpp>

#include <limits>
#include <utility>

namespace kube {
namespace {

std::string key_of_series(const events::v1::Event& event) {
  std::string key = encode_json(event.regarding);
  if (event.related) key += encode_json(*event.related);
  for (const String* part : {&event.type, &event.action, &event.reason, &event.reporting_controller,
                             &event.reporting_instance}) {
    key.append(part->view()).push_back('\0');
  }
  return key;
}

}  // namespace

std::optional<events::v1::Event> EventSeriesTracker::observe(events::v1::Event event) {
  const std::string key = key_of_series(event);
  events::v1::Event* known = events_.find(key);
  if (known == nullptr) return events_.put(key, std::move(event));
  if (known->series) {
    if (known->series->count < std::numeric_limits<int>::max()) ++known->series->count;
    known->series->last_observed_time = event.event_time;
    return std::nullopt;
  }
  known->series = events::v1::EventSeries{.count = 2, .last_observed_time = event.event_time};
  return *known;
}

void EventSeriesTracker::stored(const events::v1::Event& sent, const events::v1::Event& stored) {
  if (events::v1::Event* known = events_.find(key_of_series(sent)))
    known->metadata = stored.metadata;
}

std::vector<events::v1::Event> EventSeriesTracker::running() {
  std::vector<events::v1::Event> series;
  events_.erase_if([&](const events::v1::Event& event) {
    if (event.series) series.push_back(event);
    return false;
  });
  return series;
}

std::vector<events::v1::Event> EventSeriesTracker::finish(Clock::WallTime now) {
  const MicroTime limit = now - std::chrono::duration_cast<Clock::WallTime::duration>(kFinishAfter);
  std::vector<events::v1::Event> series;
  events_.erase_if([&](const events::v1::Event& event) {
    MicroTime last = event.event_time;
    if (event.series) last = event.series->last_observed_time;
    if (last >= limit) return false;
    if (event.series) series.push_back(event);
    return true;
  });
  return series;
}

std::string series_patch(const events::v1::Event& event) {
  return encode_json(Value::object(
      {{"series", Value::object({{"count", event.series->count},
                                 {"lastObservedTime", event.series->last_observed_time.str()}})}}));
}

}  // namespace kube
