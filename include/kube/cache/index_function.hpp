// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/inside.hpp>

#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kube {

/// Computes the values under which an index files an object: none, one or many. Made from a
/// callable that takes (const T& object) and returns a std::vector<std::string>. The result must
/// depend only on the object. It may be called from any thread.
template <typename T>
class IndexFunction {
 public:
  /// Empty; must be assigned before it is used, as in `indexers["node"] = ...`.
  IndexFunction() = default;
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, IndexFunction>)
      IndexFunction(F function)  // NOLINT
      : core_(erase(std::move(function))) {}

  [[nodiscard]] std::vector<std::string> operator()(const T& object) const {
    return core_(&object);
  }

 private:
  friend struct detail::Inside;
  using Call = std::function<std::vector<std::string>(const void* object)>;

  template <typename F>
  static Call erase(F function) {
    if constexpr (std::is_invocable_r_v<std::vector<std::string>, F&, const T&>) {
      return [function = std::move(function)](const void* object) mutable {
        return std::vector<std::string>(function(*static_cast<const T*>(object)));
      };
    } else {
      static_assert(std::is_invocable_r_v<std::vector<std::string>, F&, const T&>,
                    "an index function takes (const T& object) and returns "
                    "std::vector<std::string>, the values to find the object by; T is the type of "
                    "the indexed objects");
      return nullptr;
    }
  }

  Call core_;
};

/// Index functions by name.
template <typename T>
using Indexers = std::map<std::string, IndexFunction<T>>;

}  // namespace kube
