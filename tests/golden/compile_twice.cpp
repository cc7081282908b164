// SPDX-License-Identifier: Apache-2.0
#include "custom_resource/expected/foo.hpp"
#include "features/expected/features.hpp"
#include "hostile/expected/hostile.hpp"
#include "openapi/expected/depot.hpp"
#include "versions/expected/versions.hpp"

const kube::Type& type_of_foo_elsewhere() {
  return kube::type_of<samplecontroller::v1alpha1::Foo>();
}
