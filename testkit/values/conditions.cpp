// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/conditions.hpp"

#include <utility>

namespace kube::testkit::detail {

void set_condition(Value& object, std::string_view type, bool status, std::string_view reason,
                   std::string_view message, const std::string& now) {
  Value next = Value::object({{"type", type},
                              {"status", status ? "True" : "False"},
                              {"reason", reason},
                              {"message", message},
                              {"lastTransitionTime", now}});
  Value conditions = Value::array();
  bool replaced = false;
  for (const Value& condition : std::as_const(object).get_array("status.conditions")) {
    if (condition["type"] != Value{type}) {
      conditions.push_back(condition);
      continue;
    }
    if (condition["status"] == std::as_const(next)["status"]) {
      next["lastTransitionTime"] = condition["lastTransitionTime"];
    }
    conditions.push_back(next);
    replaced = true;
  }
  if (!replaced) conditions.push_back(next);
  object["status"]["conditions"] = std::move(conditions);
}

}  // namespace kube::testkit::detail
