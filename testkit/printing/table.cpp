// SPDX-License-Identifier: Apache-2.0
#include "testkit/printing/table.hpp"

#include "testkit/printing/columns.hpp"
#include "testkit/values/json_path.hpp"
#include "testkit/values/value_edit.hpp"

#include <kube/api/time_text.hpp>
#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <stdexcept>

namespace kube::testkit::detail {

namespace {

Value definition(std::string_view name, std::string_view type, std::string_view format,
                 std::string_view description, std::int64_t priority) {
  return Value::object({{"name", name},
                        {"type", type},
                        {"format", format},
                        {"description", description},
                        {"priority", Value::integer(priority)}});
}

Value created_at_cell(const Value& object, Clock::WallTime) {
  const std::string_view time = text_at(object, "metadata.creationTimestamp");
  return time.empty() ? std::string_view{"0001-01-01T00:00:00Z"} : time;
}

constexpr TableColumn kDefaultColumns[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Created At", "date", created_at_cell},
};

/// Converts a value to a cell of a column of that type; null if it does not fit.
Value custom_cell(std::string_view type, const Value& value, Clock::WallTime now) {
  const bool is_number =
      value.kind() == Value::Kind::kInteger || value.kind() == Value::Kind::kDouble;
  if (type == "string") {
    if (value.is_null()) return "<nil>";
    return value.is_string() ? Value{value} : Value{encode_json(value)};
  }
  if (type == "integer" && is_number) return static_cast<std::int64_t>(value.as_double());
  if (type == "number" && is_number) return value;
  if (type == "boolean" && value.kind() == Value::Kind::kBool) return value;
  if (type == "date" && value.is_string()) return since_text(value.as_string(), now);
  return nullptr;
}

struct CustomColumn {
  std::optional<JsonPath> path;
  std::string type;
};

}  // namespace

TablePrinter TablePrinter::for_builtin(std::string_view group, std::string_view kind) {
  std::span<const TableColumn> columns = builtin_columns(group, kind);
  if (columns.empty()) columns = kDefaultColumns;
  Value definitions = Value::array();
  for (const TableColumn& column : columns) {
    definitions.push_back(definition(column.name, column.type, column.format, "", column.priority));
  }
  return {std::move(definitions),
          [columns](const Value& object, Clock::WallTime now, Value& cells) {
            for (const TableColumn& column : columns) cells.push_back(column.cell(object, now));
          }};
}

TablePrinter TablePrinter::for_custom(const Value& columns) {
  Value definitions = Value::array();
  definitions.push_back(definition("Name", "string", "name", "", 0));
  auto custom = std::make_shared<std::vector<CustomColumn>>();
  if (columns.size() == 0) {
    definitions.push_back(definition("Age", "date", "", "", 0));
    custom->push_back({JsonPath{".metadata.creationTimestamp"}, "date"});
  } else {
    for (const Value& column : columns.as_array()) {
      const std::string_view path = text_member(column, "jsonPath");
      const std::string_view type = text_member(column, "type");
      std::string description{text_member(column, "description")};
      if (description.empty()) {
        description =
            fmt::format("Custom resource definition column (in JSONPath format): {}", path);
      }
      definitions.push_back(definition(text_member(column, "name"), type,
                                       text_member(column, "format"), description,
                                       number_at(column, "priority")));
      CustomColumn& made = custom->emplace_back(CustomColumn{std::nullopt, std::string{type}});
      try {
        made.path.emplace(path);
      } catch (const std::invalid_argument&) {  // the cell stays empty, as on the real server
      }
    }
  }
  return {std::move(definitions), [custom](const Value& object, Clock::WallTime now, Value& cells) {
            cells.push_back(name_cell(object, now));
            for (const CustomColumn& column : *custom) {
              const Value* value = column.path ? column.path->first(object) : nullptr;
              cells.push_back(value == nullptr ? Value{nullptr}
                                               : custom_cell(column.type, *value, now));
            }
          }};
}

Value TablePrinter::row(const Value& object, IncludeObject include, Clock::WallTime now) const {
  Value row = Value::object();
  Value cells = Value::array();
  cells_(object, now, cells);
  row["cells"] = std::move(cells);
  if (text_member(object, "kind") == "Pod" && text_member(object, "apiVersion") == "v1") {
    const std::string_view phase = text_at(object, "status.phase");
    if (phase == "Succeeded" || phase == "Failed") {
      row["conditions"] = Value::array({Value::object(
          {{"type", "Completed"},
           {"status", "True"},
           {"reason", phase},
           {"message",
            phase == "Failed" ? "The pod failed." : "The pod has completed successfully."}})});
    }
  }
  row["object"] = include == IncludeObject::kNone       ? Value{nullptr}
                  : include == IncludeObject::kMetadata ? partial_metadata(object)
                                                        : Value{object};
  return row;
}

Value make_table(Value metadata, Value columns, Value rows, std::string_view api_version) {
  Value kept = Value::object();
  for (const char* name : {"continue", "remainingItemCount", "resourceVersion"}) {
    const Value* found = member(metadata, name);
    if (found == nullptr || found->is_null() || (found->is_string() && found->as_string().empty()))
      continue;
    kept[name] = *found;
  }
  Value table = Value::object();
  table["apiVersion"] = api_version;
  table["columnDefinitions"] = std::move(columns);
  table["kind"] = "Table";
  table["metadata"] = std::move(kept);
  table["rows"] = std::move(rows);
  return table;
}

Value partial_metadata(const Value& object, std::string_view api_version) {
  const Value* metadata = member(object, "metadata");
  return Value::object({{"apiVersion", api_version},
                        {"kind", "PartialObjectMetadata"},
                        {"metadata", metadata == nullptr ? Value::object() : *metadata}});
}

std::string human_duration(std::chrono::seconds duration) {
  const auto two = [](std::int64_t large, char large_unit, std::int64_t small, char small_unit) {
    return small == 0 ? fmt::format("{}{}", large, large_unit)
                      : fmt::format("{}{}{}{}", large, large_unit, small, small_unit);
  };
  const std::int64_t seconds = duration.count();
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return fmt::format("{}s", seconds);
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return fmt::format("{}m", minutes);
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return fmt::format("{}h", hours);
  const std::int64_t days = hours / 24;
  if (days < 8) return two(days, 'd', hours % 24, 'h');
  if (days / 365 < 2) return fmt::format("{}d", days);
  if (days / 365 < 8) return two(days / 365, 'y', days % 365, 'd');
  return fmt::format("{}y", days / 365);
}

std::span<const TableColumn> builtin_columns(std::string_view group, std::string_view kind) {
  if (group.empty() && kind == "Pod") return pod_columns();
  for (const auto find :
       {workload_columns, network_columns, cluster_columns, administration_columns}) {
    if (const auto columns = find(group, kind); !columns.empty()) return columns;
  }
  return {};
}

std::string_view text_at(const Value& object, std::string_view path) {
  const Value* found = object.find(path);
  return found != nullptr && found->is_string() ? found->as_string() : std::string_view{};
}

std::string text_or(const Value& object, std::string_view path, std::string_view otherwise) {
  const std::string_view found = text_at(object, path);
  return std::string{found.empty() ? otherwise : found};
}

std::int64_t number_at(const Value& object, std::string_view path) {
  const Value* found = object.find(path);
  return found != nullptr && found->kind() == Value::Kind::kInteger ? found->as_integer() : 0;
}

bool bool_at(const Value& object, std::string_view path) {
  const Value* found = object.find(path);
  return found != nullptr && found->kind() == Value::Kind::kBool && found->as_bool();
}

const List<Value>& list_at(const Value& object, std::string_view path) {
  static const List<Value> kNone;
  const Value* found = object.find(path);
  return found != nullptr && found->is_array() ? found->as_array() : kNone;
}

std::string since_text(std::string_view time, Clock::WallTime now) {
  const auto micros = time_text::parse_micros(time);
  if (!micros) return time.empty() ? "<unknown>" : "<invalid>";
  const std::int64_t passed = time_text::micros_from_time_point(now) - *micros;
  return human_duration(std::chrono::seconds{passed / 1'000'000});
}

std::string since(const Value& object, std::string_view path, Clock::WallTime now) {
  return since_text(text_at(object, path), now);
}

Value name_cell(const Value& object, Clock::WallTime) { return text_at(object, "metadata.name"); }

Value age_cell(const Value& object, Clock::WallTime now) {
  return since(object, "metadata.creationTimestamp", now);
}

}  // namespace kube::testkit::detail
