// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace demo {

/// The log of the demo, in order.
/// Thread safety: all methods, from any thread.
class Journal {
 public:
  enum class Kind {
    kCaption,  ///< a step of the story
    kObject,   ///< an object changed
    kInformer,
    kTrouble,  ///< a failure, injected or not
  };
  struct Entry {
    kube::Clock::Duration at{};
    Kind kind = Kind::kObject;
    std::string text;
  };

  /// `hear` is called with each new entry, one call at a time; may be null.
  explicit Journal(std::function<void(const Entry&)> hear = nullptr);

  void add(Kind kind, std::string text);
  /// Returns a logger that adds warnings and errors of the library and of the controller as
  /// entries.
  [[nodiscard]] kube::Logger logger();

  /// Returns the last `count` entries without captions, oldest first.
  [[nodiscard]] std::vector<Entry> last(std::size_t count) const;
  [[nodiscard]] std::string caption() const;
  /// The time since the journal was created.
  [[nodiscard]] kube::Clock::Duration time() const;

 private:
  static constexpr std::size_t kKept = 200;

  const std::function<void(const Entry&)> hear_;
  const kube::Clock::TimePoint begin_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::deque<Entry> entries_;
  std::string caption_;
};

/// Formats a time like "1:02.345".
[[nodiscard]] std::string time_text(kube::Clock::Duration time);
/// Formats an entry like " 1:02.345 Deployment shop has 3 replicas".
[[nodiscard]] std::string line_text(const Journal::Entry& entry);

}  // namespace demo
