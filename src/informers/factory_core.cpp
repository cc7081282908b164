// SPDX-License-Identifier: Apache-2.0
#include <kube/informers/factory_core.hpp>

#include "base/deadline.hpp"
#include "base/fork.hpp"
#include "base/no_wait.hpp"
#include "cache/wait_for_end.hpp"
#include "client/rest_client.hpp"
#include "codec/projection_node.hpp"
#include "engine/timer.hpp"
#include <kube/cache/resource_source.hpp>
#include <kube/engine/runtime.hpp>
#include <kube/object/pool.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace kube::detail {
namespace {

/// Fills options that are not set from the client.
FactoryOptions completed(FactoryOptions options, const Client& client) {
  if (!options.log) options.log = client.options().log;
  return options;
}

/// Wakes the loop at a given time.
class Alarm final : public Job {
 public:
  Alarm(const std::shared_ptr<Scheduler>& scheduler, Clock& clock, Clock::TimePoint time)
      : Job(Placement::kLoop), timer_(scheduler, clock), time_(time) {
    bind(scheduler);
  }
  void start() noexcept { timer_.set(time_, weak_from_this()); }

 private:
  void run() noexcept override {}

  Timer timer_;
  const Clock::TimePoint time_;
};

std::shared_ptr<const void> claim_name(const FactoryOptions& options) {
  if (!options.metrics) return nullptr;
  if (options.name.empty()) {
    throw std::invalid_argument("a factory that counts in a registry needs a name of its own");
  }
  auto claimed = options.metrics->claim("informers " + options.name);
  if (!claimed) {
    throw std::invalid_argument(fmt::format(
        "another factory counts in this registry under the name \"{}\" already", options.name));
  }
  return claimed;
}

/// Returns whether objects of all kinds share this type.
bool is_shared(const Type* type) {
  return type == &type_of<Value>() || type == &type_of<meta::v1::PartialObjectMetadata>();
}

/// Returns the type if it identifies a kind, else the resource.
std::string describe(const InformerKey& key) {
  std::string text = is_shared(key.type)
                         ? to_string(key.resource)
                         : fmt::format("{} {}", key.type->api_version, key.type->name);
  if (!key.namespace_.empty()) text += " in " + key.namespace_;
  return text;
}

/// Returns how a projection treats one member of a struct or of a document.
Projection::Node::Choice choice_of(const Projection::Node& node, const Type& type,
                                   std::string_view name) {
  if (type.kind == Kind::kValue) return node.key(name);
  const auto field = std::ranges::find(type.fields, name, &Field::name);
  return node.field(static_cast<std::size_t>(field - type.fields.begin()));
}

bool keeps_metadata(const Projection& projection, const Type& type, std::string_view name) {
  if (projection.root() == nullptr) return true;
  const auto metadata = choice_of(*projection.root(), type, "metadata");
  if (metadata.below == nullptr) return metadata.kept;
  const bool is_value = type.kind == Kind::kValue;
  const Type& below =
      is_value ? type : *std::ranges::find(type.fields, "metadata", &Field::name)->type;
  return choice_of(*metadata.below, below, name).kept;
}

/// Throws if the projection drops the name, namespace or resource version, which every cache needs.
void check_kept(const InformerKey& key, const Projection& projection) {
  const Type& type = *key.type;
  for (const std::string_view needed : {"name", "namespace", "resourceVersion"}) {
    const bool there = has_metadata(type, needed);
    if (there && keeps_metadata(projection, type, needed)) continue;
    if (!there && needed == "namespace") continue;
    throw std::invalid_argument(fmt::format(
        "informer of {}: metadata.{} must be kept of each object", describe(key), needed));
  }
}

}  // namespace

/// An informer of the factory and its state.
struct FactoryCore::Entry {
  Informer informer;
  std::string description;
  std::uint64_t number = 0;
  bool started = false;
  DoneSignal settled;  // synced, or ended without
  /// Forwards a stop of the token given to start().
  std::optional<std::stop_callback<std::function<void()>>> forward;

  [[nodiscard]] std::string reason() const;
};

struct FactoryCore::State {
  State(Client given_client, FactoryOptions given_options)
      : client(std::move(given_client)),
        options(completed(std::move(given_options), client)),
        name(claim_name(options)) {}

  const ProcessMark process;
  const Client client;
  const FactoryOptions options;
  const std::shared_ptr<Pool> pool = std::make_shared<Pool>();

