// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/functions.hpp"
#include "testkit/cel/literal.hpp"
#include "testkit/cel/source.hpp"
#include "testkit/cel/time.hpp"

#include <kube/api/time_text.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace kube::testkit::cel {

namespace {

using Int = std::int64_t;
using Uint = std::uint64_t;

Val cannot(std::string_view from, std::string_view to) {
  return Val::error(fmt::format("type conversion error from '{}' to '{}'", from, to));
}
Val overflow() { return Val::error("integer overflow"); }
Val unsigned_overflow() { return Val::error("unsigned integer overflow"); }

Val same(Meter&, Arguments a) { return a[0]; }

template <typename T>
bool read_number(std::string_view text, T& number) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

Val string_to_int(Meter&, Arguments a) {
  Int number = 0;
  return read_number(a[0].as_text(), number) ? Val{number} : cannot("string", "int");
}
Val double_to_int(Meter&, Arguments a) {
  const double number = a[0].get<double>();
  if (!(number > -9223372036854775808.0 && number < 9223372036854775808.0)) return overflow();
  return static_cast<Int>(number);
}
Val uint_to_int(Meter&, Arguments a) {
  const Uint number = a[0].get<Uint>();
  return number > Uint{INT64_MAX} ? overflow() : Val{static_cast<Int>(number)};
}
Val timestamp_to_int(Meter&, Arguments a) { return a[0].get<Timestamp>().seconds; }
Val duration_to_int(Meter&, Arguments a) { return a[0].get<Duration>().nanos; }

Val string_to_uint(Meter&, Arguments a) {
  Uint number = 0;
  return read_number(a[0].as_text(), number) ? Val{number} : cannot("string", "uint");
}
Val double_to_uint(Meter&, Arguments a) {
  const double number = a[0].get<double>();
  if (!(number >= 0 && number < 18446744073709551616.0)) return unsigned_overflow();
  return static_cast<Uint>(number);
}
Val int_to_uint(Meter&, Arguments a) {
  const Int number = a[0].get<Int>();
  return number < 0 ? unsigned_overflow() : Val{static_cast<Uint>(number)};
}

Val string_to_double(Meter&, Arguments a) {
  const std::string text{a[0].as_text()};
  if (text.empty() || text.find_first_of(" \t\n\r\f\v\0()", 0, 9) != std::string::npos) {
    return cannot("string", "double");
  }
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool is_infinite = std::isinf(number) && text.find_first_of("iI") == std::string::npos;
  if (end != text.c_str() + text.size() || is_infinite) return cannot("string", "double");
  return number;
}
Val int_to_double(Meter&, Arguments a) { return static_cast<double>(a[0].get<Int>()); }
Val uint_to_double(Meter&, Arguments a) { return static_cast<double>(a[0].get<Uint>()); }

Val bool_to_string(Meter&, Arguments a) { return Val::text(a[0].get<bool>() ? "true" : "false"); }
Val int_to_string(Meter&, Arguments a) { return Val::text(fmt::format("{}", a[0].get<Int>())); }
Val uint_to_string(Meter&, Arguments a) { return Val::text(fmt::format("{}", a[0].get<Uint>())); }
Val double_to_string(Meter&, Arguments a) { return Val::text(double_text(a[0].get<double>())); }
Val bytes_to_string(Meter&, Arguments a) {
  const std::string& data = *a[0].get<Bytes>().data;
  if (!is_utf8(data)) return Val::error("invalid UTF-8 in bytes, cannot convert to string");
  return Val::text(data);
}
Val timestamp_to_string(Meter&, Arguments a) {
  return Val::text(timestamp_text(a[0].get<Timestamp>()));
}
Val duration_to_string(Meter&, Arguments a) {
  return Val::text(duration_text(a[0].get<Duration>()));
}

Val string_to_bool(Meter&, Arguments a) {
  const std::string_view text = a[0].as_text();
  for (const char* yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == yes) return true;
  }
  for (const char* no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == no) return false;
  }
  return cannot("string", "bool");
}

Val string_to_bytes(Meter&, Arguments a) { return Val::bytes(std::string{a[0].as_text()}); }

Val string_to_timestamp(Meter&, Arguments a) {
  const auto time = parse_timestamp(a[0].as_text());
  return time ? Val{*time} : cannot("string", "google.protobuf.Timestamp");
}
Val int_to_timestamp(Meter&, Arguments a) {
  const Int seconds = a[0].get<Int>();
  if (seconds < kFirstSecond || seconds > kLastSecond) return Val::error("timestamp overflow");
  return Timestamp{seconds, 0};
}
Val string_to_duration(Meter&, Arguments a) {
  const auto nanos = time_text::parse_duration(a[0].as_text());
  return nanos ? Val{Duration{*nanos}} : cannot("string", "google.protobuf.Duration");
}
Val int_to_duration(Meter&, Arguments a) { return Duration{a[0].get<Int>()}; }

Val type_of_value(Meter&, Arguments a) { return type_of(a[0]); }

}  // namespace

std::span<const Declaration> conversion_library() {
  static constexpr Declaration kLibrary[] = {
      {"int(int): int", same},
      {"int(double): int", double_to_int},
      {"int(duration): int", duration_to_int},
      {"int(string): int", string_to_int},
      {"int(timestamp): int", timestamp_to_int},
      {"int(uint): int", uint_to_int},
      {"uint(uint): uint", same},
      {"uint(double): uint", double_to_uint},
      {"uint(int): uint", int_to_uint},
      {"uint(string): uint", string_to_uint},
      {"double(double): double", same},
      {"double(int): double", int_to_double},
      {"double(string): double", string_to_double},
      {"double(uint): double", uint_to_double},
      {"string(string): string", same},
      {"string(bool): string", bool_to_string},
      {"string(bytes): string", bytes_to_string, Cost::kFirst},
      {"string(double): string", double_to_string},
      {"string(duration): string", duration_to_string},
      {"string(int): string", int_to_string},
      {"string(timestamp): string", timestamp_to_string},
      {"string(uint): string", uint_to_string},
      {"bool(bool): bool", same},
      {"bool(string): bool", string_to_bool},
      {"bytes(bytes): bytes", same},
      {"bytes(string): bytes", string_to_bytes, Cost::kFirst},
      {"timestamp(timestamp): timestamp", same},
      {"timestamp(int): timestamp", int_to_timestamp},
      {"timestamp(string): timestamp", string_to_timestamp},
      {"duration(duration): duration", same},
      {"duration(int): duration", int_to_duration},
      {"duration(string): duration", string_to_duration},
      {"dyn(A): dyn", same},
      {"type(A): type<A>", type_of_value},
  };
  return kLibrary;
}

}  // namespace kube::testkit::cel
