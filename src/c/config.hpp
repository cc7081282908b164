// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/c/kubecxx.h>
#include <kube/config/config.hpp>

struct kubecxx_config {
  kube::Config config;
};
