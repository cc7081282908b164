// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/functions.hpp"

namespace kube::testkit::cel {

namespace {

bool has_all(Meter& meter, const ListData& list, const ListData& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!contains(meter, list, wanted.at(i)).is_true()) return false;
  }
  return true;
}

Val is_superset(Meter& meter, Arguments a) {
  return has_all(meter, *a[0].get<ListPtr>(), *a[1].get<ListPtr>());
}
Val is_same_set(Meter& meter, Arguments a) {
  return has_all(meter, *a[0].get<ListPtr>(), *a[1].get<ListPtr>()) &&
         has_all(meter, *a[1].get<ListPtr>(), *a[0].get<ListPtr>());
}
Val shares_elements(Meter& meter, Arguments a) {
  const ListData& list = *a[0].get<ListPtr>();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (contains(meter, *a[1].get<ListPtr>(), list.at(i)).is_true()) return true;
  }
  return false;
}

}  // namespace

std::span<const Declaration> set_library() {
  static constexpr Declaration kLibrary[] = {
      {"sets.contains(list<A>, list<A>): bool", is_superset, Cost::kPairs},
      {"sets.equivalent(list<A>, list<A>): bool", is_same_set, Cost::kPairs},
      {"sets.intersects(list<A>, list<A>): bool", shares_elements, Cost::kPairs},
  };
  return kLibrary;
}

}  // namespace kube::testkit::cel
