// SPDX-License-Identifier: Apache-2.0
#include <kube/api/errors.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>

#include "support/fixtures.hpp"

#include <gtest/gtest.h>

namespace kube {
namespace {

using namespace std::chrono_literals;
namespace reason = meta::v1::status_reason;

ApiError error(int code, std::string_view why) {
  return ApiError{meta::v1::Status{.status = "Failure", .reason = why, .code = code}};
}

TEST(ApiError, CarriesTheStatusThatTheServerSent) {
  const auto status = decode_json<meta::v1::Status>(test::fixture("notfound.json"));

  const ApiError thrown{*status};

  EXPECT_EQ(thrown.code(), 404);
  EXPECT_EQ(thrown.reason(), reason::kNotFound);
  EXPECT_STREQ(thrown.what(), status->message.str().c_str());
  EXPECT_TRUE(is_not_found(thrown));
  EXPECT_FALSE(is_conflict(thrown));
}

TEST(ApiError, ReadsTheSameStatusFromProtobuf) {
  EXPECT_EQ(*decode_protobuf<meta::v1::Status>(test::fixture("notfound.pb")),
            *decode_json<meta::v1::Status>(test::fixture("notfound.json")));
}

TEST(ApiError, FallsBackToTheCodeWhereTheReasonIsUnknown) {
  EXPECT_TRUE(is_not_found(error(404, "")));
  EXPECT_TRUE(is_not_found(error(404, "SomethingElse")));
  EXPECT_TRUE(is_conflict(error(409, "")));
  EXPECT_TRUE(is_invalid(error(422, "")));
  EXPECT_TRUE(is_gone(error(410, "")));
  EXPECT_TRUE(is_timeout(error(504, "")));
  EXPECT_TRUE(is_internal_error(error(500, "")));
  EXPECT_TRUE(is_service_unavailable(error(503, "")));
}

TEST(ApiError, PrefersAKnownReasonToTheCode) {
  EXPECT_FALSE(is_conflict(error(409, reason::kAlreadyExists)));
  EXPECT_TRUE(is_already_exists(error(409, reason::kAlreadyExists)));
  EXPECT_FALSE(is_gone(error(410, reason::kExpired)));
  EXPECT_TRUE(is_resource_expired(error(410, reason::kExpired)));
  EXPECT_FALSE(is_already_exists(error(409, "")));
}

TEST(ApiError, TakesEvery429AsTooManyRequests) {
  EXPECT_TRUE(is_too_many_requests(error(429, reason::kNotFound)));
  EXPECT_TRUE(is_request_entity_too_large(error(413, reason::kNotFound)));
}

TEST(ApiError, ReturnsTheRetryDelay) {
  meta::v1::Status status{.reason = reason::kTooManyRequests, .code = 429};
  EXPECT_EQ(ApiError{status}.retry_after(), std::nullopt);

  status.details.emplace().retry_after_seconds = 3;
  EXPECT_EQ(ApiError{status}.retry_after(), 3s);

  status.reason = reason::kServerTimeout;
  status.details->retry_after_seconds = 0;
  EXPECT_EQ(ApiError{status}.retry_after(), 0s);
}

TEST(ApiError, RecognisesAResourceVersionFromTheFuture) {
  meta::v1::Status status{.reason = reason::kTimeout, .code = 504};
  status.details.emplace().causes.push_back({.reason = "ResourceVersionTooLarge"});

  EXPECT_TRUE(is_too_large_resource_version(ApiError{status}));
  EXPECT_FALSE(is_too_large_resource_version(error(504, reason::kTimeout)));
}

TEST(ApiError, HasAMessageEvenIfTheServerSentNone) {
  EXPECT_STREQ(error(503, "").what(), "the server answered with code 503");
  EXPECT_STREQ((ApiError{502, "bad gateway"}.what()), "bad gateway");
}

}  // namespace
}  // namespace kube
