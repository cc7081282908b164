// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/functions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace kube::testkit::cel {

namespace {

/// Parses the signatures of Declaration.
class SignatureReader {
 public:
  explicit SignatureReader(std::string_view text) : text_(text) {}

  Overload read() {
    Overload overload;
    if (const std::size_t arrow = text_.find("->"); arrow != std::string_view::npos) {
      overload.is_member = true;
      overload.parameters.push_back(type());
      at_ += 2;
    }
    const std::size_t open = text_.find('(', at_);
    overload.name = text_.substr(at_, open - at_);
    at_ = open + 1;
    while (text_[at_] != ')') {
      overload.parameters.push_back(type());
      skip(", ");
    }
    at_ += 1;
    skip(": ");
    overload.result = type();
    return overload;
  }

 private:
  void skip(std::string_view blank) {
    while (at_ < text_.size() && blank.find(text_[at_]) != std::string_view::npos) ++at_;
  }

  TypePtr type() {
    const std::size_t end = std::min(text_.find_first_of("<>,()-", at_), text_.size());
    const std::string_view name = text_.substr(at_, end - at_);
    at_ = end;
    std::vector<TypePtr> parameters;
    if (at_ < text_.size() && text_[at_] == '<') {
      ++at_;
      while (text_[at_] != '>') {
        parameters.push_back(type());
        skip(", ");
      }
      ++at_;
    }
    return named(name, std::move(parameters));
  }

  static TypePtr named(std::string_view name, std::vector<TypePtr> parameters) {
    if (name.size() == 1) return parameter_type(name);
    if (name == "list") return list_type(parameters.at(0));
    if (name == "map") return map_type(parameters.at(0), parameters.at(1));
    if (name == "optional") return optional_type(parameters.at(0));
    if (name == "type") return type_type(parameters.at(0));
    static const std::map<std::string_view, TypeKind> kSimple{{"dyn", TypeKind::kDyn},
                                                              {"null", TypeKind::kNull},
                                                              {"bool", TypeKind::kBool},
                                                              {"int", TypeKind::kInt},
                                                              {"uint", TypeKind::kUint},
                                                              {"double", TypeKind::kDouble},
                                                              {"string", TypeKind::kString},
                                                              {"bytes", TypeKind::kBytes},
                                                              {"timestamp", TypeKind::kTimestamp},
                                                              {"duration", TypeKind::kDuration}};
    if (const auto found = kSimple.find(name); found != kSimple.end()) {
      return simple_type(found->second);
    }
    if (name == "IP" || name == "CIDR") return opaque_type("net." + std::string{name});
    if (name == "Format") return opaque_type("kubernetes.NamedFormat");
    if (name == "URL" || name == "Quantity" || name == "Semver") {
      return opaque_type("kubernetes." + std::string{name});
    }
    throw std::logic_error("no such type: " + std::string{name});
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

using Registry = std::map<std::string, std::vector<Overload>, std::less<>>;

const Registry& registry() {
  static const Registry kRegistry = [] {
    Registry all;
    for (const auto library :
         {arithmetic_library(), comparison_library(), conversion_library(), time_library(),
          string_library(), list_library(), set_library(), optional_library(), address_library(),
          url_library(), quantity_library(), semver_library(), format_library()}) {
      for (const Declaration& declaration : library) {
        Overload overload = SignatureReader{declaration.signature}.read();
        overload.run = declaration.run;
        overload.cost = declaration.cost;
        all[overload.name].push_back(std::move(overload));
      }
    }
    return all;
  }();
  return kRegistry;
}

std::uint64_t walk(std::size_t size) { return (size + 9) / 10; }

}  // namespace

const std::vector<Overload>* find_functions(std::string_view name) {
  const auto found = registry().find(name);
  return found == registry().end() ? nullptr : &found->second;
}

bool is_missing_function(std::string_view name) {
  // Functions of the authorizer library.
  static constexpr std::array kMissing{"path",
                                       "group",
                                       "serviceAccount",
                                       "resource",
                                       "check",
                                       "allowed",
                                       "reason",
                                       "errored",
                                       "error",
                                       "subresource",
                                       "fieldSelector",
                                       "labelSelector"};
  return std::ranges::any_of(kMissing, [&](const char* missing) { return name == missing; });
}

void charge_call(Meter& meter, Cost cost, Arguments arguments) {
  const auto size = [&](std::size_t i) { return size_of(arguments[i]); };
  switch (cost) {
    case Cost::kOne:
      return meter.charge(1);
    case Cost::kFirst:
      return meter.charge(walk(size(0)));
    case Cost::kBoth:
      return meter.charge(walk(size(0) + size(1)));
    case Cost::kShorter:
      return meter.charge(walk(std::min(size(0), size(1))));
    case Cost::kProduct:
      return meter.charge(walk(size(0)) * walk(size(1)));
    case Cost::kRegex:
      return meter.charge(walk(1 + size(0)) * static_cast<std::uint64_t>(
                                                  std::ceil(static_cast<double>(size(1)) * 0.25)));
    case Cost::kElements:
      return meter.charge(std::max<std::uint64_t>(1, size(0)));
    case Cost::kPairs:
      return meter.charge(1 + static_cast<std::uint64_t>(size(0)) * size(1));
  }
}

}  // namespace kube::testkit::cel
