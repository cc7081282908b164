// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>
#include <kube/transport/transport.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace kube::differential {

/// A request that is sent to both servers.
///
/// Values that differ between servers are written as `((name))` in query and body: "((rv KEY))",
/// "((uid KEY))" of an object as last seen, "((first KEY))" its version when first seen,
/// "((listrv))" and "((continue))" of the last list. KEY is Peer::key().
struct Request {
  /// Describes the request in messages and known differences: "create configmaps".
  std::string label = {};
  std::string method = "GET";
  std::string path = "/";
  std::vector<std::pair<std::string, std::string>> query = {};
  std::string content_type = {};
  std::string accept = {};
  std::string user_agent = "differential/1.0";
  std::string body = {};
  /// Builds the body from the last known state of this object on each server; `body` is used if
  /// there is none.
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
  /// The request line, for messages.
  std::string target = {};
  std::string sent = {};
};

}  // namespace kube::differential
