/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one test of the C interface: c_abi_test NAME. It needs the server of KUBECONFIG; see with_server.cpp. */
#include <stdio.h>
#include <string.h>

#define TEST(name) void name(void);
#include "tests.inc"
#undef TEST

static const struct {
  const char* name;
  void (*run)(void);
} tests[] = {
#define TEST(name) {#name, name},
#include "tests.inc"
#undef TEST
};

int main(int argc, char** argv) {
  size_t i;
  for (i = 0; argc == 2 && i < sizeof tests / sizeof *tests; ++i) {
    if (strcmp(argv[1], tests[i].name) != 0) continue;
    tests[i].run();
    printf("%s passed\n", argv[1]);
    return 0;
  }
  fprintf(stderr, "usage: c_abi_test NAME; the names are in tests.inc\n");
  return 2;
}
