// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/api/object_key.hpp>
#include <kube/base/clock.hpp>
#include <kube/base/error.hpp>
#include <kube/client/client.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Applies, compares, waits for and deletes the objects of YAML and JSON documents.
///
///   const auto manifest = kube::parse_manifest(text, "shop.yaml");
///   kube::apply_manifest(client, manifest, {.field_manager = "shop-installer"});
///   kube::wait_for_manifest(client, manifest, {.timeout = 2min});
///
/// The server's discovery says which resource a kind belongs to; definitions of custom resources in
/// the manifest itself count as well. A kind that neither has is an error before anything is
/// written.
namespace kube {

/// Where an object of a manifest is written.
struct ManifestPlace {
  /// The name that parse_manifest() was given; may be empty.
  std::string source = {};
  /// Number of the document, from 1; 0 for an object that is not in a manifest.
  std::size_t document = 0;
  /// The line on which the document begins, from 1.
  std::size_t line = 0;
  /// Number of the item, from 1, if the document is a list; else 0.
  std::size_t item = 0;

  bool operator==(const ManifestPlace&) const = default;
};
/// Returns a text for messages: "shop.yaml: document 2 (line 7), item 3".
[[nodiscard]] std::string to_string(const ManifestPlace& place);

/// One object of a manifest.
struct ManifestObject {
  ManifestPlace place = {};
  GroupVersionKind kind = {};
  /// Name and namespace as written; the namespace may be empty.
  ObjectKey key = {};
  Ref<Value> object = nullptr;
};

/// The objects of one or more texts, in the order in which they are written.
using Manifest = std::vector<ManifestObject>;

/// The effect of an operation on an object; in a dry run, the effect that it would have.
enum class ManifestAction : std::uint8_t {
  kCreated,
  kChanged,
  kUnchanged,   ///< the resource version has not changed
  kDeleted,     ///< deletion was requested
  kPruned,      ///< deletion was requested, as the object is no longer in the manifest
  kAbsent,      ///< nothing to delete
  kNotChecked,  ///< dry run: needs a namespace or a kind that the manifest itself creates
  kFailed,
  kNotTried,  ///< an earlier error, or a stop, ended the work
};
/// Returns "created", "not checked", ...
[[nodiscard]] std::string_view to_string(ManifestAction action) noexcept;

/// The result of one object.
struct ManifestResult {
  ManifestAction action = ManifestAction::kNotTried;
  GroupVersionKind kind = {};
  /// With the namespace in which the object is.
  ObjectKey key = {};
  ManifestPlace place = {};
  /// The object as the server returned it; null if it did not.
  Ref<Value> object = nullptr;
  /// For kFailed and kNotChecked: the reason.
  std::string problem = {};
};
/// Returns a line for users: "apps/v1 Deployment shop/web created".
[[nodiscard]] std::string to_string(const ManifestResult& result);

/// Thrown when a manifest is malformed, or when an operation failed for some of its objects. The
/// message lists every problem with place, kind and name, and then what was done and what was not.
class ManifestError : public Error {
 public:
  /// `message` is the text of what().
  explicit ManifestError(const std::string& message, std::vector<ManifestResult> results = {})
      : Error(message), results_(std::move(results)) {}

  /// One result per object. Empty if nothing was sent to the server.
  [[nodiscard]] const std::vector<ManifestResult>& results() const noexcept { return results_; }

