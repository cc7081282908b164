// SPDX-License-Identifier: Apache-2.0
// The sample controller of Kubernetes in a few lines: a manager provides caches, queue, workers and
// election.
#include "common/program.hpp"
#include "run.hpp"

int main(int argc, char** argv) { return sample::run_program(argc, argv, sample::run_builder); }
