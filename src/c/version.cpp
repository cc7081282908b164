// SPDX-License-Identifier: Apache-2.0
#include <kube/c/kubecxx.h>

const char* kubecxx_version() { return KUBECXX_VERSION; }
int kubecxx_abi_version() { return KUBECXX_ABI_VERSION; }
