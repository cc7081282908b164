// SPDX-License-Identifier: Apache-2.0
#include <kube/informers/generic_informer.hpp>

#include <kube/api/registry.hpp>
#include <kube/cache/lister.hpp>

#include <fmt/format.h>

#include <map>
#include <stdexcept>

namespace kube {
namespace {

/// Common prefix of all API kinds that can be cached, so that one accessor serves them all.
struct AnyKind {
  meta::v1::ObjectMeta metadata;
  static constexpr const Type& kube_type = meta::v1::ObjectMeta::kube_type;
};

bool begins_with_metadata(const Type& type) {
  for (const Field& field : type.fields) {
    if (field.offset == 0) return field.type == &type_of<meta::v1::ObjectMeta>();
  }
  return false;
}

struct ServedKind {
  const ResourceInfo* resource;
  detail::ObjectAccess access;
};
using ServedKinds = std::map<GroupVersionResource, ServedKind>;

/// Returns all built-in kinds that can be listed and watched.
const ServedKinds& served_kinds() {
  static const ServedKinds kKinds = [] {
    ServedKinds all;
    for (const ApiKind& kind : api_kinds()) {
      if (kind.resource == nullptr || !kind.resource->has_verb("list") ||
          !kind.resource->has_verb("watch") || !begins_with_metadata(*kind.type)) {
        continue;
      }
      detail::ObjectAccess access = detail::kObjectAccess<AnyKind>;
      access.type = kind.type;
      all.emplace(GroupVersionResource{std::string{kind.resource->group},
                                       std::string{kind.resource->version},
                                       std::string{kind.resource->plural}},
                  ServedKind{kind.resource, access});
    }
    return all;
  }();
  return kKinds;
}

}  // namespace

AnyObject GenericLister::find_text(std::string_view key) const {
  const auto parts = detail::KeyParts::of(key);
  const bool whole = namespace_.empty();
  return detail::Inside::make<AnyObject>(
      store_->snapshot().find(whole ? parts.namespace_ : std::string_view{namespace_},
                              whole ? parts.name : key),
      *access_);
}

AnyObject GenericLister::find(const ObjectKey& key) const {
  if (!namespace_.empty() && key.namespace_ != namespace_) return {};
  return detail::Inside::make<AnyObject>(store_->snapshot().find(key.namespace_, key.name),
                                         *access_);
}

AnyObject GenericLister::found(AnyObject object, const std::string& key) const {
  if (!object) throw not_found_error(resource_, key);
  return object;
}

std::vector<AnyObject> GenericLister::list(const labels::Selector& selector) const {
  std::vector<AnyObject> found;
  store_->snapshot().select(namespace_, selector, [&](const detail::ObjectRef& object) {
    found.push_back(detail::Inside::make<AnyObject>(object, *access_));
    return true;
  });
  return found;
}

HandlerRegistration GenericInformer::add_event_handler(GenericEventHandler handler,
                                                       HandlerOptions options) {
  using detail::ObjectRef;
  const auto any_object = [access = access_](const ObjectRef& object) {
    return detail::Inside::make<AnyObject>(object, *access);
  };
  detail::AnyHandler any;
  if (handler.on_add) {
    any.on_add = [any_object, call = std::move(handler.on_add)](
                     const ObjectRef& now, bool initial) { call(any_object(now), initial); };
  }
  if (handler.on_update) {
    any.on_update = [any_object, call = std::move(handler.on_update)](const ObjectRef& before,
                                                                      const ObjectRef& now) {
      call(any_object(before), any_object(now));
    };
  }
  if (handler.on_delete) {
    any.on_delete = [any_object, call = std::move(handler.on_delete)](
                        const ObjectRef& last, std::string_view key, bool final_state_known) {
      const auto parts = detail::KeyParts::of(key);
      call(any_object(last), {std::string{parts.namespace_}, std::string{parts.name}},
           final_state_known);
    };
  }
  return core_->add_handler(std::move(any), std::move(options));
}

GenericInformer detail::generic_informer(const std::shared_ptr<FactoryCore>& factory,
                                         const GroupVersionResource& resource) {
  const auto found = served_kinds().find(resource);
  if (found == served_kinds().end()) {
    throw std::invalid_argument(fmt::format("no informer found for {}", to_string(resource)));
  }
  const ServedKind& kind = found->second;
  const InformerKey key{kind.access.type, resource};
  auto core = factory->informer(key, [&] {
    return factory->make(
        {.key = key,
         .access = &kind.access,
         .resource = Inside::resource_core(factory->client(), *kind.resource, *kind.access.type,
                                           factory->options().namespace_)});
  });
  return Inside::make<GenericInformer>(std::move(core), kind.access, resource);
}

}  // namespace kube
