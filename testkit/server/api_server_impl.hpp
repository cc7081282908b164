// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/http/front.hpp"
#include "testkit/http/pipeline.hpp"
#include "testkit/requests/engine.hpp"
#include "testkit/server/persistence.hpp"
#include "testkit/server/tls_authority.hpp"
#include "testkit/simulation/simulation.hpp"

#include <kube/testkit/api_server.hpp>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace kube::testkit {

/// The state behind ApiServer. Members are declared in order of construction, so the HTTP front is
/// destroyed before the objects that it uses.
class ApiServer::Impl {
 public:
  explicit Impl(ApiServerOptions given);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void start();
  void stop(std::chrono::milliseconds grace);
  [[nodiscard]] std::string user_of(const detail::ServerRequest& request) const;

  ApiServerOptions options;
  std::unique_ptr<detail::TlsAuthority> authority;
  detail::Certificate certificate;
  std::unique_ptr<detail::Persistence> persistence;
  /// False until the engine has loaded the content of the file: earlier writes are not persisted.
  std::atomic<bool> recording = false;
  RequestLog log;
  Faults faults;
  mutable std::mutex writes_mutex;
  mutable std::condition_variable written;
  std::uint64_t writes = 0;  // guarded by writes_mutex
  detail::Engine engine;
  detail::Pipeline pipeline;
  std::unique_ptr<detail::Simulation> simulation;
  detail::FrontCounters counters;
  /// Null while stopped. Guarded by front_mutex, because faults break connections from any thread.
  mutable std::mutex front_mutex;
  std::unique_ptr<detail::HttpFront> front;
  std::uint16_t port = 0;

 private:
  void journal(const detail::Change& change);
  detail::EngineOptions engine_options();
};

}  // namespace kube::testkit
