// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

#include "support/fixtures.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/api/errors.hpp>
#include <kube/client/retry.hpp>
#include <kube/client/warnings.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/protobuf.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kube {
namespace {

using namespace std::chrono_literals;
using core::v1::Pod;
using test::api_error;
using test::FakeAnswer;
using test::Scripted;
using test::status_json;
using testing::ElementsAre;
using testing::HasSubstr;
namespace cause = meta::v1::cause_type;

struct Errors : testing::Test {
  ApiError get(FakeAnswer answer) {
    scripted.transport->answer(std::move(answer));
    return api_error([&] { (void)pods.get("web-0"); });
  }
  ApiError create(FakeAnswer answer) {
    scripted.transport->answer(std::move(answer));
    return api_error([&] { pods.create({.metadata = {.name = "web-0"}}); });
  }
  Scripted scripted;
  Client client = scripted.client();
  Resource<Pod> pods = client.resource<Pod>("shop");
};

std::string cause_text(const ApiError& error) {
  return error.status().details->causes.front().message.str();
}

// RC-41
TEST_F(Errors, CarryTheStatusOfTheServer) {
  const ApiError error = get(FakeAnswer::json(test::fixture("notfound.json"), 404));
  EXPECT_TRUE(is_not_found(error));
  EXPECT_STREQ(error.what(), "pods \"none\" not found");
  EXPECT_EQ(error.status().details->name, "none");
  EXPECT_FALSE(is_unexpected_server_error(error));
}

// RC-41
TEST_F(Errors, AreReadFromProtobufToo) {
  const ApiError error = get(FakeAnswer::protobuf(test::fixture("notfound.pb"), 404));
  EXPECT_TRUE(is_not_found(error));
  EXPECT_STREQ(error.what(), "pods \"none\" not found");
}

// RC-41
TEST_F(Errors, ArriveInPieces) {
  FakeAnswer answer = FakeAnswer::json("", 409);
  answer.chunks.clear();
  for (const char c : status_json(409, "Conflict")) answer.chunks.emplace_back(1, c);
  EXPECT_TRUE(is_conflict(get(std::move(answer))));
}

// RC-41, RC-44
TEST_F(Errors, WithoutAStatusAreMadeFromTheCode) {
  struct Case {
    int code;
    std::string_view reason;
    bool (*predicate)(const ApiError&) noexcept;
  };
  namespace reason = meta::v1::status_reason;
  for (const Case& one : std::vector<Case>{
           {400, reason::kBadRequest, is_bad_request},
           {401, reason::kUnauthorized, is_unauthorized},
           {403, reason::kForbidden, is_forbidden},
           {404, reason::kNotFound, is_not_found},
           {405, reason::kMethodNotAllowed, is_method_not_supported},
           {406, reason::kNotAcceptable, is_not_acceptable},
           {409, reason::kConflict, is_conflict},
           {410, "", is_gone},
           {413, "", is_request_entity_too_large},
           {415, reason::kUnsupportedMediaType, is_unsupported_media_type},
           {422, reason::kInvalid, is_invalid},
           {429, reason::kTooManyRequests, is_too_many_requests},
           {500, reason::kInternalError, is_internal_error},
           {502, reason::kInternalError, is_internal_error},
           {503, reason::kServiceUnavailable, is_service_unavailable},
           {504, reason::kTimeout, is_timeout},
       }) {
    // With JSON only, so that a refusal of protobuf is not retried.
    Scripted json{{.content_type = "application/json"}};
    for (const char* type :
         {"text/plain", "text/html", "application/octet-stream", "application/json"}) {
      json.transport->answer(FakeAnswer::text("what the proxy says", one.code, type));
      const ApiError error =
          api_error([&] { (void)json.client().resource<Pod>("shop").get("web-0"); });
      EXPECT_EQ(error.code(), one.code);
      EXPECT_EQ(error.reason(), one.reason);
      EXPECT_TRUE(one.predicate(error)) << one.code;
      EXPECT_TRUE(is_unexpected_server_error(error)) << one.code;
      EXPECT_THAT(error.what(), HasSubstr("GET pods web-0"));
      EXPECT_EQ(cause_text(error), std::string_view{type} == "application/octet-stream"
                                       ? "unknown"
                                       : "what the proxy says");
      EXPECT_EQ(error.status().details->kind, "pods");
    }
  }
}

// RC-44
TEST_F(Errors, OfACreateWithoutAStatusMeanThatItExists) {
  EXPECT_TRUE(is_already_exists(create(FakeAnswer::text("", 409))));
  EXPECT_EQ(get(FakeAnswer::text("", 418)).reason(), "");
}

// RC-41: the response of a server to a request that timed out resembles a Status but is none.
TEST_F(Errors, OfAnExpiredTimeAreTimeouts) {
  const ApiError error = get(
      FakeAnswer::text(R"({"metadata":{},"status":"Failure","message":"Timeout: request did not )"
                       R"(complete","reason":"Timeout","details":{},"code":504})",
                       504));
  EXPECT_TRUE(is_timeout(error));
  EXPECT_TRUE(is_unexpected_server_error(error));
}

