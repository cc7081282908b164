// SPDX-License-Identifier: Apache-2.0
// Equality, order, membership and access by key.
#include "testkit/cel/functions.hpp"

#include <fmt/format.h>

namespace kube::testkit::cel {

namespace {

Val is_equal(Meter& meter, Arguments a) { return equal(meter, a[0], a[1]); }

Val is_different(Meter& meter, Arguments a) {
  Val same = equal(meter, a[0], a[1]);
  return same.is_error() ? same : Val{!same.is_true()};
}

Val ordered(Arguments a, bool (*holds)(std::int64_t)) {
  Val found = compare(a[0], a[1]);
  return found.is_error() ? found : Val{holds(found.get<std::int64_t>())};
}
Val less(Meter&, Arguments a) {
  return ordered(a, [](std::int64_t order) { return order < 0; });
}
Val less_or_equal(Meter&, Arguments a) {
  return ordered(a, [](std::int64_t order) { return order <= 0; });
}
Val greater(Meter&, Arguments a) {
  return ordered(a, [](std::int64_t order) { return order > 0; });
}
Val greater_or_equal(Meter&, Arguments a) {
  return ordered(a, [](std::int64_t order) { return order >= 0; });
}

Val in_list(Meter& meter, Arguments a) {
  meter.charge(a[1].get<ListPtr>()->size());
  return contains(meter, *a[1].get<ListPtr>(), a[0]);
}
Val in_map(Meter&, Arguments a) { return has_key(*a[1].get<MapPtr>(), a[0]); }

Val list_element(Meter&, Arguments a) {
  const ListData& list = *a[0].get<ListPtr>();
  const std::int64_t index = a[1].get<std::int64_t>();
  if (index < 0 || static_cast<std::uint64_t>(index) >= list.size()) {
    return Val::error(fmt::format("index out of bounds: {}", index));
  }
  return list.at(static_cast<std::size_t>(index));
}
Val map_entry(Meter&, Arguments a) { return lookup(*a[0].get<MapPtr>(), a[1]); }

Val optional_element(Meter&, Arguments a) {
  const ListData& list = *a[0].get<ListPtr>();
  const std::int64_t index = a[1].get<std::int64_t>();
  if (index < 0 || static_cast<std::uint64_t>(index) >= list.size()) return Val::none();
  return Val::some(list.at(static_cast<std::size_t>(index)));
}
Val optional_entry(Meter&, Arguments a) {
  const MapData& map = *a[0].get<MapPtr>();
  return has_key(map, a[1]) ? Val::some(lookup(map, a[1])) : Val::none();
}

/// Returns the element or entry of the value inside an optional.
Val inside_optional(Meter& meter, Arguments a) {
  const auto& content = a[0].get<Optional>().value;
  if (content == nullptr) return Val::none();
  const Val inner[] = {*content, a[1]};
  if (content->is<ListPtr>() && a[1].is<std::int64_t>()) return optional_element(meter, inner);
  if (content->is<MapPtr>()) return optional_entry(meter, inner);
  return Val::error("no such overload");
}

Val size(Meter&, Arguments a) { return static_cast<std::int64_t>(size_of(a[0])); }

}  // namespace

std::span<const Declaration> comparison_library() {
  static const std::vector<Declaration> kLibrary = [] {
    std::vector<Declaration> all{
        {"_==_(A, A): bool", is_equal, Cost::kShorter},
        {"_!=_(A, A): bool", is_different, Cost::kShorter},
        {"@in(A, list<A>): bool", in_list},
        {"@in(A, map<A, B>): bool", in_map},
        {"_[_](list<A>, int): A", list_element},
        {"_[_](map<A, B>, A): B", map_entry},
        {"_[_](optional<list<A>>, int): optional<A>", inside_optional},
        {"_[_](optional<map<A, B>>, A): optional<B>", inside_optional},
        {"_[?_](list<A>, int): optional<A>", optional_element},
        {"_[?_](map<A, B>, A): optional<B>", optional_entry},
        {"_[?_](optional<list<A>>, int): optional<A>", inside_optional},
        {"_[?_](optional<map<A, B>>, A): optional<B>", inside_optional},
        {"size(string): int", size},
        {"size(bytes): int", size},
        {"size(list<A>): int", size},
        {"size(map<A, B>): int", size},
        {"string->size(): int", size},
        {"bytes->size(): int", size},
        {"list<A>->size(): int", size},
        {"map<A, B>->size(): int", size},
    };
    // Static: the signatures must live as long as the program.
    static std::vector<std::string> texts;
    const std::pair<const char*, Function> operators[] = {
        {"_<_", less}, {"_<=_", less_or_equal}, {"_>_", greater}, {"_>=_", greater_or_equal}};
    const char* const pairs[] = {"bool, bool",           "int, int",          "int, uint",
                                 "int, double",          "uint, int",         "uint, uint",
                                 "uint, double",         "double, int",       "double, uint",
                                 "double, double",       "string, string",    "bytes, bytes",
                                 "timestamp, timestamp", "duration, duration"};
    texts.reserve(std::size(operators) * std::size(pairs));
    for (const auto& [name, run] : operators) {
      for (const std::string_view pair : pairs) {
        texts.push_back(fmt::format("{}({}): bool", name, pair));
        const bool is_text = pair.starts_with("string") || pair.starts_with("bytes");
        all.push_back({texts.back().c_str(), run, is_text ? Cost::kShorter : Cost::kOne});
      }
    }
    return all;
  }();
  return kLibrary;
}

}  // namespace kube::testkit::cel
