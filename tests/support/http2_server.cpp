// SPDX-License-Identifier: Apache-2.0
#include "support/http2_server.hpp"

#include <fcntl.h>
#include <nghttp2/nghttp2.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace kube::test {

/// One connection, served by its own thread; other threads only set flags and wake it.
class Http2Connection {
 public:
  Http2Connection(Http2Server& server, Peer& peer)
      : server_(server), peer_(peer), wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~Http2Connection() {
    for (auto& [id, stream] : streams_) close_body(stream);
    nghttp2_session_del(session_);
    ::close(wake_);
  }

  void run() {
    ::fcntl(peer_.socket(), F_SETFL, O_NONBLOCK);
    start();
    while (true) {
      if (const auto last = go_away_.exchange(kNone); last != kNone) {
        nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, nullptr, 0);
      }
      const bool frozen = server_.frozen_;
      if (!frozen) {
        if (!read_all()) return;
        look_at_bodies();
        if (!write_all()) return;
        if (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0 &&
            pending_.empty()) {
          return;
        }
      }
      std::array<pollfd, 2> fds = {{{peer_.socket(), 0, 0}, {wake_, POLLIN, 0}}};
      if (!frozen) fds[0].events = static_cast<short>(POLLIN | (pending_.empty() ? 0 : POLLOUT));
      ::poll(fds.data(), fds.size(), 1000);
      if ((fds[0].revents & (POLLHUP | POLLERR)) != 0) return;
      std::uint64_t count = 0;
      (void)!::read(wake_, &count, sizeof count);
    }
  }

  void wake() {
    const std::uint64_t one = 1;
    (void)!::write(wake_, &one, sizeof one);
  }
  void go_away(std::int32_t last) {
    go_away_ = last;
    wake();
  }

 private:
  static constexpr std::int32_t kNone = -1;

  struct Stream {
    Http2Request request;
    std::shared_ptr<Http2Body> body;
    std::uint64_t filler = 0;
  };

  void start() {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, [](nghttp2_session*,
                                                                   const nghttp2_frame* frame,
                                                                   const std::uint8_t* name,
                                                                   std::size_t name_size,
                                                                   const std::uint8_t* value,
                                                                   std::size_t value_size,
                                                                   std::uint8_t, void* self) {
      static_cast<Http2Connection*>(self)->streams_[frame->hd.stream_id].request.headers.emplace(
          std::string(reinterpret_cast<const char*>(name), name_size),
          std::string(reinterpret_cast<const char*>(value), value_size));
      return 0;
    });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                      std::size_t size, void* self) {
          static_cast<Http2Connection*>(self)->streams_[id].request.body.append(
              reinterpret_cast<const char*>(data), size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* self) {
          auto* connection = static_cast<Http2Connection*>(self);
          if (frame->hd.type == NGHTTP2_PING) ++connection->server_.pings_;
          if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
              (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
            connection->reply(frame->hd.stream_id);
          }
          return 0;
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        callbacks, [](nghttp2_session*, std::int32_t id, std::uint32_t, void* self) {
          auto* connection = static_cast<Http2Connection*>(self);
          const auto found = connection->streams_.find(id);
          if (found != connection->streams_.end()) {
            connection->close_body(found->second);
            connection->streams_.erase(found);
          }
          return 0;
        });
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_ping_ack(option, server_.options_.ignore_ping ? 1 : 0);
    nghttp2_session_server_new2(&session_, callbacks, this, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry limit{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                                       server_.options_.max_streams};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &limit, 1);
  }

  void reply(std::int32_t id) {
    Stream& stream = streams_[id];
    const Http2Reply reply = server_.handler_(stream.request);
    if (reply.body == nullptr) return;
    stream.body = reply.body;
    stream.filler = reply.filler;
    {
      const std::lock_guard lock{stream.body->mutex_};
      stream.body->connection_ = this;
    }
    const std::string status = std::to_string(reply.status);
    std::vector<nghttp2_nv> fields;
    const auto add = [&fields](const std::string& name, const std::string& value) {
      fields.push_back({reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
                        reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())),
                        name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    };
    const std::string status_name = ":status";
    add(status_name, status);
    for (const auto& [name, value] : reply.headers) add(name, value);
    nghttp2_data_provider provider{};
    provider.source.ptr = this;
    provider.read_callback = [](nghttp2_session*, std::int32_t stream_id, std::uint8_t* buffer,
                                std::size_t length, std::uint32_t* flags,
                                nghttp2_data_source* source, void*) {
      return static_cast<Http2Connection*>(source->ptr)
          ->read_body(stream_id, buffer, length, flags);
    };
    nghttp2_submit_response(session_, id, fields.data(), fields.size(), &provider);
  }

  ssize_t read_body(std::int32_t id, std::uint8_t* buffer, std::size_t length,
                    std::uint32_t* flags) {
    Stream& stream = streams_[id];
    Http2Body& body = *stream.body;
    const std::lock_guard lock{body.mutex_};
    if (body.bytes_.empty() && stream.filler > 0) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(length, stream.filler));
      std::memset(buffer, 'x', size);
      stream.filler -= size;
      body.sent_ += size;
      body.changed_.notify_all();
      if (stream.filler == 0) *flags |= NGHTTP2_DATA_FLAG_EOF;
      return static_cast<ssize_t>(size);
    }
    const std::size_t size = std::min(length, body.bytes_.size());
    std::memcpy(buffer, body.bytes_.data(), size);
    body.bytes_.erase(0, size);
    body.sent_ += size;
    body.changed_.notify_all();
    if (body.bytes_.empty() && body.ended_) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (size == 0 && !body.ended_) return NGHTTP2_ERR_DEFERRED;
    return static_cast<ssize_t>(size);
  }

  void look_at_bodies() {
    for (auto& [id, stream] : streams_) {
      if (stream.body == nullptr) continue;
      const std::lock_guard lock{stream.body->mutex_};
      if (stream.body->reset_) {
        nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, *stream.body->reset_);
        stream.body->reset_.reset();
      } else if (!stream.body->bytes_.empty() || stream.body->ended_) {
        nghttp2_session_resume_data(session_, id);
      }
    }
  }

  static void close_body(Stream& stream) {
    if (stream.body == nullptr) return;
    const std::lock_guard lock{stream.body->mutex_};
    stream.body->connection_ = nullptr;
    stream.body->closed_ = true;
    stream.body->changed_.notify_all();
  }

  bool read_all() {
    std::array<char, 16384> bytes;
    while (true) {
      const int size = SSL_read(peer_.ssl(), bytes.data(), static_cast<int>(bytes.size()));
      if (size <= 0) {
        const int error = SSL_get_error(peer_.ssl(), size);
        ERR_clear_error();
        return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
      }
      if (nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                   static_cast<std::size_t>(size)) < 0) {
        return false;
      }
    }
  }

  bool write_all() {
    while (true) {
      if (pending_.empty()) {
        const std::uint8_t* data = nullptr;
        const auto size = nghttp2_session_mem_send(session_, &data);
        if (size < 0) return false;
        if (size == 0) return true;
        pending_.assign(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
      }
      const int size = SSL_write(peer_.ssl(), pending_.data(), static_cast<int>(pending_.size()));
      if (size <= 0) {
        const int error = SSL_get_error(peer_.ssl(), size);
        ERR_clear_error();
        return error == SSL_ERROR_WANT_WRITE || error == SSL_ERROR_WANT_READ;
      }
      pending_.clear();
    }
  }

  Http2Server& server_;
  Peer& peer_;
  const int wake_;
  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, Stream> streams_;
  std::string pending_;
  std::atomic<std::int32_t> go_away_ = kNone;
};

