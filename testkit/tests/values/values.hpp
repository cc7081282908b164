// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/errors.hpp>
#include <kube/codec/json.hpp>
#include <kube/object/value.hpp>

#include <support/fixtures.hpp>

#include <functional>
#include <random>
#include <string>
#include <string_view>

namespace kube::test {

/// Parses a mutable document.
inline Value json(std::string_view text) { return *decode_json<Value>(text); }

inline std::string text(const Value& value) { return encode_json(value); }

/// Returns the Status of the error that `call` throws; code 0 if it does not throw.
inline meta::v1::Status status_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ApiError& error) {
    return error.status();
  }
  return {};
}

/// Generates a random document of that depth, mostly objects with short keys.
inline Value random_value(std::mt19937& random, int depth) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  switch (depth > 0 ? below(7) : 3 + below(4)) {
    case 0:
    case 1: {
      Value object = Value::object();
      for (unsigned i = below(5); i > 0; --i) {
        object[std::string(1, static_cast<char>('a' + below(6)))] = random_value(random, depth - 1);
      }
      return object;
    }
    case 2: {
      Value array = Value::array();
      for (unsigned i = below(4); i > 0; --i) array.push_back(random_value(random, depth - 1));
      return array;
    }
    case 3:
      return below(2) == 0;
    case 4:
      return static_cast<int>(below(100));
    default:
      return std::string(below(4), 'x') + std::to_string(below(10));
  }
}

}  // namespace kube::test
