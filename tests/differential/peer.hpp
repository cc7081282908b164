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

/// One of the two servers, and what it has told so far.
///
/// Thread safety: send() may be called from any thread, learn() and forget() by one at a time while nobody sends.
class Peer {
 public:
  explicit Peer(const Config& config);

  /// Sends the request as it is, whatever the answer. A failure below HTTP is an answer of status 0.
  [[nodiscard]] Answer send(const Request& request) const;
  /// Remembers versions, uids and objects of the answer.
  void learn(const Request& request, const Answer& answer);
  /// Forgets everything but the names of versions.
  void forget();
  /// What both servers call this version: the number of the answer that brought it, or nothing.
  [[nodiscard]] std::string name_of_version(std::string_view version) const;
  [[nodiscard]] const Value* find(const std::string& key) const;

  /// "configmaps/NAMESPACE/NAME", with an empty NAMESPACE where there is none.
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
