// SPDX-License-Identifier: Apache-2.0
// Optional values. The evaluator implements `or` and `orValue` itself, because their argument may
// be an error.
#include "testkit/cel/functions.hpp"

namespace kube::testkit::cel {

namespace {

const std::shared_ptr<const Val>& content(Arguments a) { return a[0].get<Optional>().value; }

Val of(Meter&, Arguments a) { return Val::some(a[0]); }
Val none(Meter&, Arguments) { return Val::none(); }

bool is_zero(const Val& value) {
  if (value.is_null()) return true;
  if (value.is<bool>()) return !value.get<bool>();
  if (value.is<std::int64_t>()) return value.get<std::int64_t>() == 0;
  if (value.is<std::uint64_t>()) return value.get<std::uint64_t>() == 0;
  if (value.is<double>()) return value.get<double>() == 0;
  if (value.is<Duration>()) return value.get<Duration>().nanos == 0;
  if (value.is<Text>() || value.is<Bytes>() || value.is<ListPtr>() || value.is<MapPtr>()) {
    return size_of(value) == 0;
  }
  if (value.is<Optional>()) return value.get<Optional>().value == nullptr;
  return false;
}
Val of_non_zero(Meter&, Arguments a) { return is_zero(a[0]) ? Val::none() : Val::some(a[0]); }

Val has_value(Meter&, Arguments a) { return content(a) != nullptr; }
Val value(Meter&, Arguments a) {
  return content(a) == nullptr ? Val::error("optional.none() dereference") : *content(a);
}
Val either(Meter&, Arguments a) { return content(a) == nullptr ? a[1] : a[0]; }
Val value_or(Meter&, Arguments a) { return content(a) == nullptr ? a[1] : *content(a); }

Val unwrap(Meter& meter, Arguments a) {
  const ListData& list = *a[0].get<ListPtr>();
  meter.step(list.size());
  std::vector<Val> values;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Val element = list.at(i);
    if (!element.is<Optional>()) return Val::error("no such overload");
    if (element.get<Optional>().value) values.push_back(*element.get<Optional>().value);
  }
  return Val::list(std::move(values));
}

}  // namespace

std::span<const Declaration> optional_library() {
  static constexpr Declaration kLibrary[] = {
      {"optional.of(A): optional<A>", of},
      {"optional.none(): optional<A>", none},
      {"optional.ofNonZeroValue(A): optional<A>", of_non_zero},
      {"optional<A>->hasValue(): bool", has_value},
      {"optional<A>->value(): A", value},
      {"optional<A>->or(optional<A>): optional<A>", either},
      {"optional<A>->orValue(A): A", value_or},
      {"optional.unwrap(list<optional<A>>): list<A>", unwrap, Cost::kElements},
      {"list<optional<A>>->unwrapOpt(): list<A>", unwrap, Cost::kElements},
  };
  return kLibrary;
}

}  // namespace kube::testkit::cel
