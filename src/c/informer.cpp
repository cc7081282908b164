// SPDX-License-Identifier: Apache-2.0
#include "informer.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "objects.hpp"
#include "read_options.hpp"
#include "wait.hpp"

namespace kube::c {

InformerState::InformerState(const kubecxx_client& client, const GroupVersionResource& resource,
                             FactoryOptions options)
    : runtime_(client.runtime),
      factory_(std::in_place, *client.client, std::move(options)),
      informer_(factory_->for_resource(resource).informer()),
      lister_(factory_->for_resource(resource).lister()) {}

void InformerState::start() {
  if (started_.exchange(true)) throw std::logic_error("the informer has been started already");
  try {
    factory_->start();
  } catch (...) {
    started_ = false;
    throw;
  }
}

void InformerState::close_gates(bool wait) noexcept {
  std::vector<std::shared_ptr<CallbackGate>> gates;
  {
    const std::lock_guard guard{mutex_};
    gates.swap(gates_);
  }
  for (const auto& gate : gates) {
    gate->close();
    if (wait) gate->close_and_wait();
  }
}

void InformerState::stop() noexcept {
  close_gates(false);
  if (started_) detail::Inside::core(informer_)->request_stop();
}

void InformerState::stop_and_wait() noexcept {
  factory_.reset();
  close_gates(true);
}

void InformerState::wait_for_sync(std::int64_t timeout_ms, const kubecxx_cancel* cancel) {
  if (!started_) {
    throw std::logic_error("the informer has not been started; call kubecxx_informer_start first");
  }
  wait_for_signal("kubecxx_informer_wait_for_sync", own_loop().get(), informer_.synced(),
                  timeout_ms, cancel, [&] {
                    const std::string error = informer_.last_error();
                    return error.empty() ? std::string{"the first list has not arrived in time"}
                                         : error;
                  });
}

HandlerRegistration InformerState::add_handler(const kubecxx_handler_options& options,
                                               const std::shared_ptr<CallbackGate>& gate) {
  EventHandler<Value> handler;
  if (const auto call = options.on_add) {
    handler.on_add = [gate, call](const Ref<Value>& now, bool in_initial_list) {
      const kubecxx_object object{now};
      gate->call([&](void* user_data) { call(user_data, &object, in_initial_list ? 1 : 0); });
    };
  }
  if (const auto call = options.on_update) {
    handler.on_update = [gate, call](const Ref<Value>& before, const Ref<Value>& now) {
      const kubecxx_object old_object{before};
      const kubecxx_object new_object{now};
      gate->call([&](void* user_data) { call(user_data, &old_object, &new_object); });
    };
  }
  if (const auto call = options.on_delete) {
    handler.on_delete = [gate, call](const Deleted<Value>& gone) {
      const std::string key = gone.key.str();
      const kubecxx_object last{gone.object};
      gate->call([&](void* user_data) {
        call(user_data, lend(key), gone.object == nullptr ? nullptr : &last,
             gone.final_state_known ? 1 : 0);
      });
    };
  }
  HandlerOptions how{.name = copy(options.name, "name")};
  if (options.resync_ms != 0) {
    how.resync = std::chrono::milliseconds{std::max<std::int64_t>(options.resync_ms, 0)};
  }
  const std::lock_guard guard{mutex_};
  gates_.push_back(gate);
  try {
    return informer_.add_event_handler(std::move(handler), std::move(how));
  } catch (...) {
    gates_.pop_back();
    throw;
  }
}

void InformerState::remove_handler(const HandlerRegistration& registration,
                                   const std::shared_ptr<CallbackGate>& gate) noexcept {
  {
    const std::lock_guard guard{mutex_};
    std::erase(gates_, gate);
  }
  try {
    informer_.remove_event_handler(registration, Removal::kAtOnce);
  } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory; the gate is closed all the same
  }
}

namespace {

FactoryOptions factory_options(const kubecxx_informer_options& given, std::string namespace_) {
  if (given.resync_ms < 0) {
    throw std::invalid_argument("kubecxx_informer_options: resync_ms is negative; 0 is never");
  }
  if (given.leave_out == nullptr && given.leave_out_count > 0) {
    throw std::invalid_argument("kubecxx_informer_options: leave_out is null");
  }
  FactoryOptions options{.resync = std::chrono::milliseconds{given.resync_ms},
                         .namespace_ = std::move(namespace_)};
  for (std::size_t i = 0; i < given.leave_out_count; ++i) {
    options.leave_out.push_back(copy(given.leave_out[i], "leave_out"));
  }
  options.tweak_list_options =
      [labels = copy(given.label_selector, "label_selector"),
       fields = copy(given.field_selector, "field_selector")](ListOptions& list) {
        list.label_selector = labels;
        list.field_selector = fields;
      };
  return options;
}

}  // namespace
}  // namespace kube::c

