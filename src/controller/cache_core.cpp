// SPDX-License-Identifier: Apache-2.0
#include "cache_core.hpp"

#include "client/rest_client.hpp"
#include <kube/api/fields.hpp>
#include <kube/cache/lister.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace kube::detail {
namespace {

/// Fills the members of `scope` that are not set from `from`.
CacheScope inherit(CacheScope scope, const CacheScope& from) {
  if (!scope.label_selector) scope.label_selector = from.label_selector;
  if (!scope.field_selector) scope.field_selector = from.field_selector;
  if (!scope.sync_period) scope.sync_period = from.sync_period;
  return scope;
}

/// Returns a field selector for all namespaces except those that have their own entry.
std::string without_namespaces(const CacheNamespaces& others, const std::string& selector) {
  std::vector<field_selectors::Requirement> requirements =
      field_selectors::Selector::parse(selector).requirements();
  for (const auto& [name, scope] : others) {
    if (name.empty()) continue;
    requirements.push_back({"metadata.namespace", field_selectors::Operator::kNotEquals, name});
  }
  return field_selectors::Selector{std::move(requirements)}.to_string();
}

void check_scope(const CacheScope& scope) {
  check_selectors(ListOptions{.label_selector = scope.label_selector.value_or(""),
                              .field_selector = scope.field_selector.value_or("")});
}

std::string index_name(std::string_view field) { return fmt::format("field:{}", field); }
/// Each value of a field is indexed twice: with its namespace, and without.
std::string index_value(std::string_view space, std::string_view value) {
  return fmt::format("{}/{}", space, value);
}

}  // namespace

CacheCore::CacheCore(Client client, CacheOptions options, FactoryOptions informers, Random random)
    : options_(std::move(options)),
      random_(std::move(random)),
      factory_(std::move(client), std::move(informers)) {
  check_scope({options_.label_selector, options_.field_selector, {}});
  for (const auto& [name, scope] : options_.namespaces) check_scope(scope);
  for (const CachedKind& kind : options_.by_object) {
    const KindCacheOptions& own = Inside::core(kind);
    check_scope(own.scope);
    for (const auto& [name, scope] : own.namespaces.value_or(CacheNamespaces{})) {
      check_scope(scope);
    }
    if (own.namespaces && !own.kind.names.namespaced) {
      throw std::invalid_argument(fmt::format(
          "{} is cluster-scoped, but its cache options name namespaces", describe(own.kind)));
    }
  }
}

const KindCacheOptions* CacheCore::own_options(const WatchedKind& kind) const {
  const auto found = std::ranges::find_if(options_.by_object, [&](const CachedKind& one) {
    const KindCacheOptions& own = Inside::core(one);
    return own.kind.access->type == kind.access->type &&
           own.kind.names.resource == kind.names.resource;
  });
  return found == options_.by_object.end() ? nullptr : &Inside::core(*found);
}

CacheCore::Kind CacheCore::plan(const WatchedKind& kind) const {
  const KindCacheOptions* own = own_options(kind);
  const CacheScope of_kind = own != nullptr ? own->scope : CacheScope{};
  const CacheScope of_all{options_.label_selector, options_.field_selector, options_.sync_period};
  const CacheNamespaces* namespaces = &options_.namespaces;
  if (own != nullptr && own->namespaces) namespaces = &*own->namespaces;
  if (!kind.names.namespaced || namespaces->empty()) {
    return {{.namespace_ = {}, .scope = inherit(of_kind, of_all), .informer = {}}};
  }
  Kind parts;
  for (const auto& [name, special] : *namespaces) {
    CacheScope scope = own != nullptr && own->namespaces ? special : CacheScope{};
    scope = inherit(scope, of_kind);
    if (const auto common = options_.namespaces.find(name); common != options_.namespaces.end()) {
      scope = inherit(scope, common->second);
    }
    scope = inherit(scope, of_all);
    if (name.empty()) {
      scope.field_selector = without_namespaces(*namespaces, scope.field_selector.value_or(""));
    }
    parts.push_back({name, std::move(scope), {}});
  }
  return parts;
}

ResourceCore CacheCore::resource(const WatchedKind& kind, const std::string& space) const {
  const Client& client = factory_.client();
  if (kind.info != nullptr)
    return Inside::resource_core(client, *kind.info, *kind.access->type, space);
  return kind.access->type == &type_of<Value>()
             ? Inside::core(client.dynamic(kind.names.resource, space))
             : Inside::core(client.metadata(kind.names.resource, space));
}

