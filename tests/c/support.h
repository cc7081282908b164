/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the C interface share: checks, a recorder for handlers, and handles for pods of the server. */
#ifndef KUBECXX_TESTS_C_SUPPORT_H
#define KUBECXX_TESTS_C_SUPPORT_H

#include <kube/c/kubecxx.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define WAIT_MS 30000

/* Ends the program with the place of the failure. */
void fail(const char* file, int line, const char* what);
#define CHECK(condition)                                    \
  do {                                                      \
    if (!(condition)) fail(__FILE__, __LINE__, #condition); \
  } while (0)
#define CHECK_OK(call)                                         \
  do {                                                         \
    if ((call) != KUBECXX_OK) fail(__FILE__, __LINE__, #call); \
  } while (0)
/* The call fails with that code, and with a message. */
#define CHECK_CODE(expected, call)                                    \
  do {                                                                \
    if ((call) != (expected) || kubecxx_error_code() != (expected) || \
        kubecxx_error_message().size == 0)                            \
      fail(__FILE__, __LINE__, #call);                                \
  } while (0)

/* Whether the string is, or contains, the text. */
int equals(kubecxx_string string, const char* text);
int contains(kubecxx_string string, const char* text);

/* Counts the calls of a handler. */
typedef struct recorder {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int adds, initial_adds, updates, deletes, releases;
  char last_key[128];
  char thread_name[32];
  const kubecxx_object* lent; /* of the last call; not valid any more */
} recorder;

void recorder_init(recorder* r);
/* Waits until the counter, a member of the recorder, is `least` at least. */
void recorder_wait(recorder* r, const int* counter, int least);
int recorder_get(recorder* r, const int* counter);
/* Adds 1 to the counter and wakes those who wait. */
void recorder_count(recorder* r, int* counter);
/* A handler that counts. */
kubecxx_handler_options recording_handler(recorder* r);
void count_release(void* user_data);

/* The configuration of KUBECONFIG, without a limit of requests. */
kubecxx_config* load_config(void);
kubecxx_client* new_client(void);
/* A client whose handles run on the loop of `runtime`. */
kubecxx_client* new_client_on(kubecxx_runtime* runtime);
kubecxx_runtime* new_runtime_without_threads(void);
/* ConfigMaps of a namespace that is made for the test. */
kubecxx_resource config_maps(const char* namespace_);
void create_namespace(kubecxx_client* client, const char* name);
/* Creates, and changes, a ConfigMap with the label app=`app`. */
void create_config_map(kubecxx_client* client, const char* namespace_, const char* name,
                       const char* app);
void touch_config_map(kubecxx_client* client, const char* namespace_, const char* name,
                      const char* value);
void delete_config_map(kubecxx_client* client, const char* namespace_, const char* name);
/* Runs the loop once, after waiting for its descriptor. */
void run_loop(kubecxx_runtime* runtime);
/* The number of threads of this process. */
int thread_count(void);
/* Waits until it is that number: a thread that was joined is still listed for a moment. */
void wait_for_threads(int count);

#endif
