/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

void fail(const char* file, int line, const char* what) {
  const kubecxx_string message = kubecxx_error_message();
  fprintf(stderr, "%s:%d: failed: %s\n  last error of this thread: %d %.*s\n", file, line, what,
          kubecxx_error_code(), (int)message.size, message.data == NULL ? "" : message.data);
  exit(1);
}

int equals(kubecxx_string string, const char* text) {
  return string.size == strlen(text) &&
         (string.size == 0 || memcmp(string.data, text, string.size) == 0);
}

int contains(kubecxx_string string, const char* text) {
  const size_t size = strlen(text);
  size_t i;
  for (i = 0; i + size <= string.size; ++i) {
    if (memcmp(string.data + i, text, size) == 0) return 1;
  }
  return 0;
}

void recorder_init(recorder* r) {
  memset(r, 0, sizeof *r);
  CHECK(pthread_mutex_init(&r->mutex, NULL) == 0);
  CHECK(pthread_cond_init(&r->changed, NULL) == 0);
}

void recorder_count(recorder* r, int* counter) {
  pthread_mutex_lock(&r->mutex);
  ++*counter;
  pthread_cond_broadcast(&r->changed);
  pthread_mutex_unlock(&r->mutex);
}

int recorder_get(recorder* r, const int* counter) {
  int value;
  pthread_mutex_lock(&r->mutex);
  value = *counter;
  pthread_mutex_unlock(&r->mutex);
  return value;
}

void recorder_wait(recorder* r, const int* counter, int least) {
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += WAIT_MS / 1000;
  pthread_mutex_lock(&r->mutex);
  while (*counter < least) {
    if (pthread_cond_timedwait(&r->changed, &r->mutex, &deadline) != 0) {
      fprintf(stderr, "adds %d, updates %d, deletes %d, releases %d\n", r->adds, r->updates,
              r->deletes, r->releases);
      fail(__FILE__, __LINE__, "a counter stays below what was waited for");
    }
  }
  pthread_mutex_unlock(&r->mutex);
}

static void note_thread(recorder* r) {
  char text[sizeof r->thread_name] = "";
  FILE* const name = fopen("/proc/thread-self/comm", "r");
  CHECK(name != NULL);
  if (fgets(text, sizeof text, name) == NULL) text[0] = '\0';
  fclose(name);
  pthread_mutex_lock(&r->mutex);
  memcpy(r->thread_name, text, sizeof text);
  pthread_mutex_unlock(&r->mutex);
}

static void record_add(void* user_data, const kubecxx_object* object, int in_initial_list) {
  recorder* const r = user_data;
  CHECK(contains(kubecxx_object_json(object), "\"kind\":\"ConfigMap\""));
  note_thread(r);
  pthread_mutex_lock(&r->mutex);
  r->initial_adds += in_initial_list;
  pthread_mutex_unlock(&r->mutex);
  recorder_count(r, &r->adds);
}

static void record_update(void* user_data, const kubecxx_object* before,
                          const kubecxx_object* now) {
  recorder* const r = user_data;
  const kubecxx_string a = kubecxx_object_name(before);
  const kubecxx_string b = kubecxx_object_name(now);
  CHECK(a.size == b.size && memcmp(a.data, b.data, a.size) == 0);
  recorder_count(r, &r->updates);
}

static void record_delete(void* user_data, kubecxx_string key, const kubecxx_object* last,
                          int final_state_known) {
  recorder* const r = user_data;
  CHECK(last != NULL && final_state_known == 1);
  CHECK(key.size < sizeof r->last_key);
  pthread_mutex_lock(&r->mutex);
  memcpy(r->last_key, key.data, key.size);
  r->last_key[key.size] = '\0';
  pthread_mutex_unlock(&r->mutex);
  recorder_count(r, &r->deletes);
}

void count_release(void* user_data) {
  recorder* const r = user_data;
  recorder_count(r, &r->releases);
}

kubecxx_handler_options recording_handler(recorder* r) {
  kubecxx_handler_options options = {.size = sizeof options};
  options.on_add = record_add;
  options.on_update = record_update;
  options.on_delete = record_delete;
  options.user_data = r;
  options.release = count_release;
  return options;
}

kubecxx_config* load_config(void) {
  kubecxx_config* config;
  kubecxx_config_options options = {.size = sizeof options};
  options.qps = -1;
  CHECK_OK(kubecxx_config_load(kubecxx_str(""), &options, &config));
  return config;
}