  std::recursive_mutex making;  // held while an informer is made, so that each is made once
  std::mutex mutex;
  // Guarded by mutex:
  bool shut_down = false;
  std::uint64_t next_number = 1;
  std::shared_ptr<const void> name;  // reserves options.name for this factory
  std::map<InformerKey, std::shared_ptr<Entry>> entries;
  std::vector<std::shared_ptr<Entry>> stopped;  // by stop_informer(); may still be ending
  std::shared_ptr<Runtime> runtime;             // set by the first start()
  std::map<InformerKey, Make> configured;
  struct Counted {
    const Type* type;
    MetricLabels labels;
  };
  std::map<std::pair<GroupVersionResource, std::string>, Counted> counted;
};

FactoryCore::FactoryCore(Client client, FactoryOptions options)
    : state_(std::make_unique<State>(std::move(client), std::move(options))) {}

FactoryCore::~FactoryCore() { stop_and_wait(); }

const Client& FactoryCore::client() const noexcept { return state_->client; }
const FactoryOptions& FactoryCore::options() const noexcept { return state_->options; }

FactoryCore::Informer FactoryCore::informer(const InformerKey& key, const Make& make) {
  state_->process.check("the informer factory");
  const std::lock_guard one_at_a_time{state_->making};
  Make how = make;
  {
    const std::lock_guard guard{state_->mutex};
    if (const auto found = state_->entries.find(key); found != state_->entries.end()) {
      return found->second->informer;
    }
    if (const auto own = state_->configured.find(key); own != state_->configured.end())
      how = own->second;
  }
  auto entry = std::make_shared<Entry>();
  entry->informer = how();
  entry->description = describe(key);
  const std::lock_guard guard{state_->mutex};
  entry->number = state_->next_number++;
  return state_->entries.emplace(key, std::move(entry)).first->second->informer;
}

void FactoryCore::configure(const InformerKey& key, Make make) {
  state_->process.check("the informer factory");
  const std::lock_guard guard{state_->mutex};
  if (state_->entries.contains(key)) {
    throw std::logic_error(fmt::format(
        "the informer of {} exists already and cannot be configured any more", describe(key)));
  }
  state_->configured.insert_or_assign(key, std::move(make));
}

InformerMetrics FactoryCore::metrics_of(const InformerKey& key) {
  if (!state_->options.metrics) return {};
  const GroupVersionResource& resource = key.resource;
  MetricLabels labels{{"name", state_->options.name},
                      {"group", resource.group},
                      {"version", resource.version},
                      {"resource", resource.resource}};
  if (!key.namespace_.empty()) labels.emplace_back("namespace", key.namespace_);
  {
    const std::lock_guard guard{state_->mutex};
    const auto [counted, first] =
        state_->counted.try_emplace({resource, key.namespace_}, State::Counted{key.type, labels});
    if (!first) {
      // A typed and a metadata informer of one resource are not a mistake.
      if (!is_shared(key.type) && !is_shared(counted->second.type)) {
        state_->options.log->error(
            "factory {} has two informers of {}; only the first one is counted",
            state_->options.name, to_string(resource));
      }
      return {};
    }
  }
  return InformerMetrics::in(state_->options.metrics, labels);
}

FactoryCore::Informer FactoryCore::make(const InformerPlan& plan) {
  const std::string description = describe(plan.key);
  DecoderOptions decoding{.pool = state_->pool,
                          .projection = plan.projection,
                          .limits = state_->options.limits,
                          .sibling_bytes = state_->options.sibling_bytes};
  if (decoding.projection.root() == nullptr && !state_->options.leave_out.empty()) {
    decoding.projection = Projection::without(*plan.key.type, state_->options.leave_out);
  }
  check_kept(plan.key, decoding.projection);
  ResourceCore resource = plan.resource;
  resource.set_decoding(std::move(decoding));

  InformerSettings settings = informer_settings(state_->options);
  settings.resync = plan.resync.value_or(settings.resync);
  settings.queue_kind = plan.queue_kind.value_or(settings.queue_kind);
  settings.reflector.type_description = description;
  settings.reflector.metrics = metrics_of(plan.key);
  if (state_->options.on_state) {
    settings.reflector.on_state = [description, tell = state_->options.on_state](
                                      const ReflectorEvent& event) { tell(description, event); };
  }
  settings.indexer = plan.indexer;
  auto tweak = [all = state_->options.tweak_list_options,
                own = plan.tweak_list_options](ListOptions& options) {
    if (all) all(options);
    if (own) own(options);
  };
  std::shared_ptr<ResourceSource> source;
  try {
    source = std::make_shared<ResourceSource>(std::move(resource), std::move(tweak));
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("informer of {}: {}", description, error.what()));
  }
  return make_shared_informer(*plan.access, std::move(source), std::move(settings));
}

