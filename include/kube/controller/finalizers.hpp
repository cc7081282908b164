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

template <typename T>
[[nodiscard]] bool has_finalizer(const T& object, std::string_view name) noexcept {
  const auto& finalizers = object.metadata.finalizers;
  return std::find(finalizers.begin(), finalizers.end(), name) != finalizers.end();
}
/// Returns false if it was there.
template <typename T>
bool add_finalizer(T& object, std::string_view name) {
  if (has_finalizer(object, name)) return false;
  object.metadata.finalizers.push_back(name);
  return true;
}
/// Returns false if it was not there.
template <typename T>
bool remove_finalizer(T& object, std::string_view name) {
  return object.metadata.finalizers.erase_if([&](const auto& one) { return one == name; }) > 0;
}

/// What became of an object, and so what has to be written.
struct FinalizerResult {
  bool updated = false;
  bool status_updated = false;
  /// "<finalizer>: <why>" for each that failed and so stays.
  std::vector<std::string> failures{};
};

/// What has to be done before an object may go. run() on each reconcile, then write the object if it was updated.
///
/// Thread safety: add() before anything else; then run() from any thread.
template <typename T>
class Finalizers {
 public:
  /// `finalize(T&)` or `finalize(T&, std::stop_token)` may change the object, and says in a FinalizerResult whether it
  /// did. What it throws keeps the finalizer in place. Throws std::invalid_argument if there is one of that name.
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
      throw std::invalid_argument{"there are two finalizers " + name};
    }
  }
  /// Puts the finalizers onto an object that lives. Of one that is being deleted, runs those that it has, and takes
  /// away those that succeed. `stop` is for those that take one.
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
      result.failures.push_back(name + ": it threw something that is no std::exception");
    }
  }

  std::map<std::string, Finalize> finalizers_;
};

}  // namespace kube
