// SPDX-License-Identifier: Apache-2.0
#include "client.hpp"

#include <kube/codec/json.hpp>

#include "config.hpp"
#include "log.hpp"
#include "objects.hpp"
#include "read_options.hpp"
#include "wait.hpp"

namespace kube::c {

ResourceName read_resource(const kubecxx_resource* given) {
  const auto name = read_options(&required(given, "resource"), "kubecxx_resource");
  ResourceName result{
      {copy(name.group, "group"), copy(name.version, "version"), copy(name.resource, "resource")},
      copy(name.namespace_, "namespace_")};
  if (result.resource.version.empty() || result.resource.resource.empty()) {
    throw std::invalid_argument(
        "kubecxx_resource: version and resource are required, such as \"v1\" and \"pods\"");
  }
  return result;
}

namespace {

/// Sets an optional output to null.
void clear(kubecxx_object** object) noexcept {
  if (object != nullptr) *object = nullptr;
}

/// At the end of a request, which may have run the program's loop, finishes the handles that
/// callbacks have freed.
struct FreedHandles {
  const std::shared_ptr<OwnLoop>& loop;
  ~FreedHandles() {
    if (loop) loop->finish_freed();
  }
};

/// Makes one request: checks that the caller may wait, calls `verb(resource, stop)`, which returns
/// an object, and stores it in `object`, unless that is null.
template <typename Verb>
void request(const char* function, kubecxx_client* client, const kubecxx_resource* resource,
             std::int64_t timeout_ms, const kubecxx_cancel* cancel, kubecxx_object** object,
             const Verb& verb) {
  kubecxx_client& handle = alive(client, "client");
  const ResourceName name = read_resource(resource);
  check_may_wait(function);
  // Copies, because a callback that runs meanwhile may free the handle.
  const std::shared_ptr<RuntimeState> runtime = handle.runtime;
  const Client copied = *handle.client;
  const FreedHandles freed{runtime->own_loop};
  const CallDeadline deadline{*runtime->runtime, timeout_ms, cancel};
  Ref<Value> answer;
  try {
    answer = verb(copied.dynamic(name.resource, name.namespace_), deadline.token());
  } catch (...) {
    deadline.rethrow();
  }
  if (object != nullptr) *object = new kubecxx_object(std::move(answer));
}

CreateOptions create_options(const kubecxx_write_options& given) {
  return {.dry_run = given.dry_run != 0,
          .field_manager = copy(given.field_manager, "field_manager"),
          .field_validation = copy(given.field_validation, "field_validation")};
}

/// Parses an object to send. Throws CodecError, std::invalid_argument.
Ref<Value> parse_object(kubecxx_string json) {
  Ref<Value> object = decode_json<Value>(view(json, "json"));
  if (!object->is_object()) throw std::invalid_argument("json is not an object");
  return object;
}

PatchType patch_type(int type) {
  switch (type) {
    case KUBECXX_PATCH_JSON:
      return PatchType::kJson;
    case KUBECXX_PATCH_MERGE:
      return PatchType::kMerge;
    case KUBECXX_PATCH_STRATEGIC_MERGE:
      return PatchType::kStrategicMerge;
    default:
      throw std::invalid_argument("type is not one of KUBECXX_PATCH_...");
  }
}

}  // namespace
}  // namespace kube::c

using namespace kube::c;
using Objects = kube::Resource<kube::Value>;

int kubecxx_client_new(const kubecxx_config* config, const kubecxx_client_options* options,
                       kubecxx_client** client) {
  return guarded([&] {
    auto& result = output(client, "client");
    const auto given = read_options(options, "kubecxx_client_options");
    const kube::Logger log = logger_of(given.log);
    std::shared_ptr<RuntimeState> runtime =
        given.runtime != nullptr ? alive(given.runtime, "runtime").state
                                 : std::make_shared<RuntimeState>(kube::RuntimeOptions{.log = log});
    kube::ClientOptions how{.log = log, .runtime = runtime->runtime};
    result =
        new kubecxx_client(required(config, "config").config, std::move(how), std::move(runtime));
  });
}

void kubecxx_client_free(kubecxx_client* client) { free_handle(client); }

int kubecxx_client_get(kubecxx_client* client, const kubecxx_resource* resource,
                       kubecxx_string name, const kubecxx_get_options* options,
                       kubecxx_object** object) {
  return guarded([&] {
    clear(object);
    const auto given = read_options(options, "kubecxx_get_options");
    const kube::GetOptions how{.resource_version =
                                   copy(given.resource_version, "resource_version")};
    const std::string_view subresource = view(given.subresource, "subresource");
    request("kubecxx_client_get", client, resource, given.timeout_ms, given.cancel, object,
            [&](const Objects& objects, std::stop_token stop) {
              return subresource.empty()
                         ? objects.get(view(name, "name"), how, std::move(stop))
                         : objects.get_subresource<kube::Value>(view(name, "name"), subresource,
                                                                how, std::move(stop));
            });
  });
}

