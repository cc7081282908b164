// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "request.hpp"

#include <kube/config/config.hpp>
#include <kube/config/credentials.hpp>
#include <kube/object/ref.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace kube::differential {

/// One of the two servers, and the state learned from its answers.
///
/// Thread safety: send() may be called from any thread; learn() and forget() by one thread at a
/// time, not concurrently with send().
class Peer {
 public:
  explicit Peer(const Config& config);

  /// Sends the request and returns any answer. A failure below HTTP is an answer with status 0.
  [[nodiscard]] Answer send(const Request& request) const;
  /// Records versions, UIDs and objects of the answer.
  void learn(const Request& request, const Answer& answer);
  /// Drops everything except the names of versions.
  void forget();
  /// Returns a name for this version that is comparable between servers: the number of the answer
  /// that introduced it, or an empty string.
  [[nodiscard]] std::string name_of_version(std::string_view version) const;
  [[nodiscard]] const Value* find(const std::string& key) const;

  /// Returns "configmaps/NAMESPACE/NAME", with an empty NAMESPACE for cluster-scoped objects.
  static std::string key(std::string_view plural, std::string_view namespace_,
                         std::string_view name);

 private:
  [[nodiscard]] std::string expand(std::string_view text) const;
  void learn_object(const std::string& key, const Value& object, std::size_t index);

  std::shared_ptr<Credentials> credentials_;
  std::unique_ptr<Transport> transport_;
  std::map<std::string, std::string, std::less<>> variables_;
  std::map<std::string, Ref<Value>, std::less<>> objects_;
  std::map<std::string, std::string, std::less<>> versions_;
  std::size_t answers_ = 0;
};

}  // namespace kube::differential
