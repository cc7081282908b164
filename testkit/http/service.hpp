// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/http/message.hpp"
#include "testkit/http/replies.hpp"

#include <functional>

namespace kube::testkit::detail {

/// Answers requests, synchronously or later. `done` is called once, from any thread.
class Service {
 public:
  virtual ~Service() = default;
  virtual void serve(ServerRequest request, std::function<void(Reply)> done) = 0;
};

}  // namespace kube::testkit::detail
