// SPDX-License-Identifier: Apache-2.0
// A program that has libcurl ready for use and then waits: the least that any program with Debian's libcurl takes.
#include <curl/curl.h>
#include <unistd.h>

int main() {
  curl_global_init(CURL_GLOBAL_ALL);
  const char ready[] = "ready\n";
  if (write(STDERR_FILENO, ready, sizeof ready - 1) < 0) return 1;
  pause();
}
