// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {

/// Returns whether `object` has the finalizer.
template <typename T>
[[nodiscard]] bool has_finalizer(const T& object, std::string_view name) noexcept {
  const auto& finalizers = object.metadata.finalizers;
  return std::find(finalizers.begin(), finalizers.end(), name) != finalizers.end();
}
/// Adds a finalizer. Returns false if the object had it already.
template <typename T>
bool add_finalizer(T& object, std::string_view name) {
  if (has_finalizer(object, name)) return false;
  object.metadata.finalizers.push_back(name);
  return true;
}
/// Removes a finalizer. Returns false if the object did not have it.
template <typename T>
bool remove_finalizer(T& object, std::string_view name) {
  return object.metadata.finalizers.erase_if([&](const auto& one) { return one == name; }) > 0;
}

/// Result of Finalizers::run(): the parts of the object to write.
struct FinalizerResult {
  bool updated = false;
  bool status_updated = false;
  /// "<finalizer>: <error>" for each finalizer that failed, and so stays.
  std::vector<std::string> failures{};
};

/// Cleanup to be done before an object may be deleted. Call run() in each reconcile, then write the
/// object if it was updated.
///
/// Thread safety: add() before anything else; then run() from any thread.
template <typename T>
class Finalizers {
 public:
  /// Registers a finalizer. `finalize(T&)` or `finalize(T&, std::stop_token)` may change the
  /// object, and returns in a FinalizerResult whether it did. If it throws, the finalizer stays in
  /// place. Throws std::invalid_argument if one of that name exists.
  template <typename Function>
  void add(std::string name, Function finalize) {
    Finalize taken;
    if constexpr (std::invocable<Function&, T&, std::stop_token>) {
      taken = std::move(finalize);
    } else {
      taken = [finalize = std::move(finalize)](T& object, const std::stop_token&) {
        return finalize(object);
      };
    }
    if (!finalizers_.emplace(name, std::move(taken)).second) {
      throw std::invalid_argument{"a finalizer of this name exists already: " + name};
    }
  }
  /// Adds all finalizers to an object that is not being deleted. For one that is, runs the
  /// finalizers that it has, and removes those that succeed. `stop` is passed to finalizers that
  /// take one.
  [[nodiscard]] FinalizerResult run(T& object, const std::stop_token& stop = {}) const {
    FinalizerResult result;
    for (const auto& [name, finalize] : finalizers_) {
      if (!object.metadata.deletion_timestamp) {
        result.updated |= add_finalizer(object, name);
      } else if (has_finalizer(object, name)) {
        run_one(name, finalize, object, result, stop);
      }
    }
    return result;
  }

 private:
  using Finalize = std::function<FinalizerResult(T& object, const std::stop_token& stop)>;

  static void run_one(const std::string& name, const Finalize& finalize, T& object,
                      FinalizerResult& result, const std::stop_token& stop) {
    try {
      FinalizerResult one = finalize(object, stop);
      result.updated |= one.updated;
      result.status_updated |= one.status_updated;
      for (const std::string& failure : one.failures) {
        result.failures.push_back(name + ": " + failure);
      }
      if (one.failures.empty()) result.updated |= remove_finalizer(object, name);
    } catch (const std::exception& error) {
      result.failures.push_back(name + ": " + error.what());
    } catch (...) {
      result.failures.push_back(name + ": it threw an exception that is not a std::exception");
    }
  }

  std::map<std::string, Finalize> finalizers_;
};

}  // namespace kube