void Http2Body::wake_locked() {
  if (connection_ != nullptr) connection_->wake();
}

void Http2Body::write(std::string_view bytes) {
  const std::lock_guard lock{mutex_};
  bytes_.append(bytes);
  wake_locked();
}

void Http2Body::end() {
  const std::lock_guard lock{mutex_};
  ended_ = true;
  wake_locked();
}

void Http2Body::reset(std::uint32_t code) {
  const std::lock_guard lock{mutex_};
  reset_ = code;
  wake_locked();
}

bool Http2Body::wait_closed(std::chrono::seconds limit) {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, limit, [this] { return closed_; });
}

std::size_t Http2Body::sent() const {
  const std::lock_guard lock{mutex_};
  return sent_;
}

std::size_t Http2Body::wait_stalled(std::chrono::milliseconds quiet) {
  std::unique_lock lock{mutex_};
  while (true) {
    const std::size_t before = sent_;
    if (!changed_.wait_for(lock, quiet, [&] { return sent_ != before; }) && before > 0)
      return sent_;
  }
}

Http2Server::Http2Server(const CertifiedKey& certificate, Handler handler, Http2Options options)
    : handler_(std::move(handler)),
      options_(std::move(options)),
      server_(
          [this](Peer& peer) {
            Http2Connection connection{*this, peer};
            {
              const std::lock_guard lock{mutex_};
              connections_.push_back(&connection);
            }
            connection.run();
            const std::lock_guard lock{mutex_};
            std::erase(connections_, &connection);
          },
          ServerTls{.certificate = certificate, .client_ca = options_.client_ca, .alpn = {"h2"}}) {}

Http2Server::~Http2Server() = default;

void Http2Server::go_away(std::int32_t last_stream) {
  const std::lock_guard lock{mutex_};
  for (Http2Connection* connection : connections_) connection->go_away(last_stream);
}

}  // namespace kube::test
