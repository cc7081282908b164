// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <map>
#include <utility>

namespace kube::gen {
namespace {

/// Depth-first search over members that are embedded by value.
class Sorter {
 public:
  explicit Sorter(Package& package) : structs_(package.structs), states_(structs_.size()) {
    for (std::size_t i = 0; i < structs_.size(); ++i) index_[structs_[i].name] = i;
  }

  void run() {
    for (std::size_t i = 0; i < structs_.size(); ++i) visit(i);
    std::vector<Struct> sorted;
    sorted.reserve(order_.size());
    for (const std::size_t i : order_) sorted.push_back(std::move(structs_[i]));
    structs_ = std::move(sorted);
  }

 private:
  enum class State : std::uint8_t { kNew, kOpen, kDone };

  void visit(std::size_t i) {
    if (states_[i] != State::kNew) return;
    states_[i] = State::kOpen;
    for (Member& member : structs_[i].members) {
      Shape& shape = member.shape;
      if (shape.kind != Shape::Kind::kStruct || !shape.scope.empty()) continue;
      const auto found = index_.find(shape.name);
      if (found == index_.end()) continue;
      if (states_[found->second] == State::kOpen) {
        shape = Shape::of(Shape::Kind::kBox, Shape{shape});
        member.omit_empty = true;
      } else {
        visit(found->second);
      }
    }
    states_[i] = State::kDone;
    order_.push_back(i);
  }

  std::vector<Struct>& structs_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::vector<State> states_;
  std::vector<std::size_t> order_;
};

bool holds_time(const Shape& shape) {
  if (shape.is_plain("Time") || shape.is_plain("MicroTime")) return true;
  // Built-in structs that users' types embed; their members are not in the model in that case.
  if (shape.kind == Shape::Kind::kStruct && shape.scope == "meta::v1" &&
      (shape.name == "ObjectMeta" || shape.name == "Condition")) {
    return true;
  }
  return !shape.element.empty() && holds_time(shape.element.front());
}

}  // namespace

void sort_structs(Package& package) { Sorter{package}.run(); }

void mark_volatile(std::vector<Package>& packages) {
  std::map<std::pair<std::string, std::string>, Struct*> by_name;
  // Maps each struct to the structs that contain it. Marks propagate from a time to everything
  // around it; each struct is marked once, so that recursive types terminate.
  std::map<const Struct*, std::vector<Struct*>> holders;
  std::vector<Struct*> marked;
  for (Package& package : packages) {
    for (Struct& item : package.structs) by_name[{package.cpp_namespace, item.name}] = &item;
  }
  for (Package& package : packages) {
    for (Struct& item : package.structs) {
      for (const Member& member : item.members) {
        if (holds_time(member.shape) && !item.is_volatile) {
          item.is_volatile = true;
        }
        for_each_struct(member.shape, [&](const Shape& shape) {
          const auto found =
              by_name.find({shape.scope.empty() ? package.cpp_namespace : shape.scope, shape.name});
          if (found != by_name.end()) holders[found->second].push_back(&item);
        });
      }
      if (item.is_volatile) marked.push_back(&item);
    }
  }
  while (!marked.empty()) {
    const Struct* item = marked.back();
    marked.pop_back();
    for (Struct* holder : holders[item]) {
      if (std::exchange(holder->is_volatile, true)) continue;
      marked.push_back(holder);
    }
  }
}

}  // namespace kube::gen
