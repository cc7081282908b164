/* SPDX-License-Identifier: Apache-2.0 */
/* Use of the parent's handles in a child of fork(). */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <dirent.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void child_of_fork_frees_handles(void);
void child_of_fork_reads_objects(void);
void child_of_fork_keeps_no_descriptor(void);
void child_of_fork_makes_no_second_runtime(void);
void child_forked_before_the_first_client_has_its_own(void);

typedef struct handles {
  kubecxx_log* log;
  kubecxx_config* config;
  kubecxx_runtime* runtime;
  kubecxx_client* client;
  kubecxx_informer* informer;
  kubecxx_handler* handler;
  kubecxx_election* election;
  kubecxx_list* list;
  recorder recorder;
} handles;

static void drop(void* user_data, int level, kubecxx_string component, kubecxx_string message) {
  (void)user_data;
  (void)level;
  (void)component;
  (void)message;
}

/* Handles of all kinds, while threads use them. */
static void make_handles(handles* h, const char* namespace_) {
  const kubecxx_resource maps = config_maps(namespace_);
  kubecxx_handler_options options;
  kubecxx_election_options election = {.size = sizeof election};
  kubecxx_client_options client = {.size = sizeof client};
  recorder_init(&h->recorder);
  options = recording_handler(&h->recorder);
  CHECK_OK(kubecxx_log_new(drop, NULL, NULL, KUBECXX_LOG_DEBUG, &h->log));
  h->config = load_config();
  CHECK_OK(kubecxx_runtime_new(NULL, &h->runtime));
  client.runtime = h->runtime;
  client.log = h->log;
  CHECK_OK(kubecxx_client_new(h->config, &client, &h->client));
  create_namespace(h->client, namespace_);
  create_config_map(h->client, namespace_, "a", "web");
  CHECK_OK(kubecxx_informer_new(h->client, &maps, NULL, &h->informer));
  CHECK_OK(kubecxx_informer_add_handler(h->informer, &options, &h->handler));
  CHECK_OK(kubecxx_informer_start(h->informer));
  CHECK_OK(kubecxx_handler_wait_for_sync(h->handler, WAIT_MS, NULL));
  CHECK_OK(kubecxx_informer_list(h->informer, kubecxx_str(""), kubecxx_str(""), &h->list));
  election.namespace_ = kubecxx_str(namespace_);
  election.name = kubecxx_str("lease");
  CHECK_OK(kubecxx_election_new(h->config, &election, &h->election));
  CHECK_OK(kubecxx_election_start(h->election));
}

static void free_handles(handles* h) {
  kubecxx_election_free(h->election);
  kubecxx_list_free(h->list);
  kubecxx_handler_free(h->handler);
  kubecxx_informer_free(h->informer);
  kubecxx_client_free(h->client);
  kubecxx_runtime_free(h->runtime);
  kubecxx_config_free(h->config);
  kubecxx_log_free(h->log);
}

