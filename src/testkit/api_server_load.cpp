// SPDX-License-Identifier: Apache-2.0
#include "api_server_impl.hpp"

#include <kube/base/error.hpp>
#include <kube/codec/yaml.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace kube::testkit {
namespace {

struct Document {
  Value object;
  std::string origin;
};

bool is_manifest(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw Error(fmt::format("{}: cannot be read", file.string()));
  return std::move(text).str();
}

bool is_definition(const Document& document) {
  return document.object["kind"].is_string() &&
         document.object["kind"].as_string() == "CustomResourceDefinition";
}

void read_documents(std::string_view text, const std::string& origin, std::vector<Document>& to) {
  try {
    for (const Ref<Value>& document : decode_yaml_documents(text)) {
      const Value& kind = (*document)["kind"];
      const Value& items = (*document)["items"];
      if (kind.is_string() && kind.as_string().ends_with("List") && items.is_array()) {
        for (const Value& item : items.as_array()) to.push_back({item, origin});
      } else {
        to.push_back({*document, origin});
      }
    }
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", origin, error.what()));
  }
}

std::size_t store(detail::Engine& engine, std::vector<Document> documents) {
  std::stable_partition(documents.begin(), documents.end(), is_definition);
  std::size_t definitions = 0;
  for (const Document& document : documents) {
    try {
      if (is_definition(document)) {
        // As a request, so that it comes to be served.
        engine.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                       document.object);
        ++definitions;
        continue;
      }
      if (definitions > 0) {
        engine.settle();
        definitions = 0;
      }
      engine.seed(document.object);
    } catch (const Error& error) {
      const auto name = document.object.get_string("metadata.name").value_or("?");
      throw Error(fmt::format("{}: {}: {}", document.origin, name, error.what()));
    }
  }
  if (definitions > 0) engine.settle();
  return documents.size();
}

}  // namespace

std::size_t ApiServer::load_yaml(std::string_view text, const std::string& origin) {
  std::vector<Document> documents;
  read_documents(text, origin, documents);
  return store(impl_->engine, std::move(documents));
}

std::size_t ApiServer::load(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator{path}) {
      if (entry.is_regular_file() && is_manifest(entry.path())) files.push_back(entry.path());
    }
    std::ranges::sort(files);
  } else if (std::filesystem::exists(path)) {
    files.push_back(path);
  } else {
    throw Error(fmt::format("{}: no such file or folder", path.string()));
  }
  std::vector<Document> documents;
  for (const auto& file : files) read_documents(read_file(file), file.string(), documents);
  return store(impl_->engine, std::move(documents));
}

}  // namespace kube::testkit
