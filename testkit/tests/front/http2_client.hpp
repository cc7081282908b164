// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "raw_client.hpp"

#include <kube/testkit/request_log.hpp>

#include <nghttp2/nghttp2.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace kube::testkit {

/// An HTTP/2 client whose frames a test controls. I/O happens only in run_*().
class Http2Client {
 public:
  struct Stream {
    std::map<std::string, std::string> headers;
    std::string body;
    /// Ended properly, by END_STREAM.
    bool ended = false;
    std::string upload;
    std::size_t uploaded = 0;
  };

  explicit Http2Client(std::uint16_t port, const std::string& ca = {},
                       bool automatic_window = true);
  ~Http2Client();
  Http2Client(const Http2Client&) = delete;
  Http2Client& operator=(const Http2Client&) = delete;

  std::int32_t request(std::string_view method, std::string_view target, std::string body = {});
  std::int32_t get(std::string_view target) { return request("GET", target); }
  void reset(std::int32_t id);
  /// Sends WINDOW_UPDATE for the received data, for a client without automatic flow control.
  void open_window(std::int32_t id);

  /// Sends and receives until `done`. Throws after ten seconds without input, or at the end of the
  /// connection.
  void run_until(const std::function<bool()>& done);
  /// Returns false if nothing arrives within `time`.
  bool run_for(std::chrono::milliseconds time);
  /// Sends pending output, and waits until the server's log has `count` entries.
  bool run_until_log(const RequestLog& log, std::size_t count);

  [[nodiscard]] Stream& stream(std::int32_t id) { return streams_[id]; }
  [[nodiscard]] const std::map<std::int32_t, std::uint32_t>& settings() const { return settings_; }
  [[nodiscard]] std::size_t ended() const;
  [[nodiscard]] bool went_away() const noexcept { return went_away_; }
  [[nodiscard]] bool closed() const noexcept { return closed_; }

 private:
  void flush();
  static Http2Client& self(void* user) { return *static_cast<Http2Client*>(user); }

  RawClient socket_;
  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, Stream> streams_;
  std::map<std::int32_t, std::uint32_t> settings_;
  std::size_t unacknowledged_ = 0;
  bool went_away_ = false;
  bool closed_ = false;
};

}  // namespace kube::testkit
