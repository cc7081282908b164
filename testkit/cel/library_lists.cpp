// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace kube::testkit::cel {

namespace {

using Int = std::int64_t;

const ListData& list_of(Arguments a) { return *a[0].get<ListPtr>(); }

/// Collects the elements. Returns an error if one of them is an error.
Val elements_of(Meter& meter, const ListData& list, std::vector<Val>& elements) {
  meter.step(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    elements.push_back(list.at(i));
    if (elements.back().is_error()) return elements.back();
  }
  return true;
}

Val is_sorted(Meter& meter, Arguments a) {
  const ListData& list = list_of(a);
  meter.step(list.size());
  for (std::size_t i = 1; i < list.size(); ++i) {
    const Val order = compare(list.at(i - 1), list.at(i));
    if (order.is_error()) return order;
    if (order.get<Int>() > 0) return false;
  }
  return true;
}

Val sum(Meter& meter, Arguments a) {
  const ListData& list = list_of(a);
  if (list.size() == 0) {
    const Type* element = list.type == nullptr ? nullptr : list.type->parameters[0].get();
    if (element != nullptr && element->kind == TypeKind::kDouble) return 0.0;
    if (element != nullptr && element->kind == TypeKind::kDuration) return Duration{0};
    return Int{0};
  }
  Val total = list.at(0);
  const std::vector<Overload>& additions = *find_functions("_+_");
  for (std::size_t i = 1; i < list.size() && !total.is_error(); ++i) {
    const Val pair[] = {total, list.at(i)};
    if (pair[1].is_error()) return pair[1];
    const auto kind = type_of(pair[0])->kind;
    const auto fits = std::ranges::find_if(additions, [&](const Overload& one) {
      return one.parameters[0]->kind == kind && one.parameters[1]->kind == type_of(pair[1])->kind;
    });
    if (fits == additions.end()) return Val::error("no such overload");
    total = fits->run(meter, Arguments{pair});
  }
  return total;
}

Val extreme(Meter& meter, Arguments a, Int wanted, const char* name) {
  const ListData& list = list_of(a);
  if (list.size() == 0) return Val::error(fmt::format("{} called on empty list", name));
  meter.step(list.size());
  Val best = list.at(0);
  for (std::size_t i = 1; i < list.size() && !best.is_error(); ++i) {
    Val candidate = list.at(i);
    if (candidate.is_error()) return candidate;
    const Val order = compare(candidate, best);
    if (order.is_error()) return order;
    if (order.get<Int>() == wanted) best = std::move(candidate);
  }
  return best;
}
Val minimum(Meter& meter, Arguments a) { return extreme(meter, a, -1, "min"); }
Val maximum(Meter& meter, Arguments a) { return extreme(meter, a, 1, "max"); }

Val index_of(Meter& meter, Arguments a) {
  const ListData& list = list_of(a);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (equal(meter, list.at(i), a[1]).is_true()) return static_cast<Int>(i);
  }
  return Int{-1};
}
Val last_index_of(Meter& meter, Arguments a) {
  const ListData& list = list_of(a);
  for (std::size_t i = list.size(); i-- > 0;) {
    if (equal(meter, list.at(i), a[1]).is_true()) return static_cast<Int>(i);
  }
  return Int{-1};
}

Val slice(Meter& meter, Arguments a) {
  const ListData& list = list_of(a);
  const Int begin = a[1].get<Int>();
  const Int end = a[2].get<Int>();
  const auto refuse = [&](std::string_view why) {
    return Val::error(fmt::format("cannot slice({}, {}), {}", begin, end, why));
  };
  if (begin < 0 || end < 0) return refuse("negative indexes not supported");
  if (begin > end) return refuse("start index must be less than or equal to end index");
  if (static_cast<std::uint64_t>(end) > list.size()) {
    return refuse(fmt::format("list is length {}", list.size()));
  }
  std::vector<Val> part;
  meter.charge(static_cast<std::uint64_t>(end - begin));
  for (Int i = begin; i < end; ++i) part.push_back(list.at(static_cast<std::size_t>(i)));
  return Val::list(std::move(part));
}