std::shared_ptr<const CacheCore::Kind> CacheCore::find_or_make(const WatchedKind& kind) {
  const KindKey key{kind.access->type, kind.names.resource};
  const std::lock_guard one_at_a_time{making_};
  {
    const std::lock_guard guard{mutex_};
    if (const auto found = kinds_.find(key); found != kinds_.end()) return found->second;
  }
  auto made = std::make_shared<Kind>(plan(kind));
  const KindCacheOptions* own = own_options(kind);
  const double spread = 0.9 + 0.2 * random_();
  for (Part& part : *made) {
    const InformerKey informer{kind.access->type, kind.names.resource, part.namespace_};
    const auto period = std::chrono::duration<double, Clock::Duration::period>{
        part.scope.sync_period.value_or(Clock::Duration{})};
    part.informer = factory_.informer(informer, [&] {
      auto core =
          factory_.make({.key = informer,
                         .access = kind.access,
                         .resource = resource(kind, part.namespace_),
                         .resync = std::chrono::duration_cast<Clock::Duration>(period * spread),
                         .tweak_list_options =
                             [scope = part.scope](ListOptions& options) {
                               options.label_selector = scope.label_selector.value_or("");
                               options.field_selector = scope.field_selector.value_or("");
                             },
                         .projection = own != nullptr ? own->projection : Projection{}});
      if (own != nullptr) core->set_transform(own->transform);
      return core;
    });
  }
  const std::lock_guard guard{mutex_};
  if (started_) factory_.start(stopping_.get_token());
  return kinds_.emplace(key, std::move(made)).first->second;
}

std::vector<CacheCore::Informer> CacheCore::informers(const WatchedKind& kind) {
  std::vector<Informer> informers;
  for (const Part& part : *find_or_make(kind)) informers.push_back(part.informer);
  return informers;
}

void CacheCore::add_index(const WatchedKind& kind, const std::string& field,
                          IndexerCore::IndexFunction values) {
  const auto filed = [values = std::move(values), access = kind.access](const void* object) {
    std::vector<std::string> places;
    const std::string_view space = access->namespace_(object);
    for (const std::string& value : values(object)) {
      places.push_back(index_value("", value));
      if (!space.empty()) places.push_back(index_value(space, value));
    }
    return places;
  };
  for (const Part& part : *find_or_make(kind)) {
    part.informer->store()->add_indexes({{index_name(field), filed}});
  }
}

std::shared_ptr<Runtime> CacheCore::runtime() const {
  return Inside::core(factory_.client())->runtime();
}

void CacheCore::start() {
  const std::lock_guard guard{mutex_};
  started_ = true;
  factory_.start(stopping_.get_token());
}

void CacheCore::shutdown() {
  stopping_.request_stop();
  factory_.shutdown();
}

bool CacheCore::is_read_live(const WatchedKind& kind) const {
  if (kind.access->type == &type_of<Value>() && !options_.cache_unstructured) return true;
  const GroupKind group_kind{kind.names.resource.group, kind.names.kind};
  return std::ranges::find(options_.uncached, group_kind) != options_.uncached.end();
}

std::shared_ptr<const CacheCore::Kind> CacheCore::ready(const WatchedKind& kind,
                                                        std::stop_token stop) {
  {
    const std::lock_guard guard{mutex_};
    if (!started_) {
      throw CacheNotStartedError(
          fmt::format("cannot read {}: the caches have not been started; run the manager first",
                      describe(kind)));
    }
    if (options_.fail_on_missing_informer &&
        !kinds_.contains({kind.access->type, kind.names.resource})) {
      throw NotCachedError(fmt::format("{} is not cached", describe(kind)));
    }
  }
  auto cached = find_or_make(kind);
  for (const Part& part : *cached) {
    if (part.informer->synced().done()) continue;
    std::stop_source give_up;
    const std::stop_callback on_stop{stop, [&] { give_up.request_stop(); }};
    const std::stop_callback on_shutdown{stopping_.get_token(), [&] { give_up.request_stop(); }};
    if (!part.informer->synced().wait(give_up.get_token())) {
      throw CacheNotStartedError(
          fmt::format("stopped before the cache of {} was filled", describe(kind)));
    }
  }
  return cached;
}