int kubecxx_client_create(kubecxx_client* client, const kubecxx_resource* resource,
                          kubecxx_string json, const kubecxx_write_options* options,
                          kubecxx_object** stored) {
  return guarded([&] {
    clear(stored);
    const auto given = read_options(options, "kubecxx_write_options");
    const kube::CreateOptions how = create_options(given);
    const auto body = parse_object(json);
    const std::string_view subresource = view(given.subresource, "subresource");
    request("kubecxx_client_create", client, resource, given.timeout_ms, given.cancel, stored,
            [&](const Objects& objects, std::stop_token stop) {
              return subresource.empty() ? objects.create(*body, how, std::move(stop))
                                         : objects.create_subresource<kube::Value>(
                                               kube::detail::name_of(*body), subresource, *body,
                                               how, std::move(stop));
            });
  });
}

int kubecxx_client_update(kubecxx_client* client, const kubecxx_resource* resource,
                          kubecxx_string json, const kubecxx_write_options* options,
                          kubecxx_object** stored) {
  return guarded([&] {
    clear(stored);
    const auto given = read_options(options, "kubecxx_write_options");
    const kube::UpdateOptions how = create_options(given);
    const auto body = parse_object(json);
    const std::string_view subresource = view(given.subresource, "subresource");
    request("kubecxx_client_update", client, resource, given.timeout_ms, given.cancel, stored,
            [&](const Objects& objects, std::stop_token stop) {
              return subresource.empty() ? objects.update(*body, how, std::move(stop))
                                         : objects.update_subresource<kube::Value>(
                                               kube::detail::name_of(*body), subresource, *body,
                                               how, std::move(stop));
            });
  });
}

int kubecxx_client_apply(kubecxx_client* client, const kubecxx_resource* resource,
                         kubecxx_string json, const kubecxx_write_options* options,
                         kubecxx_object** stored) {
  return guarded([&] {
    clear(stored);
    const auto given = read_options(options, "kubecxx_write_options");
    const kube::ApplyOptions how{
        .field_manager = copy(given.field_manager, "field_manager"),
        .force = given.force != 0,
        .dry_run = given.dry_run != 0,
        .field_validation = copy(given.field_validation, "field_validation")};
    const auto body = parse_object(json);
    const std::string_view subresource = view(given.subresource, "subresource");
    if (!subresource.empty() && subresource != "status") {
      throw std::invalid_argument("apply supports no subresource except \"status\"");
    }
    request("kubecxx_client_apply", client, resource, given.timeout_ms, given.cancel, stored,
            [&](const Objects& objects, std::stop_token stop) {
              return subresource.empty() ? objects.apply(*body, how, std::move(stop))
                                         : objects.apply_status(*body, how, std::move(stop));
            });
  });
}

int kubecxx_client_patch(kubecxx_client* client, const kubecxx_resource* resource,
                         kubecxx_string name, int type, kubecxx_string body,
                         const kubecxx_write_options* options, kubecxx_object** stored) {
  return guarded([&] {
    clear(stored);
    const auto given = read_options(options, "kubecxx_write_options");
    const kube::PatchOptions how{
        .dry_run = given.dry_run != 0,
        .field_manager = copy(given.field_manager, "field_manager"),
        .field_validation = copy(given.field_validation, "field_validation")};
    request("kubecxx_client_patch", client, resource, given.timeout_ms, given.cancel, stored,
            [&](const Objects& objects, std::stop_token stop) {
              return objects.patch(view(name, "name"), patch_type(type), copy(body, "body"), how,
                                   view(given.subresource, "subresource"), std::move(stop));
            });
  });
}

int kubecxx_client_delete(kubecxx_client* client, const kubecxx_resource* resource,
                          kubecxx_string name, const kubecxx_delete_options* options) {
  return guarded([&] {
    const auto given = read_options(options, "kubecxx_delete_options");
    kube::DeleteOptions how{
        .uid = copy(given.uid, "uid"),
        .resource_version = copy(given.resource_version, "resource_version"),
        .propagation_policy = copy(given.propagation_policy, "propagation_policy"),
        .dry_run = given.dry_run != 0};
    if (given.has_grace_period != 0) how.grace_period_seconds = given.grace_period_seconds;
    request("kubecxx_client_delete", client, resource, given.timeout_ms, given.cancel, nullptr,
            [&](const Objects& objects, std::stop_token stop) {
              objects.delete_(view(name, "name"), how, std::move(stop));
              return kube::Ref<kube::Value>{};
            });
  });
}
