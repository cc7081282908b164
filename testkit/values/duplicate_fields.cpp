// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/duplicate_fields.hpp"

#include "codec/json_scanner.hpp"
#include <kube/codec/options.hpp>

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>

namespace kube::testkit::detail {

namespace {

constexpr std::size_t kMostTold = 100;
constexpr int kMaxDepth = DecodeLimits{}.max_depth;

class Finder {
 public:
  explicit Finder(std::string_view json) : scan_(json, 0, kMaxDepth) {}

  std::vector<std::string> run() {
    value("", 0);
    return std::move(found_);
  }
  /// Returns the order of all members. A duplicate has the position of its second occurrence.
  std::unordered_map<std::string, std::size_t> places() {
    keeps_places_ = true;
    value("", 0);
    return std::move(places_);
  }

 private:
  void value(const std::string& path, int depth) {
    scan_.white_space();
    if (depth >= kMaxDepth) scan_.fail(nullptr, "nested too deeply");
    if (scan_.peek() == '{') {
      object(path, depth);
    } else if (scan_.peek() == '[') {
      array(path, depth);
    } else {
      scan_.skip_value(nullptr, depth);
    }
  }

  void object(const std::string& path, int depth) {
    scan_.consume('{');
    scan_.white_space();
    if (scan_.consume('}')) return;
    std::set<std::string, std::less<>> names;
    do {
      scan_.expect('"', "a name", nullptr);
      std::string_view raw;
      scan_.string(raw, nullptr);
      const std::string inner = path.empty() ? std::string{raw} : path + '.' + std::string{raw};
      if (keeps_places_) places_[inner] = next_place_++;
      if (!names.emplace(raw).second && found_.size() < kMostTold &&
          std::ranges::find(found_, inner) == found_.end()) {
        found_.push_back(inner);
      }
      scan_.expect(':', "':'", nullptr);
      value(inner, depth + 1);
      scan_.white_space();
    } while (scan_.consume(','));
    scan_.expect('}', "',' or '}'", nullptr);
  }

  void array(const std::string& path, int depth) {
    scan_.consume('[');
    scan_.white_space();
    if (scan_.consume(']')) return;
    std::size_t index = 0;
    do {
      value(path + '[' + std::to_string(index++) + ']', depth + 1);
      scan_.white_space();
    } while (scan_.consume(','));
    scan_.expect(']', "',' or ']'", nullptr);
  }

  kube::detail::JsonScanner scan_;
  std::vector<std::string> found_;
  bool keeps_places_ = false;
  std::size_t next_place_ = 0;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace

std::vector<std::string> duplicate_fields(std::string_view json) { return Finder{json}.run(); }

void sort_by_place(std::string_view json,
                   std::vector<std::pair<std::string, std::string>>& fields) {
  const std::unordered_map<std::string, std::size_t> places = Finder{json}.places();
  const auto place = [&](const auto& field) {
    const auto found = places.find(field.first);
    return found == places.end() ? places.size() : found->second;
  };
  std::ranges::stable_sort(fields, std::less<>{}, place);
}

}  // namespace kube::testkit::detail
