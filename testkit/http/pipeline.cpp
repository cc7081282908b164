// SPDX-License-Identifier: Apache-2.0
#include "testkit/http/pipeline.hpp"

#include "base/text.hpp"

#include "testkit/http/url.hpp"
#include "testkit/server/request_log_info.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace kube::testkit::detail {
namespace {

/// RQ-11.
constexpr std::size_t kGzipFrom = 131072;
constexpr std::size_t kMaxBlockedThreads = 64;

bool accepts_gzip(const Headers& headers) {
  const std::string* value = find_header(headers, "Accept-Encoding");
  if (value == nullptr) return false;
  for (std::string_view rest = *value; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (kube::detail::trimmed(rest.substr(0, comma), kube::detail::kBlank) == "gzip") return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

/// Returns whether a watch begins with the current state, followed by a bookmark (WT-24).
bool streams_initial_events(const Query& query) {
  if (!query.flag("allowWatchBookmarks")) return false;
  if (!query.text("sendInitialEvents").empty()) return query.flag("sendInitialEvents");
  const std::string_view version = query.text("resourceVersion");
  return query.text("resourceVersionMatch").empty() && (version.empty() || version == "0");
}

/// Returns whether the engine may have to wait for a future resource version (RV-8, WT-12).
bool may_wait(const RequestInfo& info) {
  if (info.resource.empty() || info.method != "GET" || info.query.empty()) return false;
  const Query query{info.query};
  const std::string_view version = query.text("resourceVersion");
  return (!version.empty() && version != "0") || query.has("continue");
}

class StreamBody final : public BodySource {
 public:
  explicit StreamBody(std::unique_ptr<BodyStream> stream) : stream_(std::move(stream)) {}

  Poll poll(const std::function<void()>& wake) override {
    BodyStream::Poll polled = stream_->poll(wake);
    switch (polled.state) {
      case BodyStream::Poll::State::kChunk:
        return {State::kChunk, std::move(polled.chunk.bytes)};
      case BodyStream::Poll::State::kEnd:
        return {State::kEnd};
      case BodyStream::Poll::State::kWait:
        break;
    }
    return {};
  }

 private:
  std::unique_ptr<BodyStream> stream_;
};

void compress(Reply& reply, bool watch, const RequestInfo& info, const Headers& request) {
  if (!accepts_gzip(request) || find_header(reply.headers, "Content-Encoding") != nullptr) return;
  if (watch) {
    if (reply.status != 200 || !streams_initial_events(Query{info.query})) return;
    reply.encode_flush = &gzip;
  } else {
    if (reply.body.size() <= kGzipFrom) return;
    reply.body = gzip(reply.body);
    reply.chunked = true;
  }
  reply.headers.push_back({"Content-Encoding", "gzip"});
  reply.headers.push_back({"Vary", "Accept-Encoding"});
}

}  // namespace

struct Pipeline::Exchange {
  ServerRequest request;
  RequestInfo info;
  FaultPlan plan;
  std::function<void(Reply)> done;
};

/// For work on threads other than the connection's: an exception resets the connection.
template <typename Work>
void Pipeline::reset_on_error(const Exchange& exchange, Work work) {
  try {
    work();
  } catch (...) {
    Reply reply;
    reply.fate = Reply::Fate::kReset;
    exchange.done(std::move(reply));
  }
}

Pipeline::Pipeline(RequestHandler& handler, PipelineOptions options)
    : handler_(handler),
      options_(std::move(options)),
      timers_(options_.clock != nullptr ? *options_.clock : system_clock()),
      lane_(kMaxBlockedThreads) {}

void Pipeline::stop() {
  timers_.stop();
  lane_.stop();
}

void Pipeline::serve(ServerRequest request, std::function<void(Reply)> done) {
  auto exchange = std::make_shared<Exchange>();
  exchange->info = describe_request(request);
  if (options_.user_of) exchange->info.user = options_.user_of(request);
  exchange->request = std::move(request);
  exchange->done = std::move(done);
  if (refusing_) {
    Reply reply = text_reply(429, "Too many requests, please try again later.");
    reply.headers.push_back({"Retry-After", "5"});
    record(*exchange, 429);
    return exchange->done(std::move(reply));
  }
  if (options_.faults != nullptr) exchange->plan = options_.faults->plan(exchange->info);
  if (const Fault* fault = find_fault(exchange->plan, Fault::Kind::kDelay)) {
    timers_.after(fault->time,
                  [this, exchange] { reset_on_error(*exchange, [&] { run_handler(exchange); }); });
  } else {
    run_handler(exchange);
  }
}

void Pipeline::run_handler(const std::shared_ptr<Exchange>& exchange) {
  if (may_wait(exchange->info)) {
    lane_.run([this, exchange] { reset_on_error(*exchange, [&] { execute(*exchange); }); });
  } else {
    execute(*exchange);
  }
}

void Pipeline::execute(Exchange& exchange) {
  Reply reply;
  if (find_fault(exchange.plan, Fault::Kind::kSilent) != nullptr) {
    reply.fate = Reply::Fate::kSilent;
  } else if (find_fault(exchange.plan, Fault::Kind::kBreakBeforeHead) != nullptr) {
    reply.fate = Reply::Fate::kReset;
  }
  if (reply.fate != Reply::Fate::kAnswer) {
    record(exchange, 0);
    return exchange.done(std::move(reply));
  }

  std::unique_ptr<BodyStream> stream;
  if (const Fault* fault = find_fault(exchange.plan, Fault::Kind::kRespond)) {
    reply = injected_reply(*fault);
  } else {
    try {
      ServerResponse response = handler_.handle(exchange.request);
      reply.status = response.status;
      reply.headers = std::move(response.headers);
      reply.body = std::move(response.body);
      stream = std::move(response.stream);
      reply.chunked = stream != nullptr || (exchange.info.verb == "list" && reply.status == 200);
    } catch (const std::exception& error) {
      reply = text_reply(500, error.what());
    } catch (...) {
      reply = text_reply(500, "the request handler threw an object that is not a std::exception");
    }
  }
  if (find_fault(exchange.plan, Fault::Kind::kLoseAnswer) != nullptr) {
    record(exchange, 0);
    reply = {};
    reply.fate = Reply::Fate::kReset;
    return exchange.done(std::move(reply));
  }
  if (stream == nullptr || options_.compress_watches) {
    compress(reply, stream != nullptr, exchange.info, exchange.request.headers);
  }
  if (!exchange.plan.empty()) {
    damage(reply, std::move(stream), exchange.plan, timers_);
  } else if (stream) {
    reply.source = std::make_unique<StreamBody>(std::move(stream));
  }
  record(exchange, reply.status);
  exchange.done(std::move(reply));
}

void Pipeline::record(const Exchange& exchange, int status) const {
  if (options_.log == nullptr) return;
  const Clock& clock = options_.clock != nullptr ? *options_.clock : system_clock();
  options_.log->add({exchange.info, exchange.request.headers, status, clock.wall_now()});
}

}  // namespace kube::testkit::detail
