// SPDX-License-Identifier: Apache-2.0
// The sample controller of Kubernetes, assembled by hand: factories, handlers, a queue, workers,
// listers.
#include "common/program.hpp"
#include "run.hpp"

int main(int argc, char** argv) { return sample::run_program(argc, argv, sample::run_classic); }