// RC-41
TEST_F(Errors, QuoteNoMoreThan2048Bytes) {
  const ApiError error = get(FakeAnswer::text(std::string(100'000, 'x'), 500));
  EXPECT_EQ(cause_text(error).size(), 2048U);
  EXPECT_LT(std::string{error.what()}.size(), 300U);
}

TEST_F(Errors, AreReadWithALimit) {
  FakeAnswer endless = FakeAnswer::text("", 500);
  endless.chunks.assign(10'000, std::string(65536, 'x'));
  EXPECT_TRUE(is_internal_error(get(std::move(endless))));
  EXPECT_LE(scripted.transport->totals().reads, 18);
}

TEST_F(Errors, SurviveABodyThatIsCutOff) {
  FakeAnswer cut = FakeAnswer::json(R"({"kind":"Status","apiVer)", 403);
  cut.cut = TransportError::Kind::kConnectionLost;
  EXPECT_TRUE(is_forbidden(get(std::move(cut))));
  EXPECT_TRUE(is_not_found(get(FakeAnswer::json("", 404))));
  EXPECT_TRUE(is_not_found(get(FakeAnswer::protobuf("k8s\0garbage", 404))));
}

TEST_F(Errors, OfRedirectsNameTheLocation) {
  const ApiError error =
      get(FakeAnswer::text("", 302).with("Location", "https://login.example.com/\x1b[31m"));
  EXPECT_EQ(error.code(), 302);
  EXPECT_THAT(error.what(), HasSubstr(R"(redirects to "https://login.example.com/\x1b[31m")"));
  EXPECT_THAT(error.what(), HasSubstr("use it as the server address"));
}

// RC-42
TEST_F(Errors, MayHideInASuccess) {
  EXPECT_TRUE(is_forbidden(get(FakeAnswer::json(status_json(403, "Forbidden")))));
  meta::v1::Status status{.status = "Failure", .reason = "Conflict", .code = 409};
  EXPECT_TRUE(is_conflict(get(FakeAnswer::protobuf(encode_protobuf(status)))));

  scripted.transport->answer(FakeAnswer::json(status_json(403, "Forbidden")));
  EXPECT_TRUE(is_forbidden(api_error([&] {
    (void)client.dynamic({"", "v1", "pods"}, "shop").get("web-0");
  })));
  scripted.transport->answer(FakeAnswer::json(status_json(403, "Forbidden")));
  EXPECT_TRUE(is_forbidden(api_error([&] {
    (void)client.metadata({"", "v1", "pods"}, "shop").get("web-0");
  })));
  scripted.transport->answer(FakeAnswer::json(status_json(403, "Forbidden")));
  EXPECT_TRUE(is_forbidden(api_error([&] { (void)pods.list(); })));
  scripted.transport->answer(FakeAnswer::protobuf(encode_protobuf(status)));
  EXPECT_TRUE(is_conflict(api_error([&] { (void)pods.list(); })));
  scripted.transport->answer(FakeAnswer::json(R"({"kind":"Status","apiVersion":"v1","stat)"));
  EXPECT_TRUE(is_unexpected_server_error(api_error([&] { (void)pods.list(); })));
  scripted.transport->answer(FakeAnswer::json(status_json(403, "Forbidden")));
  EXPECT_TRUE(is_forbidden(api_error([&] { pods.delete_("web-0"); })));
}

// RC-42
TEST_F(Errors, AreSuccessesWithoutAnObject) {
  for (const auto& call :
       std::vector<std::function<void()>>{[&] { (void)pods.get("a"); }, [&] { (void)pods.list(); },
                                          [&] { pods.create({.metadata = {.name = "a"}}); }}) {
    scripted.transport->answer({});
    const ApiError error = api_error(call);
    EXPECT_TRUE(is_unexpected_server_error(error));
    EXPECT_THAT(error.what(), HasSubstr("empty body"));
  }
}

// A response of unknown kind must not be taken for an empty list, which would mean that all objects
// are gone.
TEST_F(Errors, AreListsOfUnknownKind) {
  for (const char* body : {"{}", R"({"metadata":{"resourceVersion":"7"},"items":[]})",
                           R"({"kind":"Pod","apiVersion":"v1"})"}) {
    scripted.transport->answer(FakeAnswer::json(body));
    EXPECT_THROW((void)pods.list(), CodecError) << body;
  }
  scripted.transport->answer(FakeAnswer::json("{}"));
  EXPECT_THROW((void)scripted.client().dynamic({"", "v1", "pods"}).list(), CodecError);
  scripted.transport->answer(FakeAnswer::json("{}"));
  EXPECT_THROW((void)scripted.client().metadata({"", "v1", "pods"}).list(), CodecError);
}

// RC-32, RC-42: a login page.
TEST_F(Errors, AreSuccessesOfAnotherKind) {
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { (void)pods.get("a"); }, [&] { (void)pods.list(); }, [&] { (void)pods.watch(); }}) {
    scripted.transport->answer(
        FakeAnswer::text("<html>Welcome</html>", 200, "text/html; charset=utf-8"));
    const ApiError error = api_error(call);
    EXPECT_EQ(error.code(), 200);
    EXPECT_TRUE(is_unexpected_server_error(error));
    EXPECT_THAT(error.what(), HasSubstr("text/html"));
    EXPECT_THAT(error.what(), HasSubstr("Kubernetes API server"));
  }
}

TEST_F(Errors, OfDecodingNameTheField) {
  scripted.transport->answer(FakeAnswer::json(R"({"kind":"Pod","metadata":{"name":7}})"));
  EXPECT_THROW((void)pods.get("a"), CodecError);
  scripted.transport->answer(
      FakeAnswer::json(R"({"kind":"PodList","items":[{"metadata":{}},{"meta)"));
  EXPECT_THROW((void)pods.list(), CodecError);
  scripted.transport->answer(
      FakeAnswer::json(R"({"kind":"NodeList","apiVersion":"v1","items":[]})"));
  EXPECT_THROW((void)pods.list(), CodecError);
}

TEST_F(Errors, OfALostConnectionWithinABodyAreNotRetried) {
  FakeAnswer cut = FakeAnswer::json(R"({"kind":"Pod")");
  cut.cut = TransportError::Kind::kConnectionLost;
  for (const auto& call : std::vector<std::function<void()>>{[&] { (void)pods.get("a"); },
                                                             [&] { (void)pods.list(); }}) {
    scripted.transport->answer(cut);
    try {
      call();
      FAIL();
    } catch (const TransportError& error) {
      EXPECT_EQ(error.kind(), TransportError::Kind::kConnectionLost);
      EXPECT_THAT(error.what(), HasSubstr("GET https://server/api/v1/namespaces/shop/pods"));
    }
  }
  EXPECT_EQ(scripted.transport->requests().size(), 2U);
}

TEST_F(Errors, AreOverlongResponses) {
  scripted.options.max_body = 100;
  scripted.transport->answer(FakeAnswer::json(test::pod_json(std::string(200, 'a'))));
  const ApiError error = api_error([&] { (void)scripted.client().resource<Pod>("shop").get("a"); });
  EXPECT_THAT(error.what(), HasSubstr("max_body"));
}

// RC-43
TEST_F(Errors, AreKnownByTheirReasonFirst) {
  EXPECT_FALSE(is_conflict(get(FakeAnswer::json(status_json(409, "AlreadyExists"), 409))));
  EXPECT_TRUE(is_conflict(get(FakeAnswer::json(status_json(409, "Peculiar"), 409))));
  const ApiError expired = get(FakeAnswer::json(status_json(410, "Expired"), 410));
  EXPECT_TRUE(is_resource_expired(expired));
  EXPECT_FALSE(is_gone(expired));
  EXPECT_TRUE(is_internal_error(get(FakeAnswer::json(status_json(500, ""), 500))));
  EXPECT_EQ(get(FakeAnswer::json(status_json(0, "Conflict"), 409)).code(), 409);
}

// RC-45
TEST_F(Errors, CarryRetryAfter) {
  EXPECT_EQ(get(FakeAnswer::json(
                    status_json(429, "TooManyRequests", "m", R"({"retryAfterSeconds":3})"), 429))
                .retry_after(),
            3s);
  EXPECT_EQ(get(FakeAnswer::json(status_json(500, "ServerTimeout"), 500)).retry_after(), 0s);
  EXPECT_EQ(get(FakeAnswer::json(status_json(404, "NotFound"), 404)).retry_after(), std::nullopt);
  scripted.options.max_retries = 0;
  scripted.transport->answer(FakeAnswer::text("", 429).with("Retry-After", "9"));
  EXPECT_EQ(api_error([&] { (void)scripted.client().resource<Pod>("s").get("a"); }).retry_after(),
            9s);
}

TEST_F(Errors, OfAbsenceAreNullForFind) {
  scripted.transport->answer(FakeAnswer::json(test::fixture("notfound.json"), 404));
  EXPECT_EQ(pods.find("none"), nullptr);
  scripted.transport->answer(FakeAnswer::json(test::pod_json("web-0")));
  EXPECT_EQ(pods.find("web-0")->metadata.name, "web-0");
  // The response does not mean that the object is absent: the resource is, or this is not an API
  // server.
  scripted.transport->answer(FakeAnswer::text("404 page not found", 404));
  EXPECT_THROW((void)pods.find("none"), ApiError);
  scripted.transport->answer(FakeAnswer::json(status_json(403, "Forbidden"), 403));
  EXPECT_THROW((void)pods.find("none"), ApiError);
}

// RC-40
TEST(Warnings, AreReadFromTheirHeader) {
  EXPECT_THAT(parse_warnings(R"(299 - "use v1")"), ElementsAre(Warning{299, "-", "use v1"}));
  EXPECT_THAT(
      parse_warnings(
          R"( 299 - "a \"b\" \\ c", 214 proxy:80 "d" "Sun, 06 Nov 1994 08:49:37 GMT",299 - "")"),
      ElementsAre(Warning{299, "-", "a \"b\" \\ c"}, Warning{214, "proxy:80", "d"},
                  Warning{299, "-", ""}));
  for (const char* bad :
       {"", "299", "299 -", "299 - x", R"(299 - "x)", R"(29 - "x")", R"(2999 - "x")",
        R"(299 - "x" y)", "abc - \"x\"", R"(299 - "\)", "299", "2"}) {
    EXPECT_THAT(parse_warnings(bad), testing::IsEmpty()) << bad;
  }
  EXPECT_THAT(parse_warnings(R"(299 - "x", oops)"), ElementsAre(Warning{299, "-", "x"}));
}

// RC-40
TEST_F(Errors, LikeSuccessesCarryWarnings) {
  std::vector<std::string> texts;
  scripted.options.on_warning = [&](const Warning& warning) { texts.push_back(warning.text); };
  const auto other = scripted.client().resource<Pod>("shop");
  scripted.transport->answer(FakeAnswer::json(test::pod_json("a"))
                                 .with("Warning", R"(299 - "one")")
                                 .with("warning", R"(299 - "two", 214 - "not for us")"));
  (void)other.get("a");
  scripted.transport->answer(FakeAnswer::text("", 404).with("Warning", R"(299 - "three")"));
  EXPECT_THROW((void)other.get("a"), ApiError);
  scripted.transport->answer(FakeAnswer::json("").with("Warning", R"(299 - "four")"));
  (void)other.watch();
  EXPECT_THAT(texts, ElementsAre("one", "two", "three", "four"));
}

// RC-40
TEST_F(Errors, WarningsAreLoggedByDefault) {
  scripted.transport->answer(
      FakeAnswer::json(test::pod_json("a")).with("Warning", R"(299 - "deprecated")"));
  (void)pods.get("a");
  EXPECT_THAT(scripted.log, testing::Contains(testing::Pair(LogLevel::kWarning, "deprecated")));
}

// RC-40
TEST(Warnings, AreWrittenOnceAndCounted) {
  std::vector<std::string> lines;
  WarningWriter writer{[&](std::string_view text) { lines.emplace_back(text); }};
  const WarningHandler handler = std::ref(writer);
  for (const char* text : {"a", "b", "a"}) handler({299, "-", text});
  EXPECT_THAT(lines, ElementsAre("a", "b"));
  EXPECT_EQ(writer.count(), 2U);

  WarningWriter all{[](std::string_view) {}, false};
  for (int i = 0; i < 3; ++i) all({299, "-", "a"});
  EXPECT_EQ(all.count(), 3U);
}

ApiError conflict() { return ApiError{{.reason = "Conflict", .code = 409}}; }

std::vector<int> waits_until_given_up(BackoffOptions options) {
  test::SteppingClock clock;
  options.random = [] { return 0.5; };
  EXPECT_THROW(retry_on_conflict([]() -> int { throw conflict(); }, options, clock), ApiError);
  std::vector<int> result;
  for (const auto sleep : clock.sleeps()) {
    result.push_back(
        static_cast<int>(std::chrono::round<std::chrono::microseconds>(sleep).count()));
  }
  return result;
}

// RC-46
TEST(RetryOnConflict, TriesFiveTimesOrFourWithGrowingPauses) {
  EXPECT_THAT(waits_until_given_up(default_retry()), ElementsAre(10500, 10500, 10500, 10500));
  EXPECT_THAT(waits_until_given_up(slow_retry()), ElementsAre(10500, 52500, 262500));
}

// RC-46
TEST(RetryOnConflict, ReturnsWhatSucceeds) {
  test::SteppingClock clock;
  int tries = 0;
  EXPECT_EQ(retry_on_conflict(
                [&] {
                  if (++tries < 3) throw conflict();
                  return tries;
                },
                default_retry(), clock),
            3);
  EXPECT_THROW(
      retry_on_conflict([]() -> void { throw ApiError(404, "gone"); }, default_retry(), clock),
      ApiError);
  EXPECT_EQ(clock.sleeps().size(), 2U);
}

}  // namespace
}  // namespace kube
