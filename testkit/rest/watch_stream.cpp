// SPDX-License-Identifier: Apache-2.0
#include "testkit/rest/watch_stream.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "testkit/kinds/conversion.hpp"

namespace kube::testkit::detail {

namespace {

class FixedStream final : public BodyStream {
 public:
  explicit FixedStream(std::optional<BodyChunk> chunk) : chunk_(std::move(chunk)) {}
  Poll poll(std::function<void()>) override {
    if (!chunk_) return {Poll::State::kEnd, {}};
    return {Poll::State::kChunk, *std::exchange(chunk_, std::nullopt)};
  }

 private:
  std::optional<BodyChunk> chunk_;
};

/// Returns the first non-empty text among `paths`, which are separated by '|'.
std::string first_text(const StoredObject& object, std::string_view paths) {
  while (true) {
    const std::size_t bar = paths.find('|');
    std::string text = object.field_text(paths.substr(0, bar));
    if (!text.empty() || bar == std::string_view::npos) return text;
    paths.remove_prefix(bar + 1);
  }
}

}  // namespace

bool Selection::matches(const StoredObject& object) const {
  return std::ranges::all_of(fields.requirements(),
                             [&](const field_selectors::Requirement& term) {
                               return term.matches(first_text(object, term.field));
                             }) &&
         object.matches(labels);
}

WatchStream::WatchStream(Services& services, WatchPlan plan, Store::WatchStart start)
    : services_(services),
      plan_(std::move(plan)),
      collection_(*plan_.resource->collection),
      cursor_(std::move(start.cursor)),
      registration_{services.store, collection_, cursor_},
      encoder_(services.codec, *plan_.resource, plan_.output, plan_.include,
               services.clock.wall_now()),
      encoding_key_(fmt::format("{}/{}/{}/{}/{}", plan_.resource->api_version(),
                                plan_.resource->is_custom() ? plan_.resource->custom->schema_id : 0,
                                static_cast<int>(plan_.output.format),
                                static_cast<int>(plan_.output.transform),
                                plan_.output.transform_version)),
      initial_(std::move(start.initial)),
      initial_revision_(start.revision),
      initial_pending_(plan_.initial) {
  if (!plan_.initial) services_.store.initial_done(collection_, *cursor_);
  const Clock::TimePoint now = services_.clock.now();
  timer_ = services_.watch_timers.add({cursor_, plan_.bookmarks,
                                       plan_.initial ? start.revision : plan_.after,
                                       now + WatchTimers::kBookmarkPeriod, now + plan_.duration});
}

WatchStream::~WatchStream() { services_.watch_timers.remove(timer_); }

BodyStream::Poll WatchStream::poll(std::function<void()> wake) {
  while (sent_initial_ < initial_.size()) {
    const StoredObject object = std::move(initial_[sent_initial_].second);
    ++sent_initial_;
    if (plan_.selection.matches(object))
      return {Poll::State::kChunk, object_frame("ADDED", object)};
  }
  if (initial_pending_) {
    initial_pending_ = false;
    initial_ = {};
    sent_initial_ = 0;
    services_.store.initial_done(collection_, *cursor_);
    if (plan_.bookmarks) return {Poll::State::kChunk, bookmark(initial_revision_, true)};
  }
  cursor_->set_wake(std::move(wake));
  while (true) {
    while (!events_.empty()) {
      const EventPtr event = std::move(events_.front());
      events_.pop_front();
      if (auto chunk = frame(*event)) return {Poll::State::kChunk, std::move(*chunk)};
    }
    Store::Batch batch = services_.store.read(collection_, *cursor_);
    if (batch.ended) return {Poll::State::kEnd, {}};
    if (batch.bookmark) return {Poll::State::kChunk, bookmark(*batch.bookmark, false)};
    if (batch.events.empty()) return {Poll::State::kWait, {}};
    events_.assign(batch.events.begin(), batch.events.end());
  }
}

std::optional<BodyChunk> WatchStream::frame(const StoreEvent& event) {
  if (event.revision <= plan_.after) return std::nullopt;
  const bool deleted = event.type == Change::Type::kDeleted;
  const bool matched = event.previous && plan_.selection.matches(event.previous);
  const bool matches = !deleted && plan_.selection.matches(event.object);
  if (!matched && !matches) return std::nullopt;
  const std::string_view type = !matches ? "DELETED" : matched ? "MODIFIED" : "ADDED";
  const bool left = !matches && !deleted;
  if (plan_.output.transform == Transform::kTable) {
    return object_frame(
        type, left ? services_.codec.with_revision(event.previous, event.revision) : event.object);
  }
  // An object that leaves the selection is sent in its previous state, with the version of the
  // change.
  const auto encoded = event.encodings.get(left ? encoding_key_ + "/left" : encoding_key_, [&] {
    const StoredObject object =
        left ? services_.codec.with_revision(event.previous, event.revision) : event.object;
    return encoder_.event_object(as_served(services_.codec, *plan_.resource, object), false);
  });
  return BodyChunk{watch_frame(plan_.output.format, type, *encoded), FrameKind::kEvent,
                   event.revision};
}

BodyChunk WatchStream::object_frame(std::string_view type, const StoredObject& object) {
  const StoredObject shown = as_served(services_.codec, *plan_.resource, object);
  return {watch_frame(plan_.output.format, type, encoder_.event_object(shown, take_columns())),
          FrameKind::kEvent, object.revision()};
}

BodyChunk WatchStream::bookmark(std::uint64_t revision, bool initial_events_end) {
  return {watch_frame(plan_.output.format, "BOOKMARK",
                      encoder_.bookmark(revision, initial_events_end, take_columns())),
          initial_events_end ? FrameKind::kInitialEventsEnd : FrameKind::kBookmark, revision};
}

std::unique_ptr<BodyStream> failing_watch(const Output& output, const meta::v1::Status& status) {
  Output plain{.format = output.format};
  std::string object = encode_as(plain, status);
  if (plain.format == Format::kJson) object.pop_back();  // the line break
  return std::make_unique<FixedStream>(
      BodyChunk{watch_frame(plain.format, "ERROR", object), FrameKind::kError, 0});
}

std::unique_ptr<BodyStream> empty_watch() { return std::make_unique<FixedStream>(std::nullopt); }

}  // namespace kube::testkit::detail
