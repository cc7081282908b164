// SPDX-License-Identifier: Apache-2.0
#include "endpoint.hpp"

#include "engine/job.hpp"
#include "engine/runtime_access.hpp"
#include "engine/scheduler.hpp"
#include "server/handler.hpp"
#include "server/query.hpp"
#include <kube/base/condition.hpp>

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

namespace kube::detail {
namespace {

constexpr std::size_t kMaxHead = 8192;
/// Bodies of requests are read and ignored.
constexpr std::size_t kMaxBody = 65536;
constexpr std::size_t kMaxConnections = 64;

bool is_visible(char c) { return c > ' ' && c <= '~'; }

/// Adds what every response of an endpoint has.
server::Reply completed(server::Reply reply) {
  reply.headers.push_back({"X-Content-Type-Options", "nosniff"});
  reply.close = true;
  return reply;
}

server::Reply reply_of(HttpReply answer) {
  server::Reply reply;
  reply.status = answer.status;
  reply.headers = {{"Content-Type", std::move(answer.content_type)}};
  reply.body = std::move(answer.body);
  return completed(std::move(reply));
}

}  // namespace

/// Calls the answer function, and counts the calls.
class Endpoint::Answers {
 public:
  Answers(Answer answer, Logger log) : answer_(std::move(answer)), log_(std::move(log)) {}

  /// Computes one answer on a worker. Shared, because a connection may be closed before its answer
  /// is ready.
  class Call final : public Job {
   public:
    Call(std::shared_ptr<Answers> answers, std::string target, server::Responder respond)
        : Job(Placement::kUrgent),
          answers_(std::move(answers)),
          target_(std::move(target)),
          respond_(std::move(respond)) {
      const std::lock_guard guard{answers_->mutex_};
      ++answers_->open_;
    }
    ~Call() override {
      {
        const std::lock_guard guard{answers_->mutex_};
        --answers_->open_;
      }
      answers_->changed_.notify_all();
    }

   private:
    [[nodiscard]] std::string_view name() const noexcept override { return "endpoint"; }
    void run() noexcept override {
      const auto [path, query] = server::split_target(target_);
      answers_->call(path, query, respond_);
    }

    const std::shared_ptr<Answers> answers_;
    const std::string target_;
    server::Responder respond_;
  };

  void wait() noexcept {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return open_ == 0; });
  }

 private:
  void call(std::string_view path, std::string_view query,
            server::Responder& respond) const noexcept {
    try {
      try {
        return respond(reply_of(answer_(path, query)));
      } catch (const std::exception& error) {
        log_.error("GET {}: {}", path, error.what());
      } catch (...) {
        log_.error("GET {}: the handler threw an exception that is not a std::exception", path);
      }
      respond(reply_of({.status = 500, .body = "internal server error\n"}));
    } catch (...) {  // NOLINT(bugprone-empty-catch): no memory; the Responder reports it
    }
  }

  const Answer answer_;
  const Logger log_;
  std::mutex mutex_;
  Condition changed_;
  std::size_t open_ = 0;  // guarded by mutex_
};

/// Checks requests on the loop's thread, and passes them to workers.
class Endpoint::Requests final : public server::Handler {
 public:
  Requests(std::shared_ptr<Answers> answers, std::shared_ptr<Scheduler> scheduler,
           const EndpointOptions& options)
      : answers_(std::move(answers)),
        scheduler_(std::move(scheduler)),
        slow_(options.slow),
        large_(options.large),
        crowded_(options.crowded) {}

  void handle(server::Request request, server::Responder respond) override {
    if (request.method != "GET" && request.method != "HEAD") {
      server::Reply reply = server::text_reply(405, "only GET and HEAD are supported\n");
      reply.headers.push_back({"Allow", "GET, HEAD"});
      return respond(completed(std::move(reply)));
    }
    if (!std::ranges::all_of(request.target, is_visible)) {
      return respond(completed(server::text_reply(
          400, "the target contains control characters or bytes above 127\n")));
    }
    const auto call = std::make_shared<Answers::Call>(answers_, std::move(request.target),
                                                      std::move(respond));
    call->bind(scheduler_);
    call->schedule();
  }
  [[nodiscard]] server::Reply refuse(server::Refusal why,
                                     const server::Limits& limits) const override {
    return completed(server::plain_refusal(why, limits));
  }
  void on_incident(server::Incident incident) noexcept override {
    using server::Incident;
    switch (incident) {
      case Incident::kSlowHead:
      case Incident::kSlowBody:
      case Incident::kSlowAnswer:
      case Incident::kSlowReader:
        return slow_.add();
      case Incident::kLargeHead:
      case Incident::kLargeBody:
        return large_.add();
      case Incident::kCrowded:
        return crowded_.add();
      case Incident::kIdle:
      case Incident::kStreamResets:
        break;
    }
  }

 private:
  const std::shared_ptr<Answers> answers_;
  const std::shared_ptr<Scheduler> scheduler_;
  Counter slow_;
  Counter large_;
  Counter crowded_;
};

Endpoint::Endpoint(EndpointOptions options, Answer answer)
    : runtime_(options.runtime ? options.runtime : shared_runtime()),
      answers_(std::make_shared<Answers>(std::move(answer), options.log)),
      requests_(std::make_unique<Requests>(answers_, Inside::core(*runtime_), options)) {
  server_.emplace(
      server::HttpServerOptions{
          .address = std::move(options.address),
          .limits = {.head_timeout = options.timeout,
                     .body_timeout = options.timeout,
                     .answer_timeout = options.timeout,
                     .idle_timeout = options.timeout,
                     .write_timeout = options.timeout,
                     .max_head = kMaxHead,
                     .max_body = kMaxBody,
                     .http2 = false,
                     .max_connections = kMaxConnections,
                     .when_full = server::Limits::WhenFull::kReplaceOldest},
          .clock = options.clock,
          .log = std::move(options.log),
          .loops = {Inside::core(*runtime_)}},
      *requests_);
}

Endpoint::~Endpoint() {
  server_.reset();
  answers_->wait();
}

}  // namespace kube::detail
