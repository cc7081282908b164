// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/identity.hpp>

#include <kube/base/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdint>
#include <fstream>
#include <random>

namespace kube {

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

std::string random_uuid() {
  std::random_device device;
  const auto draw = [&] { return static_cast<std::uint32_t>(device()); };
  const std::uint32_t middle = (draw() & 0xffff'0fffU) | 0x0000'4000U;  // version 4
  const std::uint32_t variant = (draw() & 0x3fff'ffffU) | 0x8000'0000U;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:04x}{:08x}", draw(), middle >> 16,
                     middle & 0xffffU, variant >> 16, variant & 0xffffU, draw());
}

std::string make_identity() { return fmt::format("{}_{}", host_name(), random_uuid()); }

std::string pod_namespace(const std::string& file) {
  std::ifstream in{file};
  std::string name;
  if (!(in >> name)) {
    throw Error{
        fmt::format("cannot read {}: outside of a cluster, the namespace must be given", file)};
  }
  return name;
}

}  // namespace kube
