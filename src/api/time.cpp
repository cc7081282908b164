// SPDX-License-Identifier: Apache-2.0
#include <kube/api/time.hpp>

#include "codec/leaf.hpp"
#include <kube/api/time_text.hpp>
#include <kube/codec/json_writer.hpp>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include <array>
#include <optional>
#include <stdexcept>

namespace kube {

namespace {

using detail::JsonWriter;
using detail::Pending;
using Input = LeafOperations::Input;
using Token = LeafOperations::Token;

constexpr std::int64_t kMicros = 1'000'000;
constexpr const char* kNotATime = "expected RFC 3339 time";

[[noreturn]] void malformed(const char* expected, std::string_view text) {
  throw std::invalid_argument(std::string{expected} + ", found \"" +
                              std::string{text.substr(0, 80)} + '"');
}

std::int64_t bits_at(const std::byte* value) {
  return *reinterpret_cast<const std::int64_t*>(value);
}

/// Seconds and nanoseconds since 1970, as in protobuf; empty for the zero time.
struct Stamp {
  std::int64_t seconds = 0;
  std::int32_t nanos = 0;
};

/// Fast path for the form that servers write: five bytes of seconds, enough for 1978 to 3058, and
/// no nanoseconds.
bool read_usual_stamp(std::string_view message, Stamp& stamp) {
  if (message.size() != 8 || message[0] != 0x08 || message[6] != 0x10 || message[7] != 0 ||
      message[5] <= 0) {
    return false;
  }
  for (std::size_t i = 5; i >= 1; --i) {
    if (i < 5 && message[i] >= 0) return false;
    stamp.seconds = (stamp.seconds << 7) | (message[i] & 0x7f);
  }
  return true;
}

std::optional<Stamp> read_stamp(Input& input, std::string_view message) {
  if (message.empty()) return std::nullopt;
  Stamp stamp;
  if (read_usual_stamp(message, stamp)) return stamp;
  try {
    protozero::pbf_reader reader{message.data(), message.size()};
    while (reader.next()) {
      if (reader.tag() == 1 && reader.wire_type() == protozero::pbf_wire_type::varint) {
        stamp.seconds = reader.get_int64();
      } else if (reader.tag() == 2 && reader.wire_type() == protozero::pbf_wire_type::varint) {
        stamp.nanos = reader.get_int32();
      } else {
        reader.skip();
      }
    }
  } catch (const protozero::exception&) {
    input.problem = "malformed time";
    return std::nullopt;
  }
  const std::int64_t since_year_one = stamp.seconds + time_text::kUnixEpochSeconds;
  if (stamp.seconds > time_text::kMaxSeconds || since_year_one < time_text::kMinSeconds ||
      since_year_one > time_text::kMaxSeconds || stamp.nanos < 0 || stamp.nanos > 999'999'999) {
    input.problem = "time is out of range";
    return std::nullopt;
  }
  return stamp;
}

void write_stamp(std::string& out, Stamp stamp) {
  protozero::pbf_writer writer{out};
  writer.add_int64(1, stamp.seconds);
  writer.add_int32(2, stamp.nanos);
}

template <auto Parse>
Pending read_text(Input& input, Token token, std::string_view text) {
  const std::optional<std::int64_t> bits =
      token == Token::kText ? Parse(text) : std::optional<std::int64_t>{};
  if (!bits) input.problem = kNotATime;
  return Pending::raw(static_cast<std::uint64_t>(bits.value_or(0)));
}

void write_time(const std::byte* value, JsonWriter& out) {
  const std::string text = Time::from_bits(bits_at(value)).str();
  if (text.empty()) {
    out.null();
  } else {
    out.text(text);
  }
}

void write_micro_time(const std::byte* value, JsonWriter& out) {
  const std::string text = MicroTime::from_bits(bits_at(value)).str();
  if (text.empty()) {
    out.null();
  } else {
    out.text(text);
  }
}

}  // namespace

namespace detail {

constinit const LeafOperations kTimeOperations{
    .from_json = read_text<time_text::parse_seconds>,
    .from_protobuf =
        [](Input& input, std::string_view message) {
          const std::optional<Stamp> stamp = read_stamp(input, message);
          return Pending::raw(
              stamp ? static_cast<std::uint64_t>(stamp->seconds + time_text::kUnixEpochSeconds)
                    : 0);
        },
    .to_json = write_time,
    .to_protobuf =
        [](const std::byte* value, std::string& out) {
          if (const std::int64_t seconds = bits_at(value); seconds != 0) {
            write_stamp(out, {seconds - time_text::kUnixEpochSeconds, 0});
          }
        },
};

constinit const LeafOperations kMicroTimeOperations{
    .from_json = read_text<time_text::parse_micros>,
    .from_protobuf =
        [](Input& input, std::string_view message) {
          const std::optional<Stamp> stamp = read_stamp(input, message);
          if (!stamp) return Pending::raw(0);
          return Pending::raw(static_cast<std::uint64_t>(
              (stamp->seconds + time_text::kUnixEpochSeconds) * kMicros + stamp->nanos / 1000));
        },
    .to_json = write_micro_time,
    .to_protobuf =
        [](const std::byte* value, std::string& out) {
          const std::int64_t micros = bits_at(value);
          if (micros == 0) return;
          std::int64_t seconds = micros / kMicros;
          std::int64_t rest = micros % kMicros;
          if (rest < 0) {
            rest += kMicros;
            --seconds;
          }
          write_stamp(out, {seconds - time_text::kUnixEpochSeconds,
                            static_cast<std::int32_t>(rest * 1000)});
        },
};

constinit const LeafOperations kDurationOperations{
    .from_json =
        [](Input& input, Token token, std::string_view text) {
          const std::optional<std::int64_t> bits = token == Token::kText
                                                       ? time_text::parse_duration(text)
                                                       : std::optional<std::int64_t>{};
          if (!bits) input.problem = "expected duration";
          return Pending::raw(static_cast<std::uint64_t>(bits.value_or(0)));
        },
    .from_protobuf =
        [](Input& input, std::string_view message) {
          std::int64_t nanoseconds = 0;
          try {
            protozero::pbf_reader reader{message.data(), message.size()};
            while (reader.next()) {
              if (reader.tag() == 1 && reader.wire_type() == protozero::pbf_wire_type::varint) {
                nanoseconds = reader.get_int64();
              } else {
                reader.skip();
              }
            }
          } catch (const protozero::exception&) {
            input.problem = "malformed duration";
          }
          return Pending::raw(static_cast<std::uint64_t>(nanoseconds));
        },
    .to_json = [](const std::byte* value,
                  JsonWriter& out) { out.text(time_text::format_duration(bits_at(value))); },
    .to_protobuf =
        [](const std::byte* value, std::string& out) {
          protozero::pbf_writer{out}.add_int64(1, bits_at(value));
        },
};

}  // namespace detail

Time::Time(std::chrono::system_clock::time_point point) noexcept
    : seconds_(time_text::seconds_from_time_point(point)) {}

Time Time::parse(std::string_view text) {
  const std::optional<std::int64_t> seconds = time_text::parse_seconds(text);
  if (!seconds) malformed(kNotATime, text);
  return from_bits(*seconds);
}

Time Time::from_unix(std::int64_t seconds) noexcept {
  return from_bits(seconds + time_text::kUnixEpochSeconds);
}

std::int64_t Time::unix_seconds() const noexcept { return seconds_ - time_text::kUnixEpochSeconds; }

std::chrono::system_clock::time_point Time::time_point() const noexcept {
  return time_text::time_point_from_seconds(seconds_);
}

std::string Time::str() const {
  if (!is_set()) return {};
  std::array<char, time_text::kSecondsTextSize> text;
  return {text.data(), time_text::format_seconds(seconds_, text.data())};
}

MicroTime::MicroTime(std::chrono::system_clock::time_point point) noexcept
    : micros_(time_text::micros_from_time_point(point)) {}

MicroTime MicroTime::parse(std::string_view text) {
  const std::optional<std::int64_t> micros = time_text::parse_micros(text);
  if (!micros) malformed(kNotATime, text);
  return from_bits(*micros);
}

std::chrono::system_clock::time_point MicroTime::time_point() const noexcept {
  return time_text::time_point_from_micros(micros_);
}

std::string MicroTime::str() const {
  if (!is_set()) return {};
  std::array<char, time_text::kMicrosTextSize> text;
  return {text.data(), time_text::format_micros(micros_, text.data())};
}

Duration Duration::parse(std::string_view text) {
  const std::optional<std::int64_t> nanoseconds = time_text::parse_duration(text);
  if (!nanoseconds) malformed("expected duration", text);
  return Duration{std::chrono::nanoseconds{*nanoseconds}};
}

std::string Duration::str() const { return time_text::format_duration(nanoseconds_); }

}  // namespace kube