/// Returns why the informer has not synced.
std::string FactoryCore::Entry::reason() const {
  std::string text = informer->last_error();
  if (text.empty() && informer->ended().done()) text = "the informer was stopped";
  return text;
}

void FactoryCore::start(const std::stop_token& stop) {
  state_->process.check("the informer factory");
  std::string failures;
  {
    const std::lock_guard guard{state_->mutex};
    if (state_->shut_down) return;
    for (auto& [key, entry] : state_->entries) {
      if (entry->started) continue;
      try {
        begin(*entry, stop);
      } catch (const std::exception& error) {
        failures += fmt::format("{}informer of {} could not begin: {}",
                                failures.empty() ? "" : "; ", entry->description, error.what());
      }
    }
  }
  if (!failures.empty()) throw Error(failures + "; start again to try again");
}

/// If it throws, the informer has not been started.
void FactoryCore::begin(Entry& entry, const std::stop_token& stop) const {
  if (state_->runtime == nullptr) state_->runtime = Inside::core(state_->client)->runtime();
  const auto settle = [settled = entry.settled] { settled.fire(); };
  const std::uint64_t synced = entry.informer->synced().on_done(settle);
  try {
    entry.informer->ended().on_done(settle);
    entry.informer->start(*state_->runtime);
  } catch (...) {
    entry.informer->synced().forget(synced);
    throw;
  }
  entry.started = true;
  entry.forward.emplace(stop, [&informer = *entry.informer] { informer.request_stop(); });
}

std::shared_ptr<FactoryCore::Entry> FactoryCore::next_started(std::uint64_t number) {
  const std::lock_guard guard{state_->mutex};
  std::shared_ptr<Entry> found;
  const auto look_at = [&](const std::shared_ptr<Entry>& entry) {
    if (entry->started && entry->number > number &&
        (found == nullptr || entry->number < found->number)) {
      found = entry;
    }
  };
  for (const auto& [key, entry] : state_->entries) look_at(entry);
  for (const auto& entry : state_->stopped) look_at(entry);
  return found;
}

bool FactoryCore::runs_here() {
  for (auto entry = next_started(0); entry != nullptr; entry = next_started(entry->number)) {
    if (entry->informer->runs_here()) return true;
  }
  return false;
}

void FactoryCore::shutdown() {
  state_->process.check("the informer factory");
  if (runs_here() || NoWaitCode::is_here()) {
    throw std::logic_error(
        "shutdown() of an informer factory was called by a handler of its own, for which it would "
        "wait for ever, or by other code that must not wait; call stop_informer(), or request a "
        "stop "
        "of the token given to start()");
  }
  stop_and_wait();
}

void FactoryCore::end(const std::shared_ptr<FactoryCore>& self) noexcept {
  if (self->state_->process.is_of_parent()) return keep_for_ever(self);
  const bool by_handler = self->runs_here();
  if (!by_handler && !NoWaitCode::is_here()) return self->stop_and_wait();
  if (by_handler) {
    self->state_->options.log->error(
        "an informer factory was destroyed by a handler of its own: its informers end on their "
        "own; "
        "destroy it elsewhere, and use stop_informer() in handlers");
  }
  self->request_stop();
  try {
    keep_until_ended(self);
  } catch (...) {
    // Informers would use destroyed objects.
    self->state_->options.log->error("there is no memory to end an informer factory with");
    std::terminate();
  }
}

void FactoryCore::keep_until_ended(const std::shared_ptr<FactoryCore>& self) {
  for (auto entry = self->next_started(0); entry != nullptr;
       entry = self->next_started(entry->number)) {
    const DoneSignal& ended = entry->informer->ended();
    if (ended.done()) continue;
    ended.on_done([self] {
      // Not here: code of the informer is on the stack, and would be destroyed.
      self->state_->runtime->loop().post([self] { keep_until_ended(self); });
    });
    return;
  }
}

