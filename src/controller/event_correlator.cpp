// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/event_correlator.hpp>

#include <kube/codec/json.hpp>
#include <kube/controller/event_sink.hpp>
#include <kube/object/value.hpp>

#include <initializer_list>
#include <limits>
#include <string_view>

namespace kube {
namespace {

std::string join(std::initializer_list<std::string_view> parts) {
  std::string key;
  for (const std::string_view part : parts) key.append(part).push_back('\0');
  return key;
}

std::string source_and_object(const core::v1::Event& event) {
  const core::v1::ObjectReference& object = event.involved_object;
  return join({event.source.component, event.source.host, object.kind, object.namespace_,
               object.name, object.uid, object.api_version, event.type});
}

}  // namespace

EventCorrelator::EventCorrelator(Clock& clock, EventCorrelatorOptions options)
    : clock_(clock),
      options_(options),
      similar_(options.cache_size),
      sent_(options.cache_size),
      tokens_(options.cache_size) {}

std::optional<EventCorrelator::Result> EventCorrelator::correlate(core::v1::Event event) {
  std::string key = aggregate(event);
  std::string patch = count(event, key);
  if (is_spam(event)) return std::nullopt;
  return Result{std::move(event), std::move(patch), std::move(key)};
}

void EventCorrelator::stored(const std::string& key, const core::v1::Event& event) {
  sent_.put(key, {event.metadata.name.str(), event.first_timestamp, event.count});
}

std::string EventCorrelator::aggregate(core::v1::Event& event) {
  std::string key = source_and_object(event) +
                    join({event.reason, event.reporting_component, event.reporting_instance});
  const Clock::TimePoint now = clock_.now();
  Similar* similar = similar_.find(key);
  if (similar == nullptr || now - similar->last > options_.max_pause) {
    similar = &similar_.put(key, {});
  }
  similar->last = now;
  similar->messages.insert(event.message.str());
  if (similar->messages.size() < options_.max_similar) {
    return key + join({event.message, event.involved_object.field_path});
  }
  // the set needs only enough entries to stay at the limit
  similar->messages.erase(similar->messages.begin());
  const Clock::WallTime wall = clock_.wall_now();
  event.metadata.name = detail::event_name(event.involved_object.name, wall);
  event.message = "(combined from similar events): " + event.message.str();
  event.count = 1;
  event.first_timestamp = event.last_timestamp = wall;
  return key;
}

std::string EventCorrelator::count(core::v1::Event& event, const std::string& key) {
  std::string patch;
  if (const Sent* sent = sent_.find(key)) {
    event.metadata.name = sent->name;
    event.first_timestamp = sent->first_timestamp;
    event.count = sent->count < std::numeric_limits<int>::max() ? sent->count + 1 : sent->count;
    patch = encode_json(Value::object({{"count", event.count},
                                       {"lastTimestamp", event.last_timestamp.str()},
                                       {"message", event.message}}));
  }
  stored(key, event);
  return patch;
}

bool EventCorrelator::is_spam(const core::v1::Event& event) {
  const std::string key = source_and_object(event);
  const Clock::TimePoint now = clock_.now();
  Tokens* tokens = tokens_.find(key);
  if (tokens == nullptr) {
    const double rate = 1 / std::chrono::duration<double>{options_.spam_interval}.count();
    tokens = &tokens_.put(key, Tokens{rate, options_.spam_burst, now});
  }
  return !tokens->take(now);
}

}  // namespace kube
