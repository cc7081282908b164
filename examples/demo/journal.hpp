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

/// What happened so far, in order. Thread safety: all methods, from any thread.
class Journal {
 public:
  enum class Kind {
    kCaption,  ///< what the story does
    kObject,   ///< an object changed
    kInformer,
    kTrouble,  ///< something failed, on purpose or not
  };
  struct Entry {
    kube::Clock::Duration at{};
    Kind kind = Kind::kObject;
    std::string text;
  };

  /// `hear` gets each entry as it comes, one after the other; null: nobody.
  explicit Journal(std::function<void(const Entry&)> hear = nullptr);

  void add(Kind kind, std::string text);
  /// Warnings and errors of the library and of the controller become entries.
  [[nodiscard]] kube::Logger logger();

  /// The last `count` entries without captions, oldest first.
  [[nodiscard]] std::vector<Entry> last(std::size_t count) const;
  [[nodiscard]] std::string caption() const;
  /// Since the journal was begun.
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

/// "1:02.345"
[[nodiscard]] std::string time_text(kube::Clock::Duration time);
/// "   1:02.345  Deployment shop has 3 replicas"
[[nodiscard]] std::string line_text(const Journal::Entry& entry);

}  // namespace demo
