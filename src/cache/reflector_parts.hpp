// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reflector_core.hpp"

#include <kube/cache/indexer_core.hpp>

/// The data of a ReflectorCore, grouped by the state that needs it.
namespace kube::detail {

struct ReflectorCore::Listing {
  ListOptions wanted;   ///< options of the first page
  ListOptions options;  ///< options of this page
  std::vector<ObjectRef> items;
  ListMetadata first;  ///< metadata of the first page, which has the version of the list
  int page = 1;
  std::size_t items_before = 0;  ///< number of items of earlier pages
  bool is_restarted = false;     ///< restarted because the requested version was not available
  bool is_whole = false;         ///< the continue token expired: all objects at once
  Clock::TimePoint start{};
  std::unique_ptr<AsyncList> operation;  ///< null before a page is requested
};

struct ReflectorCore::Streaming {
  explicit Streaming(const ObjectAccess& access)
      : arriving(access, {.label_index = false, .namespace_index = false}) {}

  ListOptions options;
  Clock::TimePoint start{};
  std::unique_ptr<AsyncWatch> operation;
  std::size_t events = 0;
  Clock::TimePoint last_event{};
  bool any_event = false;
  bool is_complete = false;
  std::string version;
  /// The objects that have arrived. Changes are applied in batches.
  IndexerCore arriving;
  std::vector<StoreChange> changes;

  void add(StoreChange change);
  void flush();
  [[nodiscard]] std::vector<ObjectRef> objects();
};

struct ReflectorCore::Checking {
  std::vector<ObjectRef> items;  ///< objects that were streamed
  std::vector<ObjectRef> listed;
  std::unique_ptr<AsyncList> operation;
};

struct ReflectorCore::Watching {
  ListOptions options;
  std::unique_ptr<AsyncWatch> operation;
  std::size_t events = 0;
  /// True until the first change: initial events describe existing objects, in any order.
  bool is_synthetic = false;
  Clock::TimePoint start{};
};

}  // namespace kube::detail
