// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace kube::test {

/// A name that getaddrinfo() of this program answers for itself, as long as this lives.
class FakeName {
 public:
  /// Without addresses, a lookup has no end before release().
  explicit FakeName(std::string name, std::vector<std::string> addresses = {});
  /// Releases.
  ~FakeName();
  FakeName(const FakeName&) = delete;
  FakeName& operator=(const FakeName&) = delete;

  /// Waits until somebody has asked; false after ten seconds.
  [[nodiscard]] bool wait_asked();
  /// How often it was asked for.
  [[nodiscard]] int asked() const;
  /// Lookups end: there is no such name.
  void release();

  struct State;

 private:
  const std::string name_;
  const std::shared_ptr<State> state_;
};

}  // namespace kube::test
