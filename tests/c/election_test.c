/* SPDX-License-Identifier: Apache-2.0 */
/* Leader election. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <string.h>

void election_leads_and_gives_the_lease_back(void);
void election_is_passed_on_to_the_next_candidate(void);
void election_is_freed_in_its_callback(void);
void election_refuses_bad_options(void);

typedef struct candidate {
  recorder base; /* the first member */
  int started, stopped, announced;
  char leader[64];
} candidate;

static void lead(void* user_data, kubecxx_election* election) {
  candidate* const c = user_data;
  int must_stop = 0;
  CHECK(kubecxx_election_is_leader(election) == 1);
  CHECK_OK(kubecxx_election_must_stop(election, 0, &must_stop));
  CHECK(must_stop == 0);
  CHECK_CODE(KUBECXX_ERROR_MISUSE, kubecxx_election_wait(election, -1, NULL));
  recorder_count(&c->base, &c->started);
  CHECK_OK(kubecxx_election_must_stop(election, -1, &must_stop));
  CHECK(must_stop == 1);
}

static void stopped_leading(void* user_data, kubecxx_election* election) {
  candidate* const c = user_data;
  CHECK(kubecxx_election_is_leader(election) == 0);
  recorder_count(&c->base, &c->stopped);
}

static void new_leader(void* user_data, kubecxx_election* election, kubecxx_string identity) {
  candidate* const c = user_data;
  (void)election;
  CHECK(identity.size < sizeof c->leader);
  pthread_mutex_lock(&c->base.mutex);
  memcpy(c->leader, identity.data, identity.size);
  c->leader[identity.size] = '\0';
  pthread_mutex_unlock(&c->base.mutex);
  recorder_count(&c->base, &c->announced);
}

static kubecxx_election_options options_of(candidate* c, const char* identity) {
  kubecxx_election_options options = {.size = sizeof options};
  memset(c, 0, sizeof *c);
  recorder_init(&c->base);
  options.namespace_ = kubecxx_str("default");
  options.name = kubecxx_str("c-test");
  options.identity = kubecxx_str(identity);
  options.retry_period_ms = 100;
  options.release_on_stop = 1;
  options.on_started_leading = lead;
  options.on_stopped_leading = stopped_leading;
  options.on_new_leader = new_leader;
  options.user_data = c;
  options.release = count_release;
  return options;
}

/* CA-5 */
void election_leads_and_gives_the_lease_back(void) {
  kubecxx_config* const config = load_config();
  kubecxx_client* const client = new_client();
  kubecxx_resource leases = config_maps("default");
  kubecxx_election* election;
  kubecxx_object* lease;
  kubecxx_text* text;
  candidate c;
  const kubecxx_election_options options = options_of(&c, "first");
  leases.group = kubecxx_str("coordination.k8s.io");
  leases.resource = kubecxx_str("leases");
  CHECK_OK(kubecxx_election_new(config, &options, &election));
  kubecxx_config_free(config);
  CHECK(kubecxx_election_is_leader(election) == 0);
  CHECK_CODE(KUBECXX_ERROR_TIMEOUT, kubecxx_election_wait(election, 0, NULL));

  CHECK_OK(kubecxx_election_start(election));
  CHECK_CODE(KUBECXX_ERROR_MISUSE, kubecxx_election_start(election));
  recorder_wait(&c.base, &c.started, 1);
  recorder_wait(&c.base, &c.announced, 1);
  CHECK(strcmp(c.leader, "first") == 0);
  CHECK_OK(kubecxx_election_leader(election, &text));
  CHECK(equals(kubecxx_text_get(text), "first"));
  kubecxx_text_free(text);
  CHECK_OK(kubecxx_client_get(client, &leases, kubecxx_str("c-test"), NULL, &lease));
  CHECK(contains(kubecxx_object_json(lease), "\"holderIdentity\":\"first\""));
  kubecxx_object_free(lease);

  CHECK_OK(kubecxx_election_stop(election));
  CHECK_OK(kubecxx_election_wait(election, WAIT_MS, NULL));
  CHECK(c.stopped == 1 && c.base.releases == 0);
  CHECK_OK(kubecxx_client_get(client, &leases, kubecxx_str("c-test"), NULL, &lease));
  CHECK(!contains(kubecxx_object_json(lease), "\"holderIdentity\":\"first\""));
  kubecxx_object_free(lease);
  kubecxx_election_free(election);
  CHECK(c.base.releases == 1);
  kubecxx_client_free(client);
}

/* CA-5 */
void election_is_passed_on_to_the_next_candidate(void) {
  kubecxx_config* const config = load_config();
  kubecxx_election* first;
  kubecxx_election* second;
  candidate a;
  candidate b;
  const kubecxx_election_options options_a = options_of(&a, "a");
  const kubecxx_election_options options_b = options_of(&b, "b");
  CHECK_OK(kubecxx_election_new(config, &options_a, &first));
  CHECK_OK(kubecxx_election_new(config, &options_b, &second));
  CHECK_OK(kubecxx_election_start(first));
  recorder_wait(&a.base, &a.started, 1);
  CHECK_OK(kubecxx_election_start(second));
  recorder_wait(&b.base, &b.announced, 1);
  CHECK(kubecxx_election_is_leader(second) == 0 && recorder_get(&b.base, &b.started) == 0);

  kubecxx_election_free(first); /* stops it, and calls on_stopped_leading before it returns */
  CHECK(a.stopped == 1 && a.base.releases == 1);
  recorder_wait(&b.base, &b.started, 1);
  kubecxx_election_free(second);
  kubecxx_config_free(config);
}

static void lead_and_free(void* user_data, kubecxx_election* election) {
  candidate* const c = user_data;
  kubecxx_election_free(election);
  recorder_count(&c->base, &c->started);
}

/* CA-2: there is no further callback. */
void election_is_freed_in_its_callback(void) {
  kubecxx_config* const config = load_config();
  kubecxx_election* election;
  candidate c;
  kubecxx_election_options options = options_of(&c, "freed");
  options.on_started_leading = lead_and_free;
  CHECK_OK(kubecxx_election_new(config, &options, &election));
  CHECK_OK(kubecxx_election_start(election));
  recorder_wait(&c.base, &c.started, 1);
  recorder_wait(&c.base, &c.base.releases, 1);
  CHECK(c.stopped == 0);
  kubecxx_config_free(config);
}

/* CA-3 */
void election_refuses_bad_options(void) {
  kubecxx_config* const config = load_config();
  kubecxx_election* election = (kubecxx_election*)1;
  candidate c;
  kubecxx_election_options options = options_of(&c, "x");
  options.renew_deadline_ms = 20000; /* longer than the lease */
  CHECK_CODE(KUBECXX_ERROR_INVALID_ARGUMENT, kubecxx_election_new(config, &options, &election));
  CHECK(election == NULL);
  options = options_of(&c, "x");
  options.name = kubecxx_str("");
  CHECK_CODE(KUBECXX_ERROR_INVALID_ARGUMENT, kubecxx_election_new(config, &options, &election));
  options.name = kubecxx_str("x");
  options.retry_period_ms = -1;
  CHECK_CODE(KUBECXX_ERROR_INVALID_ARGUMENT, kubecxx_election_new(config, &options, &election));
  kubecxx_config_free(config);
}
