// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/http/message.hpp"
#include "testkit/http/url.hpp"
#include "testkit/kinds/kind_rules.hpp"
#include "testkit/requests/negotiation.hpp"
#include "testkit/requests/services.hpp"
#include "testkit/rest/list_options.hpp"
#include "testkit/rest/object_encoding.hpp"
#include "testkit/rest/watch_stream.hpp"

namespace kube::testkit::detail {

/// A request for a resource.
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
  /// Texts of the Warning headers (CR-7, CR-8).
  std::vector<std::string> warnings = {};

  [[nodiscard]] std::string key() const { return key_of(namespace_, name); }
  [[nodiscard]] std::string_view header(std::string_view header_name) const;
  /// Returns what `needed_verb` on the same object is for authorization.
  [[nodiscard]] AccessRequest access_for(std::string needed_verb) const;
  void warn(std::string text);
  /// Negotiates the output format. Throws ApiError 406.
  void choose_output(const Offer& offer);
};

/// Validated options of create, update and patch.
struct WriteOptions {
  enum class FieldValidation { kIgnore, kWarn, kStrict };

  bool dry_run = false;
  std::string field_manager;
  FieldValidation field_validation = FieldValidation::kWarn;
  std::optional<bool> force;

  /// Throws ApiError 422 that includes `errors`. `kind` names the options: "CreateOptions".
  static WriteOptions parse(const Query& query, std::string_view kind,
                            std::vector<FieldError> errors = {});
};

/// The options of a deletion (DL-1).
struct DeleteRequest {
  std::optional<std::int64_t> grace = std::nullopt;
  std::optional<std::string> uid = std::nullopt;
  std::optional<std::string> version = std::nullopt;
  std::optional<bool> orphan_dependents = std::nullopt;
  std::string propagation = {};
  bool dry_run = false;
};

struct DeleteOutcome {
  StoredObject object;  ///< as it was, or the current state if it still exists
  bool gone = false;
  /// The object was already being deleted, and nothing changed.
  bool unchanged = false;
  /// `object` has no content (DL-5).
  bool blank = false;
};

/// Implements the API verbs on the store.
///
/// Each method handles one request or throws ApiError (CodecError for malformed bodies).
///
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
  /// Subresources with their own verbs: scale, eviction, binding, token, finalize, reviews...
  ServerResponse subresource(RestRequest& request);
  /// Kinds that are never stored: SubjectAccessReview, TokenReview...
  ServerResponse review(RestRequest& request);

  /// Deletes one object as a DELETE request would (DL-2 to DL-7).
  DeleteOutcome remove_object(const Resource& resource, const std::string& key,
                              const DeleteRequest& options);
  /// Changes one object on behalf of the server: `change` gets a copy of the stored form and
  /// returns whether to write it. Retries on conflicts; does nothing if the object does not exist.
  /// Deletes an object that is being deleted and has lost its last finalizer.
  StoredObject edit(Collection& collection, const std::string& key,
                    const std::function<bool(Value&)>& change);

 private:
  /// The result of a write.
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
  /// Appends unknown fields of the metadata, which schemas of custom resources do not describe.
  void add_unknown_metadata(const Value& object, std::vector<std::string>& unknown) const;
  Written patch_object(RestRequest& request, const WriteOptions& options, std::string_view type);
  Written apply_object(RestRequest& request, const WriteOptions& options);
  DeleteRequest delete_options(RestRequest& request);
  /// Throws ApiError if an admission policy denies the deletion.
  void check_deletion_policies(RestRequest& request, const StoredObject& object,
                               const DeleteRequest& options);

  ServerResponse scale(RestRequest& request);
  Written apply_scale(RestRequest& request);
  ServerResponse log(RestRequest& request);
  ServerResponse evict(RestRequest& request);
  ServerResponse bind(RestRequest& request);
  ServerResponse token(RestRequest& request);
  /// Returns the status of a review of access.
  [[nodiscard]] Value review_access(const RestRequest& request, const Value& review) const;
  /// Returns the status of a SelfSubjectRulesReview.
  [[nodiscard]] Value review_rules(const RestRequest& request, const Value& review) const;
  /// Returns the status of a TokenReview.
  [[nodiscard]] Value review_token(const Value& review) const;
  ServerResponse finalize(RestRequest& request);

  Services& services_;
};

/// Creates a response with the common headers (RQ-6).
[[nodiscard]] ServerResponse make_response(int status, std::string_view content_type,
                                           std::string body);

}  // namespace kube::testkit::detail
