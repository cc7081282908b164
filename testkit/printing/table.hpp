// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/object/value.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::detail {

/// The object that each row of a Table includes (TB-2).
enum class IncludeObject { kNone, kMetadata, kObject };

/// Converts objects of one kind to rows of a meta.k8s.io Table, as `kubectl get` shows them (TB-1
/// to TB-6).
/// Thread safety: immutable; may be used from any thread.
class TablePrinter {
 public:
  /// Creates the printer of a built-in kind. Kinds without a specific printer have the columns Name
  /// and Created At.
  static TablePrinter for_builtin(std::string_view group, std::string_view kind);
  /// Creates the printer of a custom resource: `columns` is additionalPrinterColumns of its
  /// version; absent or empty gives Name and Age.
  static TablePrinter for_custom(const Value& columns);

  /// Returns columnDefinitions.
  [[nodiscard]] const Value& columns() const noexcept { return columns_; }
  /// Formats one row. `object` has apiVersion and kind. Ages are relative to `now`.
  [[nodiscard]] Value row(const Value& object, IncludeObject include, Clock::WallTime now) const;

 private:
  using Cells = std::function<void(const Value& object, Clock::WallTime now, Value& cells)>;
  TablePrinter(Value columns, Cells cells)
      : columns_(std::move(columns)), cells_(std::move(cells)) {}

  Value columns_;
  Cells cells_;
};

/// Creates the Table. `metadata` is the metadata of the list (resourceVersion, continue,
/// remainingItemCount), or of a single object, of which clients use only the resourceVersion.
/// `columns` may be null, as in later events of a watch (WT-25).
[[nodiscard]] Value make_table(Value metadata, Value columns, Value rows,
                               std::string_view api_version = "meta.k8s.io/v1");

/// Returns the PartialObjectMetadata of an object (TB-5).
[[nodiscard]] Value partial_metadata(const Value& object,
                                     std::string_view api_version = "meta.k8s.io/v1");

/// Formats a duration in at most two units: "45s", "5m", "3h20m", "3d4h", "2y30d".
[[nodiscard]] std::string human_duration(std::chrono::seconds duration);

}  // namespace kube::testkit::detail
