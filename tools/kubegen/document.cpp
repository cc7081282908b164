// SPDX-License-Identifier: Apache-2.0
#include "document.hpp"

#include "names.hpp"
#include "text.hpp"
#include <kube/codec/json.hpp>
#include <kube/codec/yaml.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

namespace kube::gen {
namespace {

std::string read_file(const std::filesystem::path& file) {
  if (std::filesystem::is_directory(file))
    throw InputError(file.string() + ": is a folder, not a file");
  std::ifstream in{file, std::ios::binary};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  if (!in || in.bad()) {
    throw InputError(fmt::format("{}: {}", file.string(),
                                 std::error_code{errno, std::generic_category()}.message()));
  }
  return text;
}

}  // namespace

Place Place::operator[](std::string_view key) const {
  std::string path = path_;
  if (is_identifier(key) ||
      (!key.empty() && key.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789_-$") == std::string_view::npos)) {
    if (!path.empty()) path += '.';
    path += printable(key);
  } else {
    path += fmt::format("['{}']", printable(key));
  }
  return {source_, std::move(path), (*value_)[key],
          order_ != nullptr ? order_->find(key) : nullptr};
}

Place Place::operator[](std::size_t index) const {
  return {source_, fmt::format("{}[{}]", path_, index), (*value_)[index],
          order_ != nullptr ? order_->find(index) : nullptr};
}

std::string Place::text() const {
  if (!value_->is_string()) fail_type("string");
  const std::string_view text = value_->as_string();
  if (text.find('\0') != std::string_view::npos) fail("text with a NUL character");
  return std::string{text};
}

std::int64_t Place::integer() const {
  if (value_->kind() != Value::Kind::kInteger) fail_type("integer");
  return value_->as_integer();
}

const Map<Value>& Place::object() const {
  if (!value_->is_object()) fail_type("object");
  return value_->as_object();
}

std::vector<Place> Place::elements() const {
  if (!value_->is_array()) fail_type("array");
  std::vector<Place> result;
  for (std::size_t i = 0; i < value_->size(); ++i) result.push_back((*this)[i]);
  return result;
}

std::vector<std::pair<std::string, Place>> Place::members() const {
  std::vector<std::pair<std::string, Place>> result;
  for (const auto& [key, value] : object()) {
    if (key.view().find('\0') != std::string_view::npos) {
      (*this)[key.view()].fail("name with a NUL character");
    }
    result.emplace_back(key.str(), (*this)[key.view()]);
  }
  return result;
}

std::size_t Place::position_of(std::string_view key) const noexcept {
  if (order_ == nullptr) return 0;
  const auto found = std::ranges::find(order_->members, key, &KeyOrder::Member::key);
  return static_cast<std::size_t>(found - order_->members.begin());
}

std::string Place::text_or(std::string_view fallback) const {
  return exists() ? text() : std::string{fallback};
}

bool Place::flag() const {
  if (!exists()) return false;
  if (value_->kind() != Value::Kind::kBool) fail_type("boolean");
  return value_->as_bool();
}

std::vector<std::string> Place::texts() const {
  std::vector<std::string> result;
  if (!exists()) return result;
  for (const Place& element : elements()) result.push_back(element.text());
  return result;
}

void Place::fail(std::string_view what) const {
  throw InputError(path_.empty() ? fmt::format("{}: {}", source_, what)
                                 : fmt::format("{}: {}: {}", source_, path_, what));
}

void Place::fail_type(std::string_view expected) const {
  if (value_->is_absent()) fail(fmt::format("missing {}", expected));
  fail(fmt::format("expected {}, found {}", expected, to_string(value_->kind())));
}

std::vector<Document> read_documents(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  const std::string source = file.string();
  std::vector<Document> documents;
  try {
    if (file.extension() == ".json") {
      documents.push_back({source, decode_json<Value>(text), json_key_order(text)});
      return documents;
    }
    std::vector<Ref<Value>> roots = decode_yaml_documents(text);
    std::vector<KeyOrder> orders = yaml_key_orders(text);
    auto order = orders.begin();
    for (std::size_t i = 0; i < roots.size(); ++i) {
      if (roots[i]->is_absent() || roots[i]->is_null()) continue;
      const std::string name =
          roots.size() == 1 ? source : fmt::format("{}: document {}", source, i + 1);
      documents.push_back({name, std::move(roots[i]), std::move(*order++)});
    }
  } catch (const InputError&) {
    throw;
  } catch (const Error& error) {
    throw InputError(fmt::format("{}: {}", source, error.what()));
  }
  return documents;
}

}  // namespace kube::gen