using namespace kube::c;

int kubecxx_informer_new(kubecxx_client* client, const kubecxx_resource* resource,
                         const kubecxx_informer_options* options, kubecxx_informer** informer) {
  return guarded([&] {
    auto& result = output(informer, "informer");
    const kubecxx_client& handle = alive(client, "client");
    ResourceName name = read_resource(resource);
    const auto given = read_options(options, "kubecxx_informer_options");
    result = new kubecxx_informer(std::make_shared<InformerState>(
        handle, name.resource, factory_options(given, std::move(name.namespace_))));
  });
}

int kubecxx_informer_start(kubecxx_informer* informer) {
  return guarded([&] { alive(informer, "informer").state->start(); });
}

int kubecxx_informer_has_synced(const kubecxx_informer* informer) {
  if (informer == nullptr || informer->is_of_parent()) return 0;
  return informer->state->informer().has_synced() ? 1 : 0;
}

int kubecxx_informer_wait_for_sync(kubecxx_informer* informer, int64_t timeout_ms,
                                   kubecxx_cancel* cancel) {
  return guarded([&] { alive(informer, "informer").state->wait_for_sync(timeout_ms, cancel); });
}

int kubecxx_informer_last_error(const kubecxx_informer* informer, kubecxx_text** message) {
  return guarded([&] {
    auto& result = output(message, "message");
    result = new kubecxx_text{alive(informer, "informer").state->informer().last_error()};
  });
}

int kubecxx_informer_get(const kubecxx_informer* informer, kubecxx_string key,
                         kubecxx_object** object) {
  return guarded([&] {
    auto& result = output(object, "object");
    const kube::Lister<kube::Value>& lister = alive(informer, "informer").state->lister();
    result = new kubecxx_object(lister.get(view(key, "key")));
  });
}

int kubecxx_informer_list(const kubecxx_informer* informer, kubecxx_string namespace_,
                          kubecxx_string label_selector, kubecxx_list** list) {
  return guarded([&] {
    auto& result = output(list, "list");
    const kube::Lister<kube::Value>& lister = alive(informer, "informer").state->lister();
    const auto selector = kube::labels::Selector::parse(view(label_selector, "label_selector"));
    const std::string_view where = view(namespace_, "namespace_");
    result = new kubecxx_list(where.empty() ? lister.list(selector)
                                            : lister.in_namespace(where).list(selector));
  });
}

void kubecxx_informer_free(kubecxx_informer* informer) { free_handle(informer); }

int kubecxx_informer_add_handler(kubecxx_informer* informer, const kubecxx_handler_options* options,
                                 kubecxx_handler** handler) {
  return guarded([&] {
    if (handler != nullptr) *handler = nullptr;
    const auto given = read_options(options, "kubecxx_handler_options");
    const auto& state = alive(informer, "informer").state;
    const auto gate =
        std::make_shared<CallbackGate>(given.user_data, given.release, Waiting::kAllowed);
    auto made = std::make_unique<kubecxx_handler>(state, gate);
    made->registration = state->add_handler(given, gate);
    if (handler != nullptr) *handler = made.release();
  });
}

int kubecxx_handler_has_synced(const kubecxx_handler* handler) {
  if (handler == nullptr || handler->is_of_parent()) return 0;
  return handler->registration.has_synced() ? 1 : 0;
}

int kubecxx_handler_wait_for_sync(kubecxx_handler* handler, int64_t timeout_ms,
                                  kubecxx_cancel* cancel) {
  return guarded([&] {
    kubecxx_handler& given = alive(handler, "handler");
    const kube::DoneSignal synced = given.registration.synced();
    if (!synced.done() && CallbackScope::is_inside_of(given.gate.get())) {
      throw std::logic_error(
          "a handler waits for its own sync, which needs it to return; wait in another thread");
    }
    wait_for_signal("kubecxx_handler_wait_for_sync", given.state->own_loop().get(), synced,
                    timeout_ms, cancel,
                    [] { return std::string{"the handler has not been called for all objects"}; });
  });
}

void kubecxx_handler_free(kubecxx_handler* handler) { free_handle(handler); }
