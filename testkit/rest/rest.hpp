// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/http/message.hpp"
#include "testkit/kinds/kind_rules.hpp"
#include "testkit/rest/list_options.hpp"
#include "testkit/requests/negotiation.hpp"
#include "testkit/rest/object_encoding.hpp"
#include "testkit/http/url.hpp"
#include "testkit/requests/services.hpp"
#include "testkit/rest/watch_stream.hpp"

namespace kube::testkit::detail {

/// A request for a resource, on its way through the engine.
struct RestRequest {
  const ServerRequest& http;
  RequestUrl url;
  User user;
  ResourcePtr resource;
  std::string verb;
  std::string namespace_ = {};
  std::string name = {};
  std::string subresource = {};
  Output output = {};
  /// For Warning headers (CR-7, CR-8).
  std::vector<std::string> warnings = {};

  [[nodiscard]] std::string key() const { return key_of(namespace_, name); }
  [[nodiscard]] std::string_view header(std::string_view header_name) const;
  void warn(std::string text);
  /// Picks what the client prefers of the offer. Throws ApiError 406.
  void choose_output(const Offer& offer);
};

/// Options of create, update and patch, checked.
struct WriteOptions {
  enum class FieldValidation { kIgnore, kWarn, kStrict };

  bool dry_run = false;
  std::string field_manager;
  FieldValidation field_validation = FieldValidation::kWarn;
  std::optional<bool> force;

  /// Throws ApiError 422, about `errors` as well. `kind` names the options: "CreateOptions".
  static WriteOptions parse(const Query& query, std::string_view kind,
                            std::vector<FieldError> errors = {});
};

/// What a deletion asks for (DL-1).
struct DeleteRequest {
  std::optional<std::int64_t> grace = std::nullopt;
  std::optional<std::string> uid = std::nullopt;
  std::optional<std::string> version = std::nullopt;
  std::optional<bool> orphan_dependents = std::nullopt;
  std::string propagation = {};
  bool dry_run = false;
};

struct DeleteOutcome {
  StoredObject object;  ///< as it was, or as it is now if it still exists
  bool gone = false;
  /// The stored object was found being deleted already, and nothing changed.
  bool unchanged = false;
  /// `object` has no content (DL-5).
  bool blank = false;
};

/// The verbs of the API on the store.
///
/// Each method answers one request or throws ApiError (or CodecError for bodies that are no documents).
/// Thread safety: all methods, from any thread.
class Rest {
 public:
  explicit Rest(Services& services) : services_(services) {}

  ServerResponse get(RestRequest& request);
  ServerResponse list(RestRequest& request);
  ServerResponse watch(RestRequest& request);
  ServerResponse create(RestRequest& request);
  ServerResponse update(RestRequest& request);
  ServerResponse patch(RestRequest& request);
  ServerResponse remove(RestRequest& request);
  ServerResponse remove_collection(RestRequest& request);
  /// Subresources with verbs of their own: scale, eviction, binding, token, finalize, reviews...
  ServerResponse subresource(RestRequest& request);
  /// Kinds that are answered and never stored.
  ServerResponse review(RestRequest& request);

  /// Deletes one object as a DELETE request would (DL-2 to DL-7).
  DeleteOutcome remove_object(const Resource& resource, const std::string& key,
                              const DeleteRequest& options);
  /// Changes one object without being asked by a client: `change` gets a copy of the stored form and says
  /// whether to write it. Retries on races; does nothing if the object is gone. An object that is being
  /// deleted and loses its last finalizer goes.
  StoredObject edit(Collection& collection, const std::string& key,
                    const std::function<bool(Value&)>& change);
  /// Decides what users may do.
  [[nodiscard]] AccessDecision authorize(const AccessRequest& access) const;

 private:
  /// A written object together with what happened.
  struct Written {
    StoredObject object;
    bool created = false;
  };
  using Change = std::function<Value(const Value& live)>;

  [[nodiscard]] static Scope scope_of(const RestRequest& request, const ListOptions& options);
  [[nodiscard]] static Selection selection_of(const Resource& resource, const ListOptions& options);
  void await_version(const RestRequest& request, std::uint64_t version);
  ListPage read_page(const RestRequest& request, const ListOptions& options);
  [[nodiscard]] ObjectEncoder encoder(const RestRequest& request) const;
  ServerResponse respond(const RestRequest& request, int status, const StoredObject& object);

  Value decode_body(RestRequest& request, const Resource& as, const WriteOptions& options);
  StoredObject to_stored(const Resource& resource, Value object);
  void check_new_namespace(const RestRequest& request);
  void finish_new(RestRequest& request, Value& object, const WriteOptions& options, bool track);
  Written create_object(RestRequest& request, Value object, const WriteOptions& options,
                        bool track = true);
  Written update_object(RestRequest& request, const WriteOptions& options, const Change& change,
                        bool may_create, bool is_apply);
  Value finish_update(RestRequest& request, const Value& live, Value next,
                      const WriteOptions& options, bool track);
  /// Fields that metadata does not have; schemas of custom resources say nothing about it.
  void add_unknown_metadata(const Value& object, std::vector<std::string>& unknown) const;
  Written patch_object(RestRequest& request, const WriteOptions& options, std::string_view type);
  Written apply_object(RestRequest& request, const WriteOptions& options);
  DeleteRequest delete_options(RestRequest& request);
  /// Throws ApiError if an admission policy denies the deletion.
  void ask_about_deletion(RestRequest& request, const StoredObject& object,
                          const DeleteRequest& options);

  ServerResponse scale(RestRequest& request);
  Written apply_scale(RestRequest& request);
  ServerResponse log(RestRequest& request);
  ServerResponse evict(RestRequest& request);
  ServerResponse bind(RestRequest& request);
  ServerResponse token(RestRequest& request);
  /// The status of a TokenReview.
  [[nodiscard]] Value review_token(const Value& review) const;
  ServerResponse finalize(RestRequest& request);

  Services& services_;
};

/// An answer with headers that belong to every one (RQ-6).
[[nodiscard]] ServerResponse make_response(int status, std::string_view content_type,
                                           std::string body);

}  // namespace kube::testkit::detail
