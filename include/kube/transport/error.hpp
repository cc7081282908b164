// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/error.hpp>

#include <string>

namespace kube {

/// An exchange that failed below HTTP: there is no answer of the server, or only a part of one.
class TransportError : public Error {
 public:
  enum class Kind {
    kResolve,         ///< the host has no address
    kConnect,         ///< nobody listens, or nobody answers
    kTls,             ///< no trust: certificate, host name, protocol version
    kConnectionLost,  ///< reset, closed or abandoned (GOAWAY) in the middle of an exchange
    kTimeout,         ///< a deadline of the request
    kProtocol,        ///< what came is not HTTP, or more than is allowed
    kProxy,           ///< the proxy refuses
    kCanceled,        ///< cancel(), a stop, or the transport has been destroyed
  };

  TransportError(Kind kind, const std::string& message) : Error(message), kind_(kind) {}

  [[nodiscard]] Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

}  // namespace kube
