// SPDX-License-Identifier: Apache-2.0
#include "compare.hpp"

#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/yaml.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace kube::differential {

namespace {

std::string_view text(const Value& value) {
  return value.is_string() ? value.as_string() : std::string_view{};
}

bool is_uid(std::string_view text) {
  return text.size() == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' &&
         text[23] == '-' && text.find_first_not_of("0123456789abcdef-") == text.npos;
}

/// Recognises ages such as "5s" and "2m10s".
bool is_age(std::string_view text) {
  return text.size() >= 2 && text.find_first_not_of("0123456789smh") == text.npos &&
         text.front() <= '9' && text.back() > '9';
}

bool is_time(std::string_view text) {
  return text.size() >= 20 && text[4] == '-' && text[7] == '-' && text[10] == 'T' &&
         text.back() == 'Z';
}

/// Recognises objects that a real server writes by itself: it repairs its table of allocated
/// addresses periodically.
bool is_its_own(const Value& object) {
  const Value& metadata =
      object["object"].is_object() ? object["object"]["metadata"] : object["metadata"];
  return metadata["managedFields"][0]["manager"] == Value{"kube-apiserver"};
}

/// Replaces nondeterministic values.
class Normalizer {
 public:
  explicit Normalizer(const Peer& peer) : peer_(peer) {}

  Value value(const Value& from) { return value(from, ""); }

 private:
  Value value(const Value& from, std::string_view member) {
    switch (from.kind()) {
      case Value::Kind::kObject:
        return object(from, member);
      case Value::Kind::kArray:
        return array(from, member);
      case Value::Kind::kString:
        return word(from.as_string(), member);
      default:
        break;
    }
    if (member == "nodePort" || member == "healthCheckNodePort") return "PORT";
    return from;
  }

  Value object(const Value& from, std::string_view member) {
    if (text(from["kind"]) == "Status" && text(from["apiVersion"]) == "v1") return status(from);
    const bool is_list = !from["items"].is_absent() || !from["rows"].is_absent();
    Value result = Value::object();
    for (const auto& [name, part] : from.as_object()) {
      // The keys of fieldsV1 are field names, not values.
      if (member == "fieldsV1") {
        result[name.view()] = part;
      } else if (member == "metadata" && name == "name" && from["generateName"].is_string()) {
        result["name"] =
            text(from["name"]).starts_with(text(from["generateName"])) ? "GENERATED" : "?";
      } else if (member == "columnDefinitions" && name == "description") {
        result["description"] = "DESCRIPTION";
      } else if (is_list && name == "metadata") {
        // The version of a list also depends on writes by others.
        result["metadata"] = part;
        for (const char* varying : {"resourceVersion", "continue"}) {
          if (!text(part[varying]).empty()) result["metadata"][varying] = "SOME";
        }
      } else {
        result[name.view()] = value(part, name);
      }
    }
    return result;
  }

  Value status(const Value& from) {
    Value result = from;
    // The wording of messages is not compared.
    if (!text(from["message"]).empty()) result["message"] = "MESSAGE";
    if (!from["details"].is_object()) return result;
    if (!text(from["details"]["uid"]).empty()) result["details"]["uid"] = "UID";
    if (text(from["details"]["name"]).find("gen-") != std::string_view::npos) {
      result["details"]["name"] = "NAME";
    }
    std::set<std::string> causes;
    if (from["details"]["causes"].is_array()) {
      for (const Value& cause : from["details"]["causes"].as_array()) {
        causes.insert(fmt::format("{} {}", text(cause["reason"]), text(cause["field"])));
      }
      Value list = Value::array();
      for (const std::string& cause : causes) list.push_back(cause);
      result["details"]["causes"] = std::move(list);
    }
    return result;
  }

  Value array(const Value& from, std::string_view member) {
    if (member == "clusterIPs") return from.size() == 0 ? Value{""} : Value{"IPS"};
    std::vector<Value> elements;
    for (const Value& element : from.as_array()) {
      if (!is_its_own(element)) elements.push_back(value(element, member));
    }
    if (member == "managedFields") {
      // Their order depends on timestamps.
      std::ranges::stable_sort(elements, {}, [](const Value& entry) {
        return fmt::format("{} {} {} {}", text(entry["operation"]), text(entry["manager"]),
                           text(entry["apiVersion"]), text(entry["subresource"]));
      });
    }
    Value result = Value::array();
    for (Value& element : elements) result.push_back(std::move(element));
    return result;
  }

  Value word(std::string_view from, std::string_view member) {
    if (from.empty()) return from;
    if (member == "uid" || is_uid(from)) return "UID";
    if (member == "cells" && from.find("gen-") != from.npos) return "NAME";
    if (member == "cells" && from.find("controller-uid=") != from.npos) return "SELECTOR";
    if (member == "cells" && is_age(from)) return "AGE";
    if (member == "cells" && from.starts_with("10.")) return "IP";
    if (member.ends_with("job-name")) return "NAME";
    if (member == "continue") return "CONTINUE";
    if (member == "clusterIP") return from == "None" ? from : "IP";
    if (member == "resourceVersion") {
      const std::string name = peer_.name_of_version(from);
      return name.empty() ? "VERSION" : "VERSION of answer " + name;
    }
    if (is_time(from)) return "TIME";
    return from;
  }

