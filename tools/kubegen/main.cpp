// SPDX-License-Identifier: Apache-2.0
#include "crd.hpp"
#include "document.hpp"
#include "header_output.hpp"
#include "library_output.hpp"
#include "library_schema.hpp"
#include "openapi.hpp"
#include "output.hpp"
#include "packages.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace {

namespace gen = kube::gen;

constexpr const char* kDescription =
    "kubegen turns Kubernetes API types into C++ for kubecxx.\n\n"
    "  kubegen foo.yaml -o foo.hpp                      custom resources, from their definitions\n"
    "  kubegen openapi.json --kind Foo -o foo.hpp       kinds of an OpenAPI document (v2 or v3)\n"
    "  kubegen --schema kubernetes.json --out DIR       the built-in API, for kubecxx itself\n";

constexpr const char* kFooter =
    "\nThe header has a namespace for each version, such as acme::v1alpha1 after `--namespace "
    "acme`.\n"
    "A file is only written when its content changes, and nothing is written after an error.\n"
    "Exit status: 0 success, 1 invalid input, 2 invalid command line.";

struct Arguments {
  std::vector<std::string> inputs;
  std::string output;
  std::string cpp_namespace;
  std::vector<std::string> kinds;
  std::string schema;
  std::string out;
  bool list_outputs = false;
};

std::string file_name(const std::string& path) {
  return std::filesystem::path{path}.filename().string();
}

void generate_library(const Arguments& arguments) {
  const std::vector<gen::Document> documents = gen::read_documents(arguments.schema);
  if (documents.size() != 1)
    throw gen::InputError(arguments.schema + ": expected exactly one document");
  const gen::Library library = gen::read_library(documents.front().place());
  const gen::Banner banner{
      .version = KUBEGEN_VERSION,
      .source = fmt::format("{} (Kubernetes {})", file_name(arguments.schema), library.kubernetes),
      .is_licensed = true};
  std::vector<gen::OutputFile> files = gen::library_files(library, banner);
  if (arguments.list_outputs) {
    for (const gen::OutputFile& file : files) fmt::print("{}\n", file.path.string());
    return;
  }
  for (gen::OutputFile& file : files) file.path = arguments.out / file.path;
  gen::write_files(files);
}

void generate_header(const Arguments& arguments) {
  std::vector<gen::Document> documents;
  std::string sources;
  for (const std::string& input : arguments.inputs) {
    for (gen::Document& document : gen::read_documents(input)) {
      documents.push_back(std::move(document));
    }
    sources += (sources.empty() ? "" : ", ") + file_name(input);
  }
  if (documents.empty()) throw gen::InputError(sources + ": contains no document");
  for (const gen::Document& document : documents) {
    if (arguments.kinds.empty() && gen::is_openapi(document.place())) {
      document.place().fail("an OpenAPI document: name the kinds to generate with --kind");
    }
  }
  const std::vector<gen::Package> packages =
      arguments.kinds.empty()
          ? gen::read_crds(documents, arguments.cpp_namespace)
          : gen::read_openapi(documents, arguments.kinds, arguments.cpp_namespace);
  gen::write_files({{arguments.output, gen::user_header(packages, {KUBEGEN_VERSION, sources})}});
}

/// Parses the command line into `arguments`. Returns an exit status if there is nothing to
/// generate.
std::optional<int> parse(int argc, char** argv, Arguments& arguments) {
  CLI::App app{kDescription, "kubegen"};
  app.footer(kFooter);
  app.set_version_flag("--version", "kubegen " KUBEGEN_VERSION);
  const auto check_namespace = [](const std::string& text) { return gen::namespace_problem(text); };

  auto* inputs = app.add_option("INPUT", arguments.inputs,
                                "CustomResourceDefinitions in YAML or JSON, or OpenAPI documents");
  auto* output = app.add_option("-o,--output", arguments.output, "The header to write");
  app.add_option("-n,--namespace", arguments.cpp_namespace,
                 "C++ namespace; by default one named after the API group")
      ->check(check_namespace, "NAMESPACE");
  app.add_option("-k,--kind", arguments.kinds,
                 "A kind to generate from OpenAPI: Foo, or Foo.v1.example.com; may be repeated")
      ->expected(1)
      ->take_all();
  auto* schema = app.add_option("--schema", arguments.schema, "A file of schema/");
  auto* out = app.add_option("--out", arguments.out, "The folder for the built-in API");
  auto* list = app.add_flag("--list-outputs", arguments.list_outputs,
                            "Only list what --schema would write, relative to --out");
  inputs->needs(output)->excludes(schema);
  out->needs(schema)->excludes(list);
  list->needs(schema);

  try {
    app.parse(argc, argv);
    if (arguments.schema.empty() && arguments.inputs.empty()) {
      throw CLI::RequiredError("INPUT or --schema");
    }
    if (!arguments.schema.empty() && arguments.out.empty() && !arguments.list_outputs) {
      throw CLI::RequiredError("--out or --list-outputs");
    }
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Arguments arguments;
    if (const std::optional<int> status = parse(argc, argv, arguments)) return *status;
    if (arguments.schema.empty()) {
      generate_header(arguments);
    } else {
      generate_library(arguments);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kubegen: %s\n", error.what());
    return 1;
  }
  return 0;
}
