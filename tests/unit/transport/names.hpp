// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace kube::test {

/// A host name that this program's getaddrinfo() resolves itself, as long as the object lives.
class FakeName {
 public:
  /// Without addresses, a lookup blocks until release().
  explicit FakeName(std::string name, std::vector<std::string> addresses = {});
  /// Calls release().
  ~FakeName();
  FakeName(const FakeName&) = delete;
  FakeName& operator=(const FakeName&) = delete;

  /// Waits for the first lookup; false after ten seconds.
  [[nodiscard]] bool wait_asked();
  /// Returns how many lookups there were.
  [[nodiscard]] int asked() const;
  /// Ends pending lookups with "no such name".
  void release();

  struct State;

 private:
  const std::string name_;
  const std::shared_ptr<State> state_;
};

}  // namespace kube::test
