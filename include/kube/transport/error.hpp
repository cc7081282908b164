// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/error.hpp>

#include <string>

namespace kube {

/// Thrown when an exchange fails below HTTP: there is no response, or only a part of one.
class TransportError : public Error {
 public:
  /// The cause of the failure.
  enum class Kind {
    kResolve,         ///< the host name has no address
    kConnect,         ///< connection refused, or no reply
    kTls,             ///< handshake failed: certificate, host name, protocol version
    kConnectionLost,  ///< reset, closed or abandoned (GOAWAY) during an exchange
    kTimeout,         ///< a deadline of the request expired
    kProtocol,        ///< the response is not valid HTTP, or exceeds a limit
    kProxy,           ///< refused by the proxy
    kCanceled,        ///< cancel(), a stop, or destruction of the transport
  };

  /// `message` is the text of what().
  TransportError(Kind kind, const std::string& message) : Error(message), kind_(kind) {}

  /// Returns the cause.
  [[nodiscard]] Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

}  // namespace kube
