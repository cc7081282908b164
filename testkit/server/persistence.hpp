// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/requests/engine.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

namespace kube::testkit::detail {

/// The objects of a server in a SQLite file. A write that record() returned from survives the end of the process,
/// however sudden; it may be lost when the machine loses power.
///
/// Thread safety: one thread at a time, as the engine's journal calls it.
class Persistence {
 public:
  /// Opens the file, or makes it. Throws kube::Error, also if another process has it open.
  explicit Persistence(const std::filesystem::path& file);
  ~Persistence();
  Persistence(const Persistence&) = delete;
  Persistence& operator=(const Persistence&) = delete;

  struct Content {
    std::vector<ObjectState> objects;
    /// The version of the last write; 0 for a new file.
    std::uint64_t revision = 0;
  };
  [[nodiscard]] Content load();
  /// Throws kube::Error if it cannot be written; then nothing was.
  void record(const Change& change);
  /// Replaces everything.
  void replace(const Content& content);

 private:
  class Database;
  std::unique_ptr<Database> database_;
};

}  // namespace kube::testkit::detail
