// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace kube {

/// Base class of all exceptions that kubecxx throws for a reason outside the program: the network,
/// a server, a file or a document. A broken precondition throws a std::logic_error instead.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kube