  const Peer& peer_;
};

/// Removes the version: the progress of a real server depends on its load.
void forget_version(Value& bookmark) {
  bookmark["metadata"].erase("resourceVersion");
  if (!std::as_const(bookmark)["rows"].is_array()) return;
  Value row = std::as_const(bookmark)["rows"][0];
  row["object"]["metadata"].erase("resourceVersion");
  bookmark["rows"] = Value::array({row});
}

/// Parses the body: JSON, YAML, the events of a watch, or text.
Value document_of(const Request& request, const Answer& answer, Normalizer& normalizer) {
  const std::string* type = find_header(answer.headers, "Content-Type");
  if (answer.status == 0) return "FAILURE";
  const bool events_expected = request.is_watch() && answer.status == 200;
  if (type == nullptr || (answer.body.empty() && !events_expected)) return answer.body;
  try {
    if (type->starts_with("application/yaml")) {
      return normalizer.value(*decode_yaml<Value>(answer.body));
    }
    if (!type->starts_with("application/json")) return answer.body;
    if (!request.is_watch() || answer.status != 200) {
      return normalizer.value(*decode_json<Value>(answer.body));
    }
    Value events = Value::array();
    for (std::size_t at = 0; at < answer.body.size();) {
      const std::size_t end = std::min(answer.body.find('\n', at), answer.body.size());
      Value event = *decode_json<Value>(std::string_view{answer.body}.substr(at, end - at));
      at = end + 1;
      if (is_its_own(event)) continue;
      // The time of further bookmarks is nondeterministic.
      const Value& object = event["object"];
      const Value& metadata =
          object["rows"].is_array() ? object["rows"][0]["object"]["metadata"] : object["metadata"];
      if (event["type"] == Value{"BOOKMARK"} &&
          metadata["annotations"]["k8s.io/initial-events-end"].is_absent()) {
        continue;
      }
      Value known = normalizer.value(event);
      if (event["type"] == Value{"BOOKMARK"}) forget_version(known["object"]);
      events.push_back(std::move(known));
    }
    return events;
  } catch (const CodecError& error) {
    return fmt::format("not a document: {}", error.what());
  }
}

std::string shown(const Value& value) {
  if (value.is_absent()) return "absent";
  std::string text = encode_json(value);
  if (text.size() > 160) text = text.substr(0, 160) + "...";
  return text;
}

void differ(const std::string& place, const Value& real, const Value& ours,
            std::vector<Difference>& found) {
  if (real == ours) return;
  if (real.is_object() && ours.is_object()) {
    for (const auto& [name, value] : real.as_object()) {
      differ(fmt::format("{}.{}", place, name.view()), value, ours[name.view()], found);
    }
    for (const auto& [name, value] : ours.as_object()) {
      if (real[name.view()].is_absent()) {
        differ(fmt::format("{}.{}", place, name.view()), {}, value, found);
      }
    }
    return;
  }
  if (real.is_array() && ours.is_array()) {
    for (std::size_t i = 0; i < std::max(real.size(), ours.size()); ++i) {
      differ(fmt::format("{}[{}]", place, i), real[i], ours[i], found);
    }
    return;
  }
  found.push_back({place, shown(real), shown(ours)});
}

std::string header(const Answer& answer, std::string_view name) {
  const std::string* value = find_header(answer.headers, name);
  return value == nullptr ? std::string{"absent"} : *value;
}

std::set<std::string> warnings(const Answer& answer) {
  std::set<std::string> result;
  for (const Header& header : answer.headers) {
    if (header.name == "Warning" || header.name == "warning") result.insert(header.value);
  }
  return result;
}

}  // namespace

std::string Difference::str() const { return fmt::format("{}: {} is {} here", place, real, ours); }

std::vector<Difference> compare(const Request& request, const Peer& real_peer, const Answer& real,
                                const Peer& our_peer, const Answer& ours) {
  std::vector<Difference> found;
  if (real.status != ours.status) {
    found.push_back({"status", std::to_string(real.status), std::to_string(ours.status)});
    // Includes the message, so that a known internal error cannot hide a different one.
    if (ours.status == 500) {
      const std::size_t begin = ours.body.find(R"("message":")");
      found.back().ours += fmt::format(
          " ({})", begin == std::string::npos ? std::string{} : ours.body.substr(begin + 11, 60));
    }
    return found;
  }
  for (const char* name : {"Content-Type", "Retry-After", "X-Content-Type-Options"}) {
    if (header(real, name) != header(ours, name)) {
      found.push_back({fmt::format("header {}", name), header(real, name), header(ours, name)});
    }
  }
  if (const auto a = warnings(real), b = warnings(ours); a != b) {
    found.push_back(
        {"warnings", fmt::format("{}", fmt::join(a, "; ")), fmt::format("{}", fmt::join(b, "; "))});
  }
  Normalizer of_real{real_peer};
  Normalizer of_ours{our_peer};
  differ("body", document_of(request, real, of_real), document_of(request, ours, of_ours), found);
  return found;
}

}  // namespace kube::differential
