// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>
#include <kube/transport/transport.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace kube::differential {

/// A request to be sent to both servers.
///
/// What only one of them can know is written as `((name))` in query and body: "((rv KEY))", "((uid KEY))" of
/// an object as last seen, "((first KEY))" its version when first seen, "((listrv))" and "((continue))" of the
/// last list. KEY is Peer::key().
struct Request {
  /// What is tried, for messages and for known differences: "create configmaps".
  std::string label = {};
  std::string method = "GET";
  std::string path = "/";
  std::vector<std::pair<std::string, std::string>> query = {};
  std::string content_type = {};
  std::string accept = {};
  std::string user_agent = "differential/1.0";
  std::string body = {};
  /// Makes the body of the object that a server last showed for this key; `body` is for those that never did.
  std::string live_key = {};
  std::function<void(Value&)> edit = {};

  [[nodiscard]] bool is_read() const { return method == "GET"; }
  [[nodiscard]] bool is_watch() const {
    for (const auto& [name, value] : query) {
      if (name == "watch") return value != "false" && value != "0";
    }
    return false;
  }
};

struct Answer {
  int status = 0;
  Headers headers = {};
  std::string body = {};
  /// What was sent, for messages.
  std::string target = {};
  std::string sent = {};
};

}  // namespace kube::differential
