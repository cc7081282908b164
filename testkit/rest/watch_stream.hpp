// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/fields.hpp>
#include <kube/api/labels.hpp>

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testkit/http/message.hpp"
#include "testkit/requests/services.hpp"
#include "testkit/rest/object_encoding.hpp"

namespace kube::testkit::detail {

/// The selectors of a list or watch.
struct Selection {
  labels::Selector labels;
  /// Refers to fields of the stored form.
  field_selectors::Selector fields;

  [[nodiscard]] bool matches(const StoredObject& object) const;
  [[nodiscard]] bool is_everything() const noexcept {
    return labels.matches_everything() && fields.matches_everything();
  }
};

/// The parameters of a watch.
struct WatchPlan {
  ResourcePtr resource;
  Output output;
  IncludeObject include = IncludeObject::kMetadata;
  Selection selection;
  bool bookmarks = false;
  /// Send the current objects first, followed by a bookmark if bookmarks are allowed.
  bool initial = false;
  /// Without `initial`: send the events after this version.
  std::uint64_t after = 0;
  Clock::Duration duration = {};
};

/// The response body of a watch (WT-1 to WT-26).
class WatchStream final : public BodyStream {
 public:
  WatchStream(Services& services, WatchPlan plan, Store::WatchStart start);
  WatchStream(const WatchStream&) = delete;
  WatchStream& operator=(const WatchStream&) = delete;
  ~WatchStream() override;

  Poll poll(std::function<void()> wake) override;

 private:
  /// Returns the frame for an event, or nullopt if the event does not concern the selection
  /// (WT-22).
  std::optional<BodyChunk> frame(const StoreEvent& event);
  BodyChunk object_frame(std::string_view type, const StoredObject& object);
  BodyChunk bookmark(std::uint64_t revision, bool initial_events_end);
  /// Returns true for the first Table frame only.
  bool take_columns() { return std::exchange(columns_, false); }

  /// Ends the watch with the stream, even if the constructor of the stream throws.
  struct Registration {
    Store& store;
    Collection& collection;
    const std::shared_ptr<WatchCursor>& cursor;
    ~Registration() { store.unwatch(collection, cursor); }
  };

  Services& services_;
  const WatchPlan plan_;
  Collection& collection_;
  const std::shared_ptr<WatchCursor> cursor_;
  const Registration registration_;
  ObjectEncoder encoder_;
  const std::string encoding_key_;
  WatchTimers::Handle timer_;
  std::vector<std::pair<std::string, StoredObject>> initial_;
  std::size_t sent_initial_ = 0;
  std::uint64_t initial_revision_ = 0;
  bool initial_pending_ = false;
  std::deque<EventPtr> events_;
  bool columns_ = true;
};

/// Returns a watch that sends one ERROR event with the Status and ends (WT-10).
[[nodiscard]] std::unique_ptr<BodyStream> failing_watch(const Output& output,
                                                        const meta::v1::Status& status);
/// Returns a watch that ends immediately.
[[nodiscard]] std::unique_ptr<BodyStream> empty_watch();

}  // namespace kube::testkit::detail
