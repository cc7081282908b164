// SPDX-License-Identifier: Apache-2.0
//
// Generates the types that the benchmarks compare with, from the schema of the API:
//   make_peers <schema.json> <folder>   writes pod.proto, plain_pod.hpp, plain_pod.cpp, plain_reader.cpp
#include "schema.hpp"

#include <kube/codec/json.hpp>

#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace {

std::string read_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>{file}, {}};
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file{path, std::ios::binary};
  if (!(file << text) || !file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 3) {
    std::cerr << "usage: make_peers <schema.json> <folder>\n";
    return 2;
  }
  const std::string folder = arguments[2];
  const auto schema = kube::decode_json<kube::Value>(read_file(arguments[1]));
  const auto messages = kube::bench::closure_of(*schema, "core/v1.Pod");
  write_file(folder + "/pod.proto", kube::bench::proto_file(messages));
  write_file(folder + "/plain_pod.hpp", kube::bench::plain_header(messages));
  write_file(folder + "/plain_pod.cpp", kube::bench::plain_source(messages));
  write_file(folder + "/plain_reader.cpp", kube::bench::plain_reader(messages));
} catch (const std::exception& error) {
  std::cerr << "make_peers: " << error.what() << '\n';
  return 1;
}
