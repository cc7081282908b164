/* SPDX-License-Identifier: Apache-2.0 */
/* Does its work only while it is the leader among all processes that run it, on the cluster of KUBECONFIG:
 *
 *   leader_election [NAMESPACE]
 *
 * Start it twice, end the first one with Ctrl-C, and the second one takes over. With --demo it stops by itself. */
#define _POSIX_C_SOURCE 200809L
#include <kube/c/kubecxx.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile sig_atomic_t interrupted = 0;

static void on_signal(int number) {
  (void)number;
  interrupted = 1;
}

/* Ends the program with the last error of this thread, unless the call has succeeded. */
static void check(int code, const char* what) {
  kubecxx_string message = kubecxx_error_message();
  if (code == KUBECXX_OK) return;
  fprintf(stderr, "leader_election: %s: %.*s\n", what, (int)message.size, message.data);
  exit(1);
}

/* The work of the leader, on a thread of the election. It ends when the lease is lost, or soon after a stop. */
static void lead(void* user_data, kubecxx_election* election) {
  const int demo = *(const int*)user_data;
  int must_stop = 0;
  int round;
  printf("this process leads\n");
  for (round = 1; !must_stop; ++round) {
    printf("round %d\n", round);
    if (demo && round == 3) kubecxx_election_stop(election);
    check(kubecxx_election_must_stop(election, demo ? 10 : 1000, &must_stop), "must_stop");
  }
}

static void stopped(void* user_data, kubecxx_election* election) {
  (void)user_data;
  (void)election;
  printf("this process does not lead any more\n");
}

static void new_leader(void* user_data, kubecxx_election* election, kubecxx_string identity) {
  (void)user_data;
  (void)election;
  if (identity.size > 0) printf("the leader is %.*s\n", (int)identity.size, identity.data);
}

int main(int argc, char** argv) {
  int demo = argc > 1 && kubecxx_str(argv[1]).size == 6 && memcmp(argv[1], "--demo", 6) == 0;
  kubecxx_config* config;
  kubecxx_election* election;
  kubecxx_election_options options = {.size = sizeof options};
  struct sigaction action = {.sa_handler = on_signal};

  setvbuf(stdout, NULL, _IOLBF, 0);
  check(kubecxx_config_load(kubecxx_str(""), NULL, &config), "the configuration");
  options.namespace_ = argc > 1 && !demo ? kubecxx_str(argv[1]) : kubecxx_config_namespace(config);
  options.name = kubecxx_str("leader-election-example");
  options.release_on_stop = 1; /* the next one need not wait until the lease expires */
  options.on_started_leading = lead;
  options.on_stopped_leading = stopped;
  options.on_new_leader = new_leader;
  options.user_data = &demo;
  check(kubecxx_election_new(config, &options, &election), "the election");
  kubecxx_config_free(config);

  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  check(kubecxx_election_start(election), "start");
  while (!interrupted && kubecxx_election_wait(election, 200, NULL) == KUBECXX_ERROR_TIMEOUT) {
  }
  kubecxx_election_free(election); /* stops it, and waits for lead() to return */
  return 0;
}
