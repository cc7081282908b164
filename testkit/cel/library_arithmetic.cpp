// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/functions.hpp"
#include "testkit/cel/time.hpp"

#include <cmath>

namespace kube::testkit::cel {

namespace {

using Int = std::int64_t;
using Uint = std::uint64_t;

Val overflow() { return Val::error("integer overflow"); }
Val unsigned_overflow() { return Val::error("unsigned integer overflow"); }

template <typename T>
T first(Arguments a) {
  return a[0].get<T>();
}
template <typename T>
T second(Arguments a) {
  return a[1].get<T>();
}

Val add_int(Meter&, Arguments a) {
  Int sum = 0;
  return __builtin_add_overflow(first<Int>(a), second<Int>(a), &sum) ? overflow() : Val{sum};
}
Val add_uint(Meter&, Arguments a) {
  Uint sum = 0;
  return __builtin_add_overflow(first<Uint>(a), second<Uint>(a), &sum) ? unsigned_overflow()
                                                                       : Val{sum};
}
Val add_double(Meter&, Arguments a) { return first<double>(a) + second<double>(a); }
Val add_string(Meter& meter, Arguments a) {
  meter.step((a[0].as_text().size() + a[1].as_text().size()) / 64);
  return Val::text(std::string{a[0].as_text()} + std::string{a[1].as_text()});
}
Val add_bytes(Meter&, Arguments a) {
  return Val::bytes(*a[0].get<Bytes>().data + *a[1].get<Bytes>().data);
}
Val add_list(Meter& meter, Arguments a) { return add_lists(meter, a[0], a[1]); }

Val subtract_int(Meter&, Arguments a) {
  Int rest = 0;
  return __builtin_sub_overflow(first<Int>(a), second<Int>(a), &rest) ? overflow() : Val{rest};
}
Val subtract_uint(Meter&, Arguments a) {
  return first<Uint>(a) < second<Uint>(a) ? unsigned_overflow()
                                          : Val{first<Uint>(a) - second<Uint>(a)};
}
Val subtract_double(Meter&, Arguments a) { return first<double>(a) - second<double>(a); }

Val multiply_int(Meter&, Arguments a) {
  Int product = 0;
  return __builtin_mul_overflow(first<Int>(a), second<Int>(a), &product) ? overflow()
                                                                         : Val{product};
}
Val multiply_uint(Meter&, Arguments a) {
  Uint product = 0;
  return __builtin_mul_overflow(first<Uint>(a), second<Uint>(a), &product) ? unsigned_overflow()
                                                                           : Val{product};
}
Val multiply_double(Meter&, Arguments a) { return first<double>(a) * second<double>(a); }

Val divide_int(Meter&, Arguments a) {
  if (second<Int>(a) == 0) return Val::error("division by zero");
  if (first<Int>(a) == INT64_MIN && second<Int>(a) == -1) return overflow();
  return first<Int>(a) / second<Int>(a);
}
Val divide_uint(Meter&, Arguments a) {
  if (second<Uint>(a) == 0) return Val::error("division by zero");
  return first<Uint>(a) / second<Uint>(a);
}
/// Division by zero returns an infinity or NaN (IEEE 754).
__attribute__((no_sanitize("float-divide-by-zero"))) Val divide_double(Meter&, Arguments a) {
  return first<double>(a) / second<double>(a);
}
Val modulo_int(Meter&, Arguments a) {
  if (second<Int>(a) == 0) return Val::error("modulus by zero");
  if (first<Int>(a) == INT64_MIN && second<Int>(a) == -1) return overflow();
  return first<Int>(a) % second<Int>(a);
}
Val modulo_uint(Meter&, Arguments a) {
  if (second<Uint>(a) == 0) return Val::error("modulus by zero");
  return first<Uint>(a) % second<Uint>(a);
}

Val negate_int(Meter&, Arguments a) {
  return first<Int>(a) == INT64_MIN ? overflow() : Val{-first<Int>(a)};
}
Val negate_double(Meter&, Arguments a) { return -first<double>(a); }
Val negate_bool(Meter&, Arguments a) { return !first<bool>(a); }

Val shifted(const Timestamp& time, Int nanos) {
  constexpr Int kSecond = 1'000'000'000;
  Int seconds = time.seconds + nanos / kSecond;
  Int rest = time.nanos + nanos % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  } else if (rest >= kSecond) {
    rest -= kSecond;
    ++seconds;
  }
  if (seconds < kFirstSecond || seconds > kLastSecond) return Val::error("timestamp overflow");
  return Timestamp{seconds, static_cast<std::int32_t>(rest)};
}

Val add_duration_duration(Meter&, Arguments a) {
  Int sum = 0;
  const bool over =
      __builtin_add_overflow(first<Duration>(a).nanos, second<Duration>(a).nanos, &sum);
  return over ? overflow() : Val{Duration{sum}};
}
Val subtract_duration_duration(Meter&, Arguments a) {
  Int rest = 0;
  const bool over =
      __builtin_sub_overflow(first<Duration>(a).nanos, second<Duration>(a).nanos, &rest);
  return over ? overflow() : Val{Duration{rest}};
}
Val add_timestamp_duration(Meter&, Arguments a) {
  return shifted(first<Timestamp>(a), second<Duration>(a).nanos);
}
Val add_duration_timestamp(Meter&, Arguments a) {
  return shifted(second<Timestamp>(a), first<Duration>(a).nanos);
}
Val subtract_timestamp_duration(Meter&, Arguments a) {
  if (second<Duration>(a).nanos == INT64_MIN) return overflow();
  return shifted(first<Timestamp>(a), -second<Duration>(a).nanos);
}
Val subtract_timestamp_timestamp(Meter&, Arguments a) {
  const Timestamp left = first<Timestamp>(a);
  const Timestamp right = second<Timestamp>(a);
  Int nanos = 0;
  if (__builtin_mul_overflow(left.seconds - right.seconds, Int{1'000'000'000}, &nanos) ||
      __builtin_add_overflow(nanos, Int{left.nanos} - right.nanos, &nanos)) {
    return overflow();
  }
  return Duration{nanos};
}

}  // namespace

std::span<const Declaration> arithmetic_library() {
  static constexpr Declaration kLibrary[] = {
      {"_+_(int, int): int", add_int},
      {"_+_(uint, uint): uint", add_uint},
      {"_+_(double, double): double", add_double},
      {"_+_(string, string): string", add_string, Cost::kBoth},
      {"_+_(bytes, bytes): bytes", add_bytes, Cost::kBoth},
      {"_+_(list<A>, list<A>): list<A>", add_list},
      {"_+_(duration, duration): duration", add_duration_duration},
      {"_+_(timestamp, duration): timestamp", add_timestamp_duration},
      {"_+_(duration, timestamp): timestamp", add_duration_timestamp},
      {"_-_(int, int): int", subtract_int},
      {"_-_(uint, uint): uint", subtract_uint},
      {"_-_(double, double): double", subtract_double},
      {"_-_(duration, duration): duration", subtract_duration_duration},
      {"_-_(timestamp, duration): timestamp", subtract_timestamp_duration},
      {"_-_(timestamp, timestamp): duration", subtract_timestamp_timestamp},
      {"_*_(int, int): int", multiply_int},
      {"_*_(uint, uint): uint", multiply_uint},
      {"_*_(double, double): double", multiply_double},
      {"_/_(int, int): int", divide_int},
      {"_/_(uint, uint): uint", divide_uint},
      {"_/_(double, double): double", divide_double},
      {"_%_(int, int): int", modulo_int},
      {"_%_(uint, uint): uint", modulo_uint},
      {"-_(int): int", negate_int},
      {"-_(double): double", negate_double},
      {"!_(bool): bool", negate_bool},
  };
  return kLibrary;
}

}  // namespace kube::testkit::cel