/* Runs the function in a child, which has to end in time, and with success. */
static void in_child(void (*function)(handles* h), handles* h) {
  const pid_t child = fork();
  int status;
  CHECK(child >= 0);
  if (child == 0) {
    alarm(WAIT_MS / 1000);
    function(h);
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void use_and_free(handles* h) {
  const kubecxx_resource maps = config_maps("forked");
  const kubecxx_handler_options options = recording_handler(&h->recorder);
  kubecxx_object* object;
  kubecxx_informer* informer;
  kubecxx_text* text;
  int number;
  CHECK_CODE(KUBECXX_ERROR_FORKED,
             kubecxx_client_get(h->client, &maps, kubecxx_str("a"), NULL, &object));
  CHECK_CODE(KUBECXX_ERROR_FORKED, kubecxx_informer_new(h->client, &maps, NULL, &informer));
  CHECK_CODE(KUBECXX_ERROR_FORKED, kubecxx_informer_start(h->informer));
  CHECK_CODE(KUBECXX_ERROR_FORKED, kubecxx_informer_wait_for_sync(h->informer, -1, NULL));
  CHECK_CODE(KUBECXX_ERROR_FORKED,
             kubecxx_informer_get(h->informer, kubecxx_str("forked/a"), &object));
  CHECK_CODE(KUBECXX_ERROR_FORKED, kubecxx_informer_add_handler(h->informer, &options, NULL));
  CHECK_CODE(KUBECXX_ERROR_FORKED, kubecxx_handler_wait_for_sync(h->handler, -1, NULL));
  CHECK_CODE(KUBECXX_ERROR_FORKED, kubecxx_runtime_run_ready(h->runtime, 0, NULL));
  CHECK_CODE(KUBECXX_ERROR_FORKED, kubecxx_runtime_descriptor(h->runtime, &number));
  CHECK_CODE(KUBECXX_ERROR_FORKED, kubecxx_election_leader(h->election, &text));
  CHECK_CODE(KUBECXX_ERROR_FORKED, kubecxx_election_wait(h->election, -1, NULL));
  CHECK(kubecxx_informer_has_synced(h->informer) == 0 &&
        kubecxx_election_is_leader(h->election) == 0);
  free_handles(h);
  CHECK(h->recorder.releases == 0);
}

/* CA-7, LO-10: while threads of the parent are running. */
void child_of_fork_frees_handles(void) {
  handles h;
  char value[16];
  int round;
  make_handles(&h, "forked");
  for (round = 0; round < 20; ++round) {
    snprintf(value, sizeof value, "%d", round);
    touch_config_map(h.client, "forked", "a", value);
    in_child(use_and_free, &h);
  }
  /* The parent continues. */
  create_config_map(h.client, "forked", "b", "web");
  recorder_wait(&h.recorder, &h.recorder.adds, 2);
  free_handles(&h);
  CHECK(h.recorder.releases == 1);
}

static void read_list(handles* h) {
  kubecxx_object* clone;
  CHECK(kubecxx_list_size(h->list) == 1);
  CHECK(contains(kubecxx_object_json(kubecxx_list_item(h->list, 0)), "\"name\":\"a\""));
  CHECK_OK(kubecxx_object_clone(kubecxx_list_item(h->list, 0), &clone));
  kubecxx_list_free(h->list);
  CHECK(equals(kubecxx_object_name(clone), "a"));
  kubecxx_object_free(clone);
}

/* LO-10 */
void child_of_fork_reads_objects(void) {
  handles h;
  make_handles(&h, "readable");
  in_child(read_list, &h);
  CHECK(contains(kubecxx_object_json(kubecxx_list_item(h.list, 0)), "\"name\":\"a\""));
  free_handles(&h);
}

static int descriptor_count(void) {
  DIR* const descriptors = opendir("/proc/self/fd");
  const struct dirent* entry;
  int count = 0;
  CHECK(descriptors != NULL);
  while ((entry = readdir(descriptors)) != NULL) count += entry->d_name[0] != '.';
  closedir(descriptors);
  return count;
}

static int descriptors_before;

static void count_descriptors(handles* h) {
  CHECK(descriptor_count() == descriptors_before);
  free_handles(h);
  CHECK(descriptor_count() == descriptors_before);
}

/* LO-10 */
void child_of_fork_keeps_no_descriptor(void) {
  handles h;
  descriptors_before = descriptor_count();
  make_handles(&h, "closed");
  CHECK(descriptor_count() > descriptors_before);
  in_child(count_descriptors, &h);
  free_handles(&h);
  CHECK(descriptor_count() == descriptors_before);
}

static void make_another(handles* h) {
  kubecxx_runtime* runtime;
  kubecxx_client* client;
  CHECK_CODE(KUBECXX_ERROR_FORKED, kubecxx_runtime_new(NULL, &runtime));
  CHECK_CODE(KUBECXX_ERROR_FORKED, kubecxx_client_new(h->config, NULL, &client));
  CHECK(contains(kubecxx_error_message(), "exec"));
}

/* LO-10 */
void child_of_fork_makes_no_second_runtime(void) {
  handles h;
  make_handles(&h, "second");
  in_child(make_another, &h);
  free_handles(&h);
}

static void make_first(handles* h) {
  make_handles(h, "child");
  free_handles(h);
}

/* LO-10 */
void child_forked_before_the_first_client_has_its_own(void) {
  handles h;
  in_child(make_first, &h);
}