void flatten_into(Meter& meter, const ListData& list, Int depth, std::vector<Val>& flat) {
  meter.step(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    Val element = list.at(i);
    if (depth > 0 && element.is<ListPtr>()) {
      flatten_into(meter, *element.get<ListPtr>(), depth - 1, flat);
    } else {
      flat.push_back(std::move(element));
    }
  }
}
Val flatten(Meter& meter, Arguments a) {
  const Int depth = a.size() > 1 ? a[1].get<Int>() : 1;
  if (depth < 0) return Val::error("level must be non-negative");
  std::vector<Val> flat;
  flatten_into(meter, list_of(a), depth, flat);
  return Val::list(std::move(flat));
}

Val sort(Meter& meter, Arguments a) {
  std::vector<Val> elements;
  if (Val failed = elements_of(meter, list_of(a), elements); failed.is_error()) return failed;
  Val trouble = true;
  std::ranges::stable_sort(elements, [&](const Val& left, const Val& right) {
    const Val order = compare(left, right);
    if (order.is_error()) {
      trouble = order;
      return false;
    }
    return order.get<Int>() < 0;
  });
  if (trouble.is_error()) return trouble;
  return Val::list(std::move(elements));
}

Val reverse(Meter& meter, Arguments a) {
  std::vector<Val> elements;
  if (Val failed = elements_of(meter, list_of(a), elements); failed.is_error()) return failed;
  std::ranges::reverse(elements);
  return Val::list(std::move(elements));
}

Val distinct(Meter& meter, Arguments a) {
  const ListData& list = list_of(a);
  std::vector<Val> kept;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Val element = list.at(i);
    const bool known = std::ranges::any_of(
        kept, [&](const Val& one) { return equal(meter, one, element).is_true(); });
    if (!known) kept.push_back(std::move(element));
  }
  return Val::list(std::move(kept));
}

Val range(Meter& meter, Arguments a) {
  std::vector<Val> numbers;
  const Int count = a[0].get<Int>();
  if (count > 0) meter.charge(static_cast<std::uint64_t>(count));
  for (Int i = 0; i < count; ++i) numbers.push_back(i);
  return Val::list(std::move(numbers));
}

Val first(Meter&, Arguments a) {
  const ListData& list = list_of(a);
  return list.size() == 0 ? Val::none() : Val::some(list.at(0));
}
Val last(Meter&, Arguments a) {
  const ListData& list = list_of(a);
  return list.size() == 0 ? Val::none() : Val::some(list.at(list.size() - 1));
}

}  // namespace

std::span<const Declaration> list_library() {
  static const std::vector<Declaration> kLibrary = [] {
    std::vector<Declaration> all{
        {"list<A>->indexOf(A): int", index_of, Cost::kElements},
        {"list<A>->lastIndexOf(A): int", last_index_of, Cost::kElements},
        {"list<A>->slice(int, int): list<A>", slice},
        {"list<list<A>>->flatten(): list<A>", flatten, Cost::kElements},
        {"list<dyn>->flatten(int): list<dyn>", flatten, Cost::kElements},
        {"list<A>->reverse(): list<A>", reverse, Cost::kElements},
        {"list<A>->distinct(): list<A>", distinct, Cost::kElements},
        {"list<A>->first(): optional<A>", first},
        {"list<A>->last(): optional<A>", last},
        {"lists.range(int): list<int>", range},
    };
    static std::vector<std::string> texts;
    const auto add = [&](std::string_view function, std::string_view element,
                         std::string_view result, Function run) {
      texts.push_back(fmt::format("list<{}>->{}(): {}", element, function, result));
      all.push_back({nullptr, run, Cost::kElements});
    };
    const std::size_t before = all.size();
    for (const char* element :
         {"int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"}) {
      add("isSorted", element, "bool", is_sorted);
      add("min", element, element, minimum);
      add("max", element, element, maximum);
      add("sort", element, fmt::format("list<{}>", element), sort);
    }
    for (const char* element : {"int", "uint", "double", "duration"})
      add("sum", element, element, sum);
    for (std::size_t i = 0; i < texts.size(); ++i) all[before + i].signature = texts[i].c_str();
    return all;
  }();
  return kLibrary;
}

}  // namespace kube::testkit::cel
