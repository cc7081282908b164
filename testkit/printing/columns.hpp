// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/object/value.hpp>

#include <span>
#include <string>
#include <string_view>

/// The columns of built-in kinds as data, and helpers for their cells.
namespace kube::testkit::detail {

struct TableColumn {
  const char* name;
  const char* type;
  Value (*cell)(const Value& object, Clock::WallTime now);
  int priority = 0;
  const char* format = "";
};

struct Table {
  std::string_view group;
  std::string_view kind;
  std::span<const TableColumn> columns;
};

/// Returns the columns of a kind; empty if it has no specific printer.
[[nodiscard]] std::span<const TableColumn> builtin_columns(std::string_view group,
                                                           std::string_view kind);
/// Columns by area; each function covers some kinds.
[[nodiscard]] std::span<const TableColumn> pod_columns();
[[nodiscard]] std::span<const TableColumn> workload_columns(std::string_view group,
                                                            std::string_view kind);
[[nodiscard]] std::span<const TableColumn> network_columns(std::string_view group,
                                                           std::string_view kind);
[[nodiscard]] std::span<const TableColumn> cluster_columns(std::string_view group,
                                                           std::string_view kind);
[[nodiscard]] std::span<const TableColumn> administration_columns(std::string_view group,
                                                                  std::string_view kind);

// Accessors for parts of objects. A value of the wrong type counts as absent.
[[nodiscard]] std::string_view text_at(const Value& object, std::string_view path);
[[nodiscard]] std::int64_t number_at(const Value& object, std::string_view path);
[[nodiscard]] bool bool_at(const Value& object, std::string_view path);
[[nodiscard]] const List<Value>& list_at(const Value& object, std::string_view path);
/// Returns the text, or `otherwise` if it is absent or empty.
[[nodiscard]] std::string text_or(const Value& object, std::string_view path,
                                  std::string_view otherwise);

/// Formats the age of the time at `path`; "<unknown>" if it is not set.
[[nodiscard]] std::string since(const Value& object, std::string_view path, Clock::WallTime now);
/// Formats the age of a time given as text.
[[nodiscard]] std::string since_text(std::string_view time, Clock::WallTime now);

Value name_cell(const Value& object, Clock::WallTime now);
Value age_cell(const Value& object, Clock::WallTime now);

}  // namespace kube::testkit::detail