 private:
  std::vector<ManifestResult> results_;
};

/// Reads the objects of a stream of YAML documents, or of a JSON document. Empty documents are
/// skipped; lists are replaced by their items. `source` names the text in messages. Throws
/// ManifestError, with all problems of all documents.
[[nodiscard]] Manifest parse_manifest(std::string_view text, std::string_view source = {});

/// The annotation that excludes an object from pruning if its value is "true".
inline constexpr std::string_view kKeepAnnotation = "kubecxx.dev/keep";

/// Which objects apply_manifest() deletes because they are no longer in the manifest: those that
/// have the labels, were applied by the same field manager, and are of a kind and in a namespace
/// that is looked at. Those are the kinds and namespaces of the manifest, and the ones given here.
///
/// Objects with the annotation kKeepAnnotation are kept. Nothing is deleted if an object could not
/// be applied.
struct PruneOptions {
  /// Required: "app.kubernetes.io/part-of=shop". All objects of the manifest must match it.
  std::string label_selector = {};
  /// Kinds that earlier versions of the manifest had.
  std::vector<GroupKind> kinds = {};
  /// Namespaces that earlier versions of the manifest had.
  std::vector<std::string> namespaces = {};
  /// Delete also Namespaces, CustomResourceDefinitions and PersistentVolumeClaims, whose deletion
  /// deletes data.
  bool delete_data = false;
  /// Allow a manifest without objects, which deletes everything.
  bool allow_empty = false;
};

/// Options of apply_manifest() and diff_manifest().
struct ManifestOptions {
  /// Required: the name of the manager, as for ApplyOptions.
  std::string field_manager = {};
  /// Take ownership of fields that other managers own, instead of failing with a conflict.
  bool force = false;
  /// The namespace of namespaced objects that name none; by default that of the client's Config.
  std::string namespace_ = {};
  /// How to treat unknown fields: "Ignore", "Warn" or "Strict".
  std::string field_validation = {};
  /// Only for apply_manifest(): send everything as a dry run, and report what would happen.
  bool dry_run = false;
  /// Only for apply_manifest(): how long to wait for a CustomResourceDefinition to be served.
  Clock::Duration definition_timeout = std::chrono::minutes{1};
  /// Only for apply_manifest(): delete objects that are no longer in the manifest.
  std::optional<PruneOptions> prune = std::nullopt;
};

/// Applies all objects (server-side apply), in an order that lets each find what it needs:
/// namespaces, CustomResourceDefinitions, other cluster-scoped objects, service accounts and RBAC,
/// ConfigMaps and Secrets, everything else, and last webhook configurations and API services. New
/// kinds are waited for before their first object.
///
/// Returns one result per object, in that order, and then those of pruned objects. Throws
/// ManifestError if any object failed; the others have been applied nevertheless. Without an answer
/// from the server, and after a stop, the rest is not tried.
std::vector<ManifestResult> apply_manifest(const Client& client, const Manifest& manifest,
                                           const ManifestOptions& options,
                                           std::stop_token stop = {});
/// Parses and applies. Nothing is sent before the whole text was parsed.
std::vector<ManifestResult> apply_manifest(const Client& client, std::string_view text,
                                           const ManifestOptions& options,
                                           std::stop_token stop = {});

/// Options of delete_manifest().
struct ManifestDeleteOptions {
  /// See ManifestOptions.
  std::string namespace_ = {};
  /// Validates the requests without deleting anything.
  bool dry_run = false;
  /// How to treat dependents: "Orphan", "Background" or "Foreground".
  std::string propagation_policy = {};
  /// How long to wait until all objects are gone; 0 does not wait. CustomResourceDefinitions, and
  /// what is deleted after them, are only deleted once the other objects are gone.
  Clock::Duration wait{};
};

/// Deletes all objects, in the reverse order of apply_manifest(). Objects and kinds that do not
/// exist are results (kAbsent). Throws ManifestError if a deletion failed, or is not complete in
/// time.
std::vector<ManifestResult> delete_manifest(const Client& client, const Manifest& manifest,
                                            const ManifestDeleteOptions& options = {},
                                            std::stop_token stop = {});
/// Parses and deletes.
std::vector<ManifestResult> delete_manifest(const Client& client, std::string_view text,
                                            const ManifestDeleteOptions& options = {},
                                            std::stop_token stop = {});

/// Options of wait_for_manifest().
struct ManifestWaitOptions {
  /// For all objects together.
  Clock::Duration timeout = std::chrono::minutes{5};
  /// See ManifestOptions.
  std::string namespace_ = {};
  /// Conditions that objects of other kinds must have: "Ready", or "Ready=False".
  std::map<GroupKind, std::string> conditions = {};
};

/// Waits until all objects are ready: workloads are rolled out, pods ready, jobs complete,
/// namespaces active, CustomResourceDefinitions established, API services available; any other
/// object has the condition given for its kind, or else exists. Throws ManifestError with the
/// objects that are not ready, and why.
void wait_for_manifest(const Client& client, const Manifest& manifest,
                       const ManifestWaitOptions& options = {}, std::stop_token stop = {});

/// A field that differs.
struct FieldChange {
  /// "spec.template.spec.containers[name=web].image". Elements of a list are identified by their
  /// name if all have one, else by index.
  std::string path = {};
  /// Absent if the field is added.
  Value before = {};
  /// Absent if the field is removed.
  Value after = {};
};

/// The changes that applying an object of a manifest would make.
struct ObjectDiff {
  /// kCreated, kChanged, kUnchanged or kNotChecked.
  ManifestAction action = ManifestAction::kUnchanged;
  GroupVersionKind kind = {};
  ObjectKey key = {};
  ManifestPlace place = {};
  std::vector<FieldChange> changes = {};
};
/// Returns the diff for users, one line per field.
[[nodiscard]] std::string to_string(const ObjectDiff& diff);

/// Compares the live objects with what the server would store, which a dry run tells: defaults and
/// the changes of admission webhooks are included. managedFields, resourceVersion, generation, uid
/// and creationTimestamp are left out, and the status unless the manifest sets it. Values of Secrets
/// are replaced by asterisks. Throws ManifestError if an object cannot be compared.
[[nodiscard]] std::vector<ObjectDiff> diff_manifest(const Client& client, const Manifest& manifest,
                                                    const ManifestOptions& options,
                                                    std::stop_token stop = {});
/// Parses and compares.
[[nodiscard]] std::vector<ObjectDiff> diff_manifest(const Client& client, std::string_view text,
                                                    const ManifestOptions& options,
                                                    std::stop_token stop = {});

}  // namespace kube