void FactoryCore::request_stop() noexcept {
  {
    const std::lock_guard guard{state_->mutex};
    state_->shut_down = true;
  }
  for (auto entry = next_started(0); entry != nullptr; entry = next_started(entry->number)) {
    entry->informer->request_stop();
  }
}

void FactoryCore::stop_and_wait() noexcept {
  request_stop();
  for (auto entry = next_started(0); entry != nullptr; entry = next_started(entry->number)) {
    if (!entry->informer->ended().done()) {
      wait_for_end(entry->informer->ended(), *Inside::core(*state_->runtime));
    }
  }
  std::shared_ptr<const void> released;
  std::shared_ptr<Runtime> runtime;  // may be the last reference, which waits for threads
  const std::lock_guard guard{state_->mutex};
  runtime.swap(state_->runtime);
  released.swap(state_->name);
  if (!released) return;
  for (const auto& [key, counted] : state_->counted)
    state_->options.metrics->remove_all(counted.labels);
}

void FactoryCore::wait_until_settled(const Entry& entry, Clock::TimePoint deadline,
                                     const std::stop_token& stop) const {
  Clock& clock = *state_->options.clock;
  const std::shared_ptr<Runtime> runtime = [&] {
    const std::lock_guard guard{state_->mutex};
    return state_->runtime;
  }();
  if (runtime != nullptr && Inside::core(*runtime)->is_without_threads()) {
    // Everything that ends the wait wakes the loop.
    const auto alarm = std::make_shared<Alarm>(Inside::core(*runtime), clock, deadline);
    alarm->start();
    const std::stop_callback on_stop{stop, [&]() noexcept { alarm->schedule(); }};
    Inside::core(*runtime)->loop().drive(
        [&] { return entry.settled.done() || stop.stop_requested() || clock.now() >= deadline; });
  }
  (void)entry.settled.wait_until(clock, deadline, stop);
}

CacheSync FactoryCore::wait_for_cache_sync(std::stop_token stop,
                                           std::optional<Clock::Duration> timeout,
                                           Unstarted unstarted) {
  state_->process.check("the informer factory");
  std::vector<std::shared_ptr<Entry>> waited_for;
  bool all_started = true;
  std::string_view why_not = "not started: call start() after asking for it";
  {
    const std::lock_guard guard{state_->mutex};
    if (state_->shut_down) why_not = "not started: the factory has been shut down";
    for (const auto& [key, entry] : state_->entries) {
      if (!entry->started && unstarted == Unstarted::kIgnore) continue;
      all_started = all_started && entry->started;
      waited_for.push_back(entry);
    }
  }
  Clock& clock = *state_->options.clock;
  const Clock::TimePoint deadline = timeout ? time_after(clock, *timeout) : Clock::TimePoint::max();
  for (const auto& entry : waited_for) {
    if (all_started) wait_until_settled(*entry, deadline, stop);
  }
  CacheSync result;
  for (const auto& entry : waited_for) {
    const bool synced = entry->informer->synced().done();
    std::string reason;
    if (!synced) {
      const std::lock_guard guard{state_->mutex};
      if (!entry->started) reason = why_not;
    }
    if (!synced && reason.empty()) reason = entry->reason();
    result.informers.push_back({entry->description, synced, std::move(reason)});
  }
  std::ranges::sort(result.informers, {}, &CacheSync::Informer::type);
  if (!result.all_synced()) {
    result.cause = !all_started ? "not started" : clock.now() >= deadline ? "timed out" : "stopped";
  }
  return result;
}

DoneSignal FactoryCore::stop_informer(const InformerKey& key) {
  state_->process.check("the informer factory");
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard guard{state_->mutex};
    // Drop the informers that have ended.
    std::erase_if(state_->stopped,
                  [](const auto& stopped) { return stopped->informer->ended().done(); });
    const auto found = state_->entries.find(key);
    if (found == state_->entries.end()) {
      DoneSignal nothing;
      nothing.fire();
      return nothing;
    }
    entry = found->second;
    if (entry->started) state_->stopped.push_back(entry);
    state_->entries.erase(found);
    if (const auto counted = state_->counted.find({key.resource, key.namespace_});
        counted != state_->counted.end() && counted->second.type == key.type) {
      state_->options.metrics->remove_all(counted->second.labels);
      state_->counted.erase(counted);
    }
    if (!entry->started) {
      DoneSignal nothing;
      nothing.fire();
      return nothing;
    }
  }
  entry->informer->request_stop();
  return entry->informer->ended();
}

}  // namespace kube::detail
