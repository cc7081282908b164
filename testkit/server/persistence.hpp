// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/requests/engine.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

namespace kube::testkit::detail {

/// Persists the objects of a server in a SQLite file. A write survives a crash of the process once
/// record() has returned. It may be lost when the machine loses power.
///
/// Thread safety: one thread at a time; called by the engine's journal.
class Persistence {
 public:
  /// Opens or creates the file. Throws kube::Error, also if another process has it open.
  explicit Persistence(const std::filesystem::path& file);
  ~Persistence();
  Persistence(const Persistence&) = delete;
  Persistence& operator=(const Persistence&) = delete;

  struct Content {
    std::vector<ObjectState> objects;
    /// The resource version of the last write; 0 for a new file.
    std::uint64_t revision = 0;
  };
  [[nodiscard]] Content load();
  /// Persists one change. Throws kube::Error if it cannot be written; the file is then unchanged.
  void record(const Change& change);
  /// Replaces the whole content of the file.
  void replace(const Content& content);

 private:
  class Database;
  std::unique_ptr<Database> database_;
};

}  // namespace kube::testkit::detail
