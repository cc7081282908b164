// SPDX-License-Identifier: Apache-2.0
#include "view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace demo {
namespace {

std::string number(std::optional<std::int32_t> value) {
  return value ? fmt::to_string(*value) : "-";
}

std::string bytes_text(std::size_t bytes) {
  return bytes < 10'000 ? fmt::format("{} B", bytes) : fmt::format("{} KB", bytes / 1000);
}

void add_title(Frame& frame, const Journal& journal, const std::string& where, Size size) {
  const std::string time = time_text(journal.time());
  Line line;
  line.add(" kubecxx ", Style::kTitle).add("  the sample controller on " + where);
  const std::string right = time.substr(0, time.size() - 2) + "  Ctrl-C ends it ";
  const std::size_t gap =
      size.columns > line.width() + right.size() ? size.columns - line.width() - right.size() : 2;
  line.add(std::string(gap, ' ')).add(right, Style::kDim);
  frame.push_back(std::move(line));
  frame.emplace_back();
  for (const std::string& text : wrapped(journal.caption(), size.columns - 4)) {
    frame.emplace_back("  " + text, Style::kBold);
  }
  frame.emplace_back();
}

void add_informers(Frame& frame, const Pipeline& pipeline) {
  frame.push_back(Line{}
                      .cell("  INFORMER", 16, Style::kDim)
                      .cell("REFLECTOR", 26, Style::kDim)
                      .cell("LISTS", 7, Style::kDim)
                      .cell("WATCHES", 9, Style::kDim)
                      .cell("CACHE", 24, Style::kDim)
                      .add("HANDLER BACKLOG", Style::kDim));
  for (const InformerStatus& one : pipeline.informers()) {
    frame.push_back(
        Line{}
            .cell("  " + one.resource, 16)
            .cell(one.state, 15, one.healthy ? Style::kGood : Style::kBad)
            .cell(one.version.empty() ? "" : "at " + one.version, 11, Style::kDim)
            .cell(fmt::to_string(one.lists), 7)
            .cell(fmt::to_string(one.watches), 9)
            .cell(fmt::format("{} objects, {}", one.objects, bytes_text(one.bytes)), 24)
            .add(fmt::to_string(one.backlog), one.backlog > 0 ? Style::kBad : Style::kPlain));
  }
}

void add_controller(Frame& frame, Pipeline& pipeline) {
  const ControllerStatus now = pipeline.controller();
  frame.emplace_back();
  frame.push_back(
      Line{}
          .add("  queue ", Style::kDim)
          .add(fmt::format("{} waiting", now.queued), now.queued > 0 ? Style::kBold : Style::kPlain)
          .add(fmt::format(", {} added, {} retried", now.added, now.retried))
          .add("    reconciles ", Style::kDim)
          .add(fmt::format("{} succeeded", now.succeeded), Style::kGood)
          .add(", ")
          .add(fmt::format("{} failed", now.failed), now.failed > 0 ? Style::kBad : Style::kPlain)
          .add(fmt::format("    {} workers", Pipeline::kWorkers), Style::kDim));
  frame.emplace_back();
}

void add_objects(Frame& frame, const Pipeline& pipeline, std::size_t columns) {
  frame.push_back(Line{}
                      .cell("  FOO", 16, Style::kDim)
                      .cell("WANTS", 8, Style::kDim)
                      .cell("AVAILABLE", 12, Style::kDim)
                      .cell("DEPLOYMENT", 25, Style::kDim)
                      .add("PODS", Style::kDim));
  for (const FooRow& row : pipeline.foos()) {
    const bool settled = row.owned && row.available == row.wanted;
    const std::string deployment =
        !row.has_deployment ? "none"
        : row.owned         ? fmt::format("{} replicas, {} ready", row.replicas, row.ready)
                            : "of somebody else";
    Line line;
    line.cell("  " + row.name, 16)
        .cell(number(row.wanted), 8)
        .cell(number(row.available), 12, settled ? Style::kGood : Style::kBad)
        .cell(deployment, 25, row.owned ? Style::kPlain : Style::kBad);
    for (const char pod : row.pods.substr(0, columns)) {
      line.add(std::string(1, pod), pod == '#' ? Style::kGood : Style::kBad);
    }
    frame.push_back(std::move(line));
  }
}

Style style_of(Journal::Kind kind) {
  switch (kind) {
    case Journal::Kind::kTrouble:
      return Style::kBad;
    case Journal::Kind::kInformer:
      return Style::kDim;
    default:
      return Style::kPlain;
  }
}

}  // namespace

Frame draw(Pipeline& pipeline, const Journal& journal, const std::string& where, Size size) {
  Frame frame;
  add_title(frame, journal, where, size);
  add_informers(frame, pipeline);
  add_controller(frame, pipeline);
  add_objects(frame, pipeline, size.columns);
  frame.emplace_back();
  frame.emplace_back("  WHAT HAPPENED", Style::kDim);
  const std::size_t left = size.rows > frame.size() ? size.rows - frame.size() : 0;
  for (const Journal::Entry& entry : journal.last(left)) {
    frame.emplace_back(line_text(entry), style_of(entry.kind));
  }
  frame.resize(size.rows);
  for (Line& line : frame) line = line.cut(size.columns);
  return frame;
}

}  // namespace demo
