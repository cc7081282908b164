// SPDX-License-Identifier: Apache-2.0
#include "library_schema.hpp"

#include <kube/codec/json.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace kube::gen {
namespace {

std::string group(const std::string& name, const std::string& types) {
  return fmt::format(
      R"({{"group": "{0}", "name": "{0}", "version": "v1", "resources": [], "enums": {{}},
                         "aliases": {{}}, "types": [{1}]}})",
      name, types);
}

std::string type(const std::string& name, const std::string& field_type) {
  return fmt::format(R"({{"name": "{}", "proto": true, "fields": [
                         {{"json": "x", "go": "X", "proto": 1, "type": "{}"}}]}})",
                     name, field_type);
}

Library read(const std::string& groups) {
  const Ref<Value> root =
      decode_json<Value>(fmt::format(R"({{"kubernetes": "1.0", "groups": [{}]}})", groups));
  return read_library({"schema.json", *root});
}

std::string error_of(const std::string& groups) {
  try {
    static_cast<void>(read(groups));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ReadLibrary, MarksTypesThatContainTimesAtAnyDepth) {
  const Library library =
      read(group("a", type("Clock", "time") + "," + type("Shelf", "[]a/v1.Clock") + "," +
                          type("Room", "map[string]a/v1.Shelf") + "," + type("Stone", "string")) +
           "," + group("b", type("House", "*a/v1.Room")));

  for (const Package& package : library.packages) {
    for (const Struct& item : package.structs) EXPECT_EQ(item.is_volatile, item.name != "Stone");
  }
}

TEST(ReadLibrary, EndsOnRecursiveTypes) {
  const Library library = read(
      group("a", type("A", "*a/v1.B") + "," + type("B", "[]a/v1.A") + "," + type("C", "*a/v1.C")));

  for (const Struct& item : library.packages.at(0).structs) EXPECT_FALSE(item.is_volatile);
}

TEST(ReadLibrary, DefinesAStructBeforeItIsEmbedded) {
  const Library library = read(group("a", type("A", "a/v1.B") + "," + type("B", "string")));

  EXPECT_EQ(library.packages.at(0).structs.at(0).name, "B");
}

TEST(ReadLibrary, RefusesHeadersThatWouldIncludeEachOther) {
  const std::string groups =
      group("a", type("A", "*b/v1.B")) + "," + group("b", type("B", "*a/v1.A"));

  EXPECT_EQ(error_of(groups), "schema.json: groups: kube/api/a/v1.hpp would include itself");
}

TEST(ReadLibrary, RefusesUnknownTypes) {
  EXPECT_NE(error_of(group("a", type("A", "int16"))).find("neither a known type"),
            std::string::npos);
  EXPECT_NE(error_of(group("a", type("A", "a/v1.B"))).find("no such type"), std::string::npos);
  EXPECT_NE(error_of(group("a", type("A", "a/v1.B>; int x"))).find("not a type name"),
            std::string::npos);
}

TEST(LibraryTypeName, LeavesTheNamesOfHandlesAlone) {
  EXPECT_EQ(library_type_name("Pod"), "Pod");
  EXPECT_EQ(library_type_name("List"), "List_");
}

}  // namespace
}  // namespace kube::gen
