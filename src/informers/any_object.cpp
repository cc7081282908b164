// SPDX-License-Identifier: Apache-2.0
#include <kube/informers/any_object.hpp>

#include <kube/codec/json.hpp>

namespace kube {

std::string AnyObject::json() const {
  return detail::encode_json(type(), static_cast<const std::byte*>(object_.get()));
}

}  // namespace kube