const CacheCore::Part& CacheCore::part_of(const WatchedKind& kind, const Kind& cached,
                                          const std::string& space) {
  const auto holds = [&](std::string_view name) {
    return std::ranges::find_if(cached, [&](const Part& part) { return part.namespace_ == name; });
  };
  auto found = holds(space);
  if (found == cached.end()) found = holds("");
  if (found != cached.end()) return *found;
  throw NotCachedError(
      fmt::format("the cache of {} does not hold the namespace \"{}\"", describe(kind), space));
}

ObjectRef CacheCore::find(const WatchedKind& kind, const ObjectKey& key, std::stop_token stop) {
  if (is_read_live(kind)) {
    const ResourceCore live = resource(kind, key.namespace_);
    return ObjectRef::whole(live.send(live.find(key.name, {}), std::move(stop)));
  }
  const auto cached = ready(kind, std::move(stop));
  const std::string space = kind.names.namespaced ? key.namespace_ : std::string{};
  return part_of(kind, *cached, space).informer->store()->snapshot().find(space, key.name);
}

ListMetadata CacheCore::list(const WatchedKind& kind, const CacheListOptions& options,
                             const See& see, std::stop_token stop) {
  if (is_read_live(kind)) {
    const ListOptions live{.label_selector = options.label_selector,
                           .field_selector = options.field_selector,
                           .limit = options.limit,
                           .continue_token = options.continue_token};
    std::vector<ObjectRef> items;
    const auto each = [&](const AnyRef& item) { items.push_back(ObjectRef::whole(item)); };
    const ResourceCore source = resource(kind, options.namespace_);
    ListMetadata head = options.limit > 0
                            ? source.list(live, each, std::move(stop))
                            : source.list_all(
                                  live, {}, each, [&] { items.clear(); }, std::move(stop));
    std::ranges::for_each(items, see);
    return head;
  }
  if (!options.continue_token.empty()) {
    throw std::invalid_argument("a list from the cache does not support continue_token");
  }
  const auto labels = labels::Selector::parse(options.label_selector);
  const auto fields = field_selectors::Selector::parse(options.field_selector);
  for (const auto& requirement : fields.requirements()) {
    if (requirement.op != field_selectors::Operator::kEquals) {
      throw std::invalid_argument(fmt::format(
          "field selector \"{}\": a cache supports only field=value", options.field_selector));
    }
  }
  const auto cached = ready(kind, std::move(stop));
  const std::string space = kind.names.namespaced ? options.namespace_ : std::string{};

  std::int64_t left = options.limit > 0 ? options.limit : -1;
  const auto list_part = [&](const Part& part) {
    const auto& store = *part.informer->store();
    const StoreSnapshot snapshot = store.snapshot();
    const auto take = [&](const ObjectRef& object) {
      if (left == 0) return false;
      if (left > 0) --left;
      see(object);
      return left != 0;
    };
    if (fields.requirements().empty()) return snapshot.select(space, labels, take);
    const std::vector<std::string> indexes = snapshot.index_names();
    for (const auto& [field, op, value] : fields.requirements()) {
      if (std::ranges::find(indexes, index_name(field)) == indexes.end()) {
        throw std::invalid_argument(
            fmt::format("field selector \"{}\": {} has no index for {}; see Manager::index_field()",
                        options.field_selector, describe(kind), field));
      }
    }
    const auto& first = fields.requirements().front();
    snapshot.by_index(
        index_name(first.field), index_value(space, first.value), [&](const ObjectRef& object) {
          const bool all = std::ranges::all_of(
              fields.requirements().begin() + 1, fields.requirements().end(),
              [&](const auto& other) {
                const auto values = store.index_values_of(index_name(other.field), object.get());
                return std::ranges::find(values, index_value(space, other.value)) != values.end();
              });
          return !all || !labels.matches(LabelsOf{*kind.access, object.get()}) || take(object);
        });
  };
  if (space.empty()) {
    for (const Part& part : *cached) list_part(part);
  } else {
    list_part(part_of(kind, *cached, space));
  }
  ListMetadata head;
  head.continue_token = "continue-not-supported";
  return head;
}

ObjectRef find_cached(CacheCore& cache, const WatchedKind& kind, const ObjectKey& key,
                      std::stop_token stop) {
  return cache.find(kind, key, std::move(stop));
}

ListMetadata list_cached(CacheCore& cache, const WatchedKind& kind, const CacheListOptions& options,
                         const std::function<void(const ObjectRef& object)>& see,
                         std::stop_token stop) {
  return cache.list(kind, options, see, std::move(stop));
}

}  // namespace kube::detail
