# SPDX-License-Identifier: Apache-2.0
# Entry point. `make test` and `make run` do everything, starting from a bare Debian 12 machine.

PRESET ?= dev
BUILD := build/$(PRESET)
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
LTO ?= OFF

# Debian packages: dependencies of the library, then those of tests and benchmarks.
PACKAGES := cmake ninja-build g++ pkg-config ca-certificates curl \
  libfmt-dev libsimdjson-dev libyaml-cpp-dev libprotozero-dev libboost1.81-dev libxxhash-dev \
  libssl-dev zlib1g-dev libsqlite3-dev \
  libcli11-dev libspdlog-dev libnghttp2-dev libgtest-dev libgmock-dev libbenchmark-dev \
  libprotobuf-dev protobuf-compiler nlohmann-json3-dev ccache libuv1-dev libglib2.0-dev tzdata python3
CHECK_PACKAGES := clang clang-tidy clang-format lld libclang-rt-14-dev
DOCS_PACKAGES := mkdocs doxygen python3 python3-pygments

.PHONY: help deps check-deps configure build run test test-cluster bench docs format check install clean

help:
	@echo 'make test      install missing packages, build, run all tests'
	@echo 'make test-cluster  compare with a real Kubernetes API server; run foreign clients (needs Go)'
	@echo 'make run       install missing packages, build, run the demo (DEMO_SECONDS=20 ends it after that time;'
	@echo '               KUBECONFIG=file runs it on that cluster, YES=1 without asking)'
	@echo 'make bench     run the benchmarks; writes the results to bench/results/'
	@echo 'make check     sanitizers, short fuzzing, format and tidy (takes a while)'
	@echo 'make docs      build the documentation as a site, with a reference of the headers, in build/docs/site'
	@echo 'make format    format the sources'
	@echo 'make install   build and install the library and tools to PREFIX ($(PREFIX)); LTO=ON uses link-time optimisation'
	@echo 'make deps      install the Debian packages only'

deps:
	@tools/install-packages.sh $(PACKAGES)

check-deps: deps
	@tools/install-packages.sh $(CHECK_PACKAGES)

configure: deps
	@test -f $(BUILD)/build.ninja || cmake --preset $(PRESET)

build: configure
	@cmake --build --preset $(PRESET) --parallel $(JOBS)

# Uses a cluster only if KUBECONFIG is given on the command line; the environment variable is ignored.
ifeq ($(origin KUBECONFIG),command line)
run: DEMO_FLAGS += --kubeconfig '$(KUBECONFIG)'
endif
run: build
	@$(BUILD)/examples/demo_program/demo $(DEMO_FLAGS)

test: build
	@ctest --test-dir $(BUILD) --output-on-failure --parallel $(JOBS)

# A real control plane, foreign clients and the differential test; built once, which takes some fifteen minutes.
test-cluster: build
	@tools/install-packages.sh openssl
	@tests/cluster/test.sh $(BUILD)

bench: deps
	@test -f build/release/build.ninja || cmake --preset release
	@cmake --build --preset release --parallel $(JOBS) --target benchmarks
	@bench/compile/run.sh build/release
	@bench/workqueue/run.sh build/release
	@bench/transport/run.sh build/release
	@bench/server/run.sh build/release
	@bench/informers/run.sh build/release
	@bench/sample_controller/run.sh build/release
	@bench/codec/run.sh build/release
	@bench/peers/run.sh build/release

docs:
	@tools/install-packages.sh $(DOCS_PACKAGES)
	@tools/make-docs.sh

format: check-deps
	@git ls-files '*.hpp' '*.cpp' '*.h' '*.c' ':!tests/golden' | xargs clang-format -i

check: check-deps
	@tools/check.sh $(JOBS)

# LTO=ON makes the user's own program smaller and a little faster, but linking it takes minutes.
install: deps
	@cmake --preset install -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=$(LTO) >/dev/null
	@cmake --build --preset install --parallel $(JOBS)
	@cmake --install build/install --prefix $(PREFIX)

clean:
	@rm -rf build