kubecxx_client* new_client_on(kubecxx_runtime* runtime) {
  kubecxx_config* const config = load_config();
  kubecxx_client* client;
  kubecxx_client_options options = {.size = sizeof options};
  options.runtime = runtime;
  CHECK_OK(kubecxx_client_new(config, &options, &client));
  kubecxx_config_free(config);
  return client;
}

kubecxx_client* new_client(void) { return new_client_on(NULL); }

kubecxx_runtime* new_runtime_without_threads(void) {
  kubecxx_runtime* runtime;
  kubecxx_runtime_options options = {.size = sizeof options};
  options.threads = KUBECXX_NO_THREADS;
  CHECK_OK(kubecxx_runtime_new(&options, &runtime));
  return runtime;
}

kubecxx_resource config_maps(const char* namespace_) {
  kubecxx_resource resource = {.size = sizeof resource};
  resource.version = kubecxx_str("v1");
  resource.resource = kubecxx_str("configmaps");
  resource.namespace_ = kubecxx_str(namespace_);
  return resource;
}

void create_namespace(kubecxx_client* client, const char* name) {
  kubecxx_resource resource = {.size = sizeof resource};
  char json[256];
  resource.version = kubecxx_str("v1");
  resource.resource = kubecxx_str("namespaces");
  snprintf(json, sizeof json,
           "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"%s\"}}", name);
  CHECK_OK(kubecxx_client_create(client, &resource, kubecxx_str(json), NULL, NULL));
}

void create_config_map(kubecxx_client* client, const char* namespace_, const char* name,
                       const char* app) {
  const kubecxx_resource resource = config_maps(namespace_);
  char json[512];
  snprintf(json, sizeof json,
           "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\",\"labels\":"
           "{\"app\":\"%s\"}},"
           "\"data\":{\"key\":\"value\"}}",
           name, app);
  CHECK_OK(kubecxx_client_create(client, &resource, kubecxx_str(json), NULL, NULL));
}

void touch_config_map(kubecxx_client* client, const char* namespace_, const char* name,
                      const char* value) {
  const kubecxx_resource resource = config_maps(namespace_);
  char patch[256];
  snprintf(patch, sizeof patch, "{\"data\":{\"key\":\"%s\"}}", value);
  CHECK_OK(kubecxx_client_patch(client, &resource, kubecxx_str(name), KUBECXX_PATCH_MERGE,
                                kubecxx_str(patch), NULL, NULL));
}

void delete_config_map(kubecxx_client* client, const char* namespace_, const char* name) {
  const kubecxx_resource resource = config_maps(namespace_);
  CHECK_OK(kubecxx_client_delete(client, &resource, kubecxx_str(name), NULL));
}

void run_loop(kubecxx_runtime* runtime) {
  struct pollfd ready = {0};
  int more = 1;
  CHECK_OK(kubecxx_runtime_descriptor(runtime, &ready.fd));
  ready.events = POLLIN;
  CHECK(poll(&ready, 1, WAIT_MS) == 1);
  while (more) CHECK_OK(kubecxx_runtime_run_ready(runtime, 0, &more));
}

static int listed_threads(void) {
  DIR* const tasks = opendir("/proc/self/task");
  const struct dirent* entry;
  int count = 0;
  CHECK(tasks != NULL);
  while ((entry = readdir(tasks)) != NULL) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

#ifdef __SANITIZE_THREAD__
static void* do_nothing(void* unused) { return unused; }

/* The thread sanitizer starts a thread of its own with the first thread of the program. */
static int sanitizer_threads(void) {
  static int started = 0;
  pthread_t first;
  if (!started) {
    const int before = listed_threads();
    started = 1;
    CHECK(pthread_create(&first, NULL, do_nothing, NULL) == 0);
    CHECK(pthread_join(first, NULL) == 0);
    while (listed_threads() > before + 1) sched_yield(); /* listed for a moment after the join */
  }
  return 1;
}
#else
static int sanitizer_threads(void) { return 0; }
#endif

int thread_count(void) {
  const int others = sanitizer_threads(); /* before the threads are listed */
  return listed_threads() - others;
}

void wait_for_threads(int count) {
  const struct timespec pause = {0, 1000000};
  int tries = WAIT_MS;
  while (thread_count() != count) {
    CHECK(--tries > 0);
    nanosleep(&pause, NULL);
  }
}
