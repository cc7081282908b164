// SPDX-License-Identifier: Apache-2.0
#include "objects.hpp"

#include <kube/cache/object_access.hpp>
#include <kube/codec/json.hpp>

#include <memory>

#include "last_error.hpp"

namespace kube::c {

namespace {

/// Throws std::bad_alloc.
const std::string& json_of(const kubecxx_object& object) {
  if (const std::string* const made = object.json.load(std::memory_order_acquire)) return *made;
  auto text = std::make_unique<const std::string>(encode_json(*object.object));
  const std::string* first = nullptr;
  // Another thread may have stored its text first.
  if (object.json.compare_exchange_strong(first, text.get())) return *text.release();
  return *first;
}

template <typename Read>
kubecxx_string part(const kubecxx_object* object, Read read) noexcept {
  if (object == nullptr || object->object == nullptr) return {nullptr, 0};
  return lend(read(object->object.get()));
}

}  // namespace
}  // namespace kube::c

using Access = kube::detail::Accessor<kube::Value>;

kubecxx_string kubecxx_object_json(const kubecxx_object* object) {
  if (object == nullptr || object->object == nullptr) return {nullptr, 0};
  try {
    return kube::c::lend(kube::c::json_of(*object));
  } catch (...) {
    return {nullptr, 0};
  }
}
kubecxx_string kubecxx_object_name(const kubecxx_object* object) {
  return kube::c::part(object, &Access::name);
}
kubecxx_string kubecxx_object_namespace(const kubecxx_object* object) {
  return kube::c::part(object, &Access::namespace_);
}
kubecxx_string kubecxx_object_resource_version(const kubecxx_object* object) {
  return kube::c::part(object, &Access::resource_version);
}
int kubecxx_object_clone(const kubecxx_object* object, kubecxx_object** clone) {
  return kube::c::guarded([&] {
    auto& result = kube::c::output(clone, "clone");
    result = new kubecxx_object(kube::c::required(object, "object").object);
  });
}
void kubecxx_object_free(kubecxx_object* object) { delete object; }

size_t kubecxx_list_size(const kubecxx_list* list) {
  return list == nullptr ? 0 : list->items.size();
}
const kubecxx_object* kubecxx_list_item(const kubecxx_list* list, size_t index) {
  return index < kubecxx_list_size(list) ? &list->items[index] : nullptr;
}
void kubecxx_list_free(kubecxx_list* list) { delete list; }

kubecxx_string kubecxx_text_get(const kubecxx_text* text) {
  return text == nullptr ? kubecxx_string{nullptr, 0} : kube::c::lend(text->text);
}
void kubecxx_text_free(kubecxx_text* text) { delete text; }
