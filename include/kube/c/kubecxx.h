/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBECXX_H
#define KUBECXX_H

/** @file
 * kubecxx for C, and for languages that can call C: Kubernetes informers, caches, requests and leader election.
 * docs/c-abi.md has an introduction. Link with -lkubecxx.
 *
 * Rules for all functions:
 *
 * - Handles are opaque. Each has one kubecxx_..._free(), which accepts null. Handles keep what they need alive, so they
 *   may be freed in any order. Any thread may use a handle; a handle must not be used while or after it is freed.
 * - Freeing: inside a callback of the library, _free returns at once. Elsewhere it returns after the last callback of
 *   that handle has returned; for that reason the caller must not hold a lock that such a callback takes.
 * - Strings have a length and do not end with a null character: `printf("%.*s", (int)s.size, s.data)`. A null pointer
 *   with size 0 is the empty string. The library copies the strings that it is given. Strings that it hands out live as
 *   long as the handle they came from; those that a callback gets, until it returns.
 * - Errors: functions that return an int return KUBECXX_OK or one of the codes below, unless they are documented to
 *   return 0 or 1. The details are kept per thread until its next call that returns a code. A function that fails sets
 *   its output to null or 0.
 * - Options are structs whose first member is their size:
 *   `kubecxx_client_options options = {.size = sizeof options};`. All other members may be left at zero, which means
 *   their default. Null is the same as all defaults.
 * - Callbacks come with user data and a function that releases it, called once, after the last callback. It is not
 *   called if the function that was given the callback fails. Callbacks must return normally: they must not longjmp()
 *   out of the library nor end the thread. A C++ exception that leaves one is logged.
 * - Calls made in callbacks: functions marked "Waits" may block, and must not be called in a log sink or a release
 *   function. All others may be called in every callback. A call that is made where it is not allowed returns
 *   KUBECXX_ERROR_MISUSE.
 * - fork: in the child of fork() only exec, _exit and the _free functions may be called, and objects and lists may be
 *   read; every other function returns KUBECXX_ERROR_FORKED. Freeing closes the child's copies of file descriptors and
 *   sends nothing.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Versions ------------------------------------------------------------------------------------------------------ */

/** The version of this header. The ABI version is raised with each addition; functions and members are never removed
 * or changed as long as the library is called libkubecxx.so.0. */
#define KUBECXX_ABI_VERSION 1

/** Returns the version of the library, such as "0.1.0". */
const char* kubecxx_version(void);
/** Returns the ABI version of the library. A program compiled with a higher KUBECXX_ABI_VERSION may miss functions. */
int kubecxx_abi_version(void);

/* --- Strings ------------------------------------------------------------------------------------------------------- */

/** A string with its length. It need not end with a null character, and owns nothing. */
typedef struct kubecxx_string {
  const char* data;
  size_t size;
} kubecxx_string;

/** Makes a kubecxx_string of a null-terminated string; null is the empty string. It is not copied. */
static inline kubecxx_string kubecxx_str(const char* text) {
  kubecxx_string string;
  string.data = text;
  string.size = text == NULL ? 0 : strlen(text);
  return string;
}

/** A string that the library made for the caller. */
typedef struct kubecxx_text kubecxx_text;
/** Returns the content, which is valid until the text is freed. */
kubecxx_string kubecxx_text_get(const kubecxx_text* text);
void kubecxx_text_free(kubecxx_text* text);

/* --- Errors -------------------------------------------------------------------------------------------------------- */

/** Results of functions that return a code. */
enum {
  KUBECXX_OK = 0,
  KUBECXX_ERROR_INVALID_ARGUMENT = 1, /**< an argument or option is wrong; the message names it */
  KUBECXX_ERROR_MISUSE = 2,           /**< a call that is not allowed here or now */
  KUBECXX_ERROR_NO_MEMORY = 3,
  KUBECXX_ERROR_SYSTEM = 4,    /**< the system cannot create a thread or a descriptor */
  KUBECXX_ERROR_CONFIG = 5,    /**< a configuration is missing or invalid */
  KUBECXX_ERROR_TRANSPORT = 6, /**< no response from the server */
  KUBECXX_ERROR_TIMEOUT = 7,   /**< the caller's timeout has passed */
  KUBECXX_ERROR_CANCELED = 8,  /**< by kubecxx_cancel_request(), or because the handle was freed */
  KUBECXX_ERROR_CODEC = 9,     /**< malformed JSON, or unexpected content */
  KUBECXX_ERROR_API = 10, /**< the server rejected the request; see kubecxx_error_http_status() */
  KUBECXX_ERROR_NOT_FOUND = 11,      /**< status 404; also returned by a cache */
  KUBECXX_ERROR_ALREADY_EXISTS = 12, /**< status 409 with that reason */
  KUBECXX_ERROR_CONFLICT = 13,       /**< status 409: the object has changed */
  KUBECXX_ERROR_FORKED = 14,         /**< the handle belongs to the parent process */
  KUBECXX_ERROR_OTHER = 15
};

/** Returns the result of this thread's last call that returned a code. The functions below have its details. */
int kubecxx_error_code(void);
/** Returns the message of that error; empty after KUBECXX_OK. Valid until the thread's next call that returns a code. */
kubecxx_string kubecxx_error_message(void);
/** Returns the HTTP status of that error; 0 if it did not come from a server. */
int kubecxx_error_http_status(void);
/** Returns the reason that the server gave, such as "NotFound"; empty if it gave none. Valid as the message. */
kubecxx_string kubecxx_error_reason(void);

/* --- Logs ---------------------------------------------------------------------------------------------------------- */

/** Levels of log lines. */
enum {
  KUBECXX_LOG_DEBUG = 0,
  KUBECXX_LOG_INFO = 1,
  KUBECXX_LOG_WARNING = 2,
  KUBECXX_LOG_ERROR = 3
};

/** Receives one line. Called by any thread, concurrently, and by threads that must not wait: it must not block.
 * Lines that the library logs because of a call that the sink makes are dropped. */
typedef void (*kubecxx_log_function)(void* user_data, int level, kubecxx_string component,
                                     kubecxx_string message);

/** A log, for the options of other handles. Without one, warnings and errors are written to standard error. */
typedef struct kubecxx_log kubecxx_log;
/** Makes a log. Lines below `least_level` are dropped. A null function drops all. */
int kubecxx_log_new(kubecxx_log_function function, void* user_data,
                    void (*release)(void* user_data), int least_level, kubecxx_log** log);
/** Frees a log. Later lines are dropped, including those of handles that still use it. */
void kubecxx_log_free(kubecxx_log* log);

/* --- Canceling ----------------------------------------------------------------------------------------------------- */

/** Ends calls that wait, from another thread or in a callback. */
typedef struct kubecxx_cancel kubecxx_cancel;
/** Makes a handle for the options of calls that wait. */
int kubecxx_cancel_new(kubecxx_cancel** cancel);
/** Ends all calls that were given `cancel`, and all later ones, with KUBECXX_ERROR_CANCELED. */
int kubecxx_cancel_request(kubecxx_cancel* cancel);
/** Frees the handle. Calls that use it continue. */
void kubecxx_cancel_free(kubecxx_cancel* cancel);

/* --- Configuration ------------------------------------------------------------------------------------------------- */

/** The address of the server, and the credentials. */
typedef struct kubecxx_config kubecxx_config;

/** Options of the functions that make a kubecxx_config. */
typedef struct kubecxx_config_options {
  size_t size;
  kubecxx_string context;    /**< a context of the kubeconfig; default: its current-context */
  kubecxx_string user_agent; /**< default: name of the program and version */
  double qps;             /**< requests per second; 0 is the default of 5, negative is no limit */
  int32_t burst;          /**< requests at once; 0 is the default of 10 */
  int64_t timeout_ms;     /**< timeout of each whole request; 0: none */
  const kubecxx_log* log; /**< default: warnings and errors to standard error */
} kubecxx_config_options;

/** Loads the configuration from the usual places: the file `path` if it is not empty; else the files in KUBECONFIG,
 * else ~/.kube/config; and if these name no server, that of the pod that the program runs in. */
int kubecxx_config_load(kubecxx_string path, const kubecxx_config_options* options,
                        kubecxx_config** config);
/** Parses a kubeconfig (YAML or JSON) in memory. */
int kubecxx_config_parse(kubecxx_string text, const kubecxx_config_options* options,
                         kubecxx_config** config);
/** Loads the configuration of the service account of the pod that the program runs in. */
int kubecxx_config_in_cluster(const kubecxx_config_options* options, kubecxx_config** config);
/** Returns the address of the server. */
kubecxx_string kubecxx_config_server(const kubecxx_config* config);
/** Returns the namespace of the context or pod; "default" if it has none. */
kubecxx_string kubecxx_config_namespace(const kubecxx_config* config);
void kubecxx_config_free(kubecxx_config* config);

/* --- Threads ------------------------------------------------------------------------------------------------------- */

/** The threads of clients and their informers. Without threads, the program runs everything from its own event loop. */
typedef struct kubecxx_runtime kubecxx_runtime;

#define KUBECXX_NO_THREADS (-1)
#define KUBECXX_UNLIMITED (-1)

/** Options of kubecxx_runtime_new(). */
typedef struct kubecxx_runtime_options {
  size_t size;
  int32_t
      threads; /**< workers; 0 is the default: one per processor, 4 at most. KUBECXX_NO_THREADS: none at all */
  int32_t
      max_threads; /**< workers while handlers block; 0 is the default of 64; KUBECXX_UNLIMITED: no limit */
  const kubecxx_log* log; /**< default: warnings and errors to standard error */
} kubecxx_runtime_options;

/** Makes a runtime, to be given to clients in their options. */
int kubecxx_runtime_new(const kubecxx_runtime_options* options, kubecxx_runtime** runtime);
/** For a runtime without threads: returns a file descriptor that is readable (level-triggered) whenever run_ready()
 * has something to do. It is always the same one and owned by the runtime. */
int kubecxx_runtime_descriptor(kubecxx_runtime* runtime, int* descriptor);
/** For a runtime without threads: does all work that is ready, for at most about `budget_ms` (0 is the default of
 * 5), without waiting. Handlers are called inside. Sets `more` (may be null) to 1 if more is ready: an
 * edge-triggered loop calls it until that is 0. One thread at a time; a callback must not call it. */
int kubecxx_runtime_run_ready(kubecxx_runtime* runtime, int64_t budget_ms, int* more);
/** Frees the handle. Its threads end when the last client and informer that use them have been freed. */
void kubecxx_runtime_free(kubecxx_runtime* runtime);

/* --- Objects ------------------------------------------------------------------------------------------------------- */

/** A Kubernetes object. It is immutable, so any number of threads may read it. */
typedef struct kubecxx_object kubecxx_object;
/** Returns its JSON text, which the first call creates. Empty, with kubecxx_error_code() set, if there is no memory. */
kubecxx_string kubecxx_object_json(const kubecxx_object* object);
/** Returns metadata.name, without parsing JSON. This and the next two are empty if they are not set. */
kubecxx_string kubecxx_object_name(const kubecxx_object* object);
/** Returns metadata.namespace. */
kubecxx_string kubecxx_object_namespace(const kubecxx_object* object);
/** Returns metadata.resourceVersion. */
kubecxx_string kubecxx_object_resource_version(const kubecxx_object* object);
/** Makes a new handle of an object that a callback or a list lends. Shares the object. */
int kubecxx_object_clone(const kubecxx_object* object, kubecxx_object** clone);
void kubecxx_object_free(kubecxx_object* object);

/** A list of objects, in unspecified order. */
typedef struct kubecxx_list kubecxx_list;
/** Returns the number of items. */
size_t kubecxx_list_size(const kubecxx_list* list);
/** Returns an item, which is owned by the list and must not be freed. Null if there is no such item. */
const kubecxx_object* kubecxx_list_item(const kubecxx_list* list, size_t index);
void kubecxx_list_free(kubecxx_list* list);

/* --- Client -------------------------------------------------------------------------------------------------------- */

/** A client of one API server. */
typedef struct kubecxx_client kubecxx_client;

/** Options of kubecxx_client_new(). */
typedef struct kubecxx_client_options {
  size_t size;
  kubecxx_runtime* runtime; /**< may be shared with other clients; default: a new one */
  const kubecxx_log* log;   /**< also used by its informers */
} kubecxx_client_options;

/** Makes a client. Sends nothing yet. */
int kubecxx_client_new(const kubecxx_config* config, const kubecxx_client_options* options,
                       kubecxx_client** client);
/** Frees a client. Its informers continue. */
void kubecxx_client_free(kubecxx_client* client);

/** The objects of one kind: group "apps", version "v1", resource "deployments", namespace "shop". */
typedef struct kubecxx_resource {
  size_t size;
  kubecxx_string group; /**< empty for the core group */
  kubecxx_string version;
  kubecxx_string resource;   /**< the plural, as in URLs */
  kubecxx_string namespace_; /**< empty for kinds without namespaces; informers: all namespaces */
} kubecxx_resource;

/* The functions below send a request and wait for the response; handlers may call them. With a runtime without
 * threads they run the loop meanwhile, and handlers with it, unless another thread does; handlers must not call
 * them then. Objects are JSON text in both directions. Outputs may be null if the response is not needed. */

/** Options of kubecxx_client_get(). */
typedef struct kubecxx_get_options {
  size_t size;
  kubecxx_string subresource; /**< "status", "scale" */
  kubecxx_string
      resource_version;   /**< "0": any state in the cache of the server; default: the newest */
  int64_t timeout_ms;     /**< 0: as in the configuration */
  kubecxx_cancel* cancel; /**< ends the call from another thread; may be null */
} kubecxx_get_options;
/** Reads an object. Waits. */
int kubecxx_client_get(kubecxx_client* client, const kubecxx_resource* resource,
                       kubecxx_string name, const kubecxx_get_options* options,
                       kubecxx_object** object);

/** Options of the functions that create, update, apply and patch. */
typedef struct kubecxx_write_options {
  size_t size;
  kubecxx_string subresource;      /**< "status", or for create "eviction", "binding" */
  kubecxx_string field_manager;    /**< owner of the fields; default: derived from the user agent */
  kubecxx_string field_validation; /**< "Ignore", "Warn" or "Strict" */
  int32_t dry_run;                 /**< 1: validate, but store nothing */
  int32_t force;                   /**< apply only. 1: take over fields managed by others */
  int64_t timeout_ms;              /**< 0: as in the configuration */
  kubecxx_cancel* cancel;          /**< ends the call from another thread; may be null */
} kubecxx_write_options;
/** Creates an object. Waits. */
int kubecxx_client_create(kubecxx_client* client, const kubecxx_resource* resource,
                          kubecxx_string json, const kubecxx_write_options* options,
                          kubecxx_object** stored);
/** Replaces the object with that metadata.name, if its resourceVersion is still the newest or is not set. Waits. */
int kubecxx_client_update(kubecxx_client* client, const kubecxx_resource* resource,
                          kubecxx_string json, const kubecxx_write_options* options,
                          kubecxx_object** stored);
/** Server-side apply; options->field_manager is required. Fields that are no longer set are released. Waits. */
int kubecxx_client_apply(kubecxx_client* client, const kubecxx_resource* resource,
                         kubecxx_string json, const kubecxx_write_options* options,
                         kubecxx_object** stored);

/** Types of patches. */
enum {
  KUBECXX_PATCH_JSON = 0,           /**< RFC 6902: a list of operations */
  KUBECXX_PATCH_MERGE = 1,          /**< RFC 7386: members replace members, null removes */
  KUBECXX_PATCH_STRATEGIC_MERGE = 2 /**< merges lists by key; built-in kinds only */
};
/** Patches an object; `body` is sent unchanged. Waits. */
int kubecxx_client_patch(kubecxx_client* client, const kubecxx_resource* resource,
                         kubecxx_string name, int type, kubecxx_string body,
                         const kubecxx_write_options* options, kubecxx_object** stored);

/** Options of kubecxx_client_delete(). */
typedef struct kubecxx_delete_options {
  size_t size;
  kubecxx_string uid;                /**< precondition: delete only this object */
  kubecxx_string resource_version;   /**< precondition: delete only this state of it */
  kubecxx_string propagation_policy; /**< "Orphan", "Background" or "Foreground" */
  int32_t has_grace_period;          /**< 1: grace_period_seconds is sent */
  int32_t dry_run;                   /**< 1: validate, but delete nothing */
  int64_t grace_period_seconds;      /**< time for the object to terminate; 0: none */
  int64_t timeout_ms;                /**< 0: as in the configuration */
  kubecxx_cancel* cancel;            /**< ends the call from another thread; may be null */
} kubecxx_delete_options;
/** Requests the deletion; the object may remain until its finalizers are done. Waits. */
int kubecxx_client_delete(kubecxx_client* client, const kubecxx_resource* resource,
                          kubecxx_string name, const kubecxx_delete_options* options);

/* --- Informers ----------------------------------------------------------------------------------------------------- */

/** Keeps a cache of the objects of one resource, and calls handlers when they change. */
typedef struct kubecxx_informer kubecxx_informer;

/** Options of kubecxx_informer_new(). */
typedef struct kubecxx_informer_options {
  size_t size;
  kubecxx_string label_selector; /**< "app=web,tier!=cache" */
  kubecxx_string field_selector; /**< "spec.nodeName=node-7" */
  int64_t resync_ms; /**< how often handlers receive all objects again, from the cache; 0: never */
  /** Fields to drop from cached objects, as paths in JSON: "metadata.managedFields". */
  const kubecxx_string* leave_out;
  size_t leave_out_count; /**< number of elements of leave_out */
} kubecxx_informer_options;

/** Makes an informer, which does nothing before kubecxx_informer_start(). It keeps its client alive. */
int kubecxx_informer_new(kubecxx_client* client, const kubecxx_resource* resource,
                         const kubecxx_informer_options* options, kubecxx_informer** informer);
/** Starts to list and watch. Can be called once; handlers may be added before and after. */
int kubecxx_informer_start(kubecxx_informer* informer);
/** Returns 1 once the first list is in the cache, else 0. */
int kubecxx_informer_has_synced(const kubecxx_informer* informer);
/** Returns when the first list is in the cache, or KUBECXX_ERROR_TIMEOUT after `timeout_ms` (negative: never) with
 * the last error of list or watch in the message. `cancel` may be null. Waits; with a runtime without threads it
 * runs the loop, and handlers with it. */
int kubecxx_informer_wait_for_sync(kubecxx_informer* informer, int64_t timeout_ms,
                                   kubecxx_cancel* cancel);
/** Returns why nothing new arrives: the last error of list or watch; empty if there is none. */
int kubecxx_informer_last_error(const kubecxx_informer* informer, kubecxx_text** message);
/** Returns the cached object with the key "namespace/name", or "name" if its kind has no namespaces.
 * KUBECXX_ERROR_NOT_FOUND if there is none. Never sends a request. */
int kubecxx_informer_get(const kubecxx_informer* informer, kubecxx_string key,
                         kubecxx_object** object);
/** Returns the cached objects of a namespace (empty: of all) that match the label selector (empty: any). */
int kubecxx_informer_list(const kubecxx_informer* informer, kubecxx_string namespace_,
                          kubecxx_string label_selector, kubecxx_list** list);
/** Stops the informer. Its handlers are not called any more, and their user data is released. */
void kubecxx_informer_free(kubecxx_informer* informer);

/** A handler that was added to an informer. */
typedef struct kubecxx_handler kubecxx_handler;

/** Calls of the functions never overlap. They are made on any thread of the runtime (kube-work-N) or, if the runtime
 * has no threads, on the thread that is inside run_ready() or a call that waits. The functions may block and may
 * call every function; with a runtime without threads, those that wait return KUBECXX_ERROR_MISUSE. When a function
 * is called, the cache is at least as new as its arguments. Objects are lent until the callback returns; see
 * kubecxx_object_clone(). Each function may be null. */
typedef struct kubecxx_handler_options {
  size_t size;
  /** `in_initial_list` is 1 for objects that existed when the informer or the handler started. */
  void (*on_add)(void* user_data, const kubecxx_object* object, int in_initial_list);
  /** Several changes may be merged into one, even those of two objects of the same name. */
  void (*on_update)(void* user_data, const kubecxx_object* before, const kubecxx_object* now);
  /** `last` is the last state seen, or null if there was none. `final_state_known` is 0 if the deletion itself was
   * missed, so that `last` may be out of date. */
  void (*on_delete)(void* user_data, kubecxx_string key, const kubecxx_object* last,
                    int final_state_known);
  void* user_data;                  /**< passed to each function */
  void (*release)(void* user_data); /**< called once, after the last callback; may be null */
  kubecxx_string name;              /**< for logs */
  int64_t resync_ms;                /**< 0: as the informer; negative: never */
} kubecxx_handler_options;

/** Adds a handler. `handler` may be null: the handler then lives as long as the informer. */
int kubecxx_informer_add_handler(kubecxx_informer* informer, const kubecxx_handler_options* options,
                                 kubecxx_handler** handler);
/** Returns 1 once the handler was called for every object of the first list, else 0. */
int kubecxx_handler_has_synced(const kubecxx_handler* handler);
/** Waits until kubecxx_handler_has_synced(); otherwise as kubecxx_informer_wait_for_sync(). The handler itself must
 * not call it. */
int kubecxx_handler_wait_for_sync(kubecxx_handler* handler, int64_t timeout_ms,
                                  kubecxx_cancel* cancel);
/** Removes the handler from its informer; waiting notifications are dropped. */
void kubecxx_handler_free(kubecxx_handler* handler);

/* --- Leader election ----------------------------------------------------------------------------------------------- */

/** A candidate in a leader election among several processes, by means of a Lease. */
typedef struct kubecxx_election kubecxx_election;

/** The functions are called on threads of the election, independent of any runtime. Each may be null. They may call
 * every function except kubecxx_election_wait() of the same election. */
typedef struct kubecxx_election_options {
  size_t size;
  kubecxx_string namespace_; /**< namespace of the Lease; required */
  kubecxx_string name;       /**< name of the Lease; required */
  kubecxx_string identity; /**< identity of this candidate; default: host name and a random part */
  int64_t lease_duration_ms; /**< how long others wait for a renewal; default 15000 */
  int64_t
      renew_deadline_ms; /**< how long the leader tries to renew before it gives up; default 10000 */
  int64_t retry_period_ms; /**< time between two tries; default 2000 */
  int32_t release_on_stop; /**< 1: release the Lease at the end, so that others need not wait */
  /** Called when this process leads, on a thread of its own. May return immediately, or do the leader's work until
   * kubecxx_election_must_stop() sets 1; the election does not end before it has returned. */
  void (*on_started_leading)(void* user_data, kubecxx_election* election);
  /** Called when the election has ended, whether this process led or not. */
  void (*on_stopped_leading)(void* user_data, kubecxx_election* election);
  /** Called when the observed holder of the Lease changes, including to this process; empty if there is none. */
  void (*on_new_leader)(void* user_data, kubecxx_election* election, kubecxx_string identity);
  void* user_data;                  /**< passed to each function */
  void (*release)(void* user_data); /**< called once, after the last callback; may be null */
  const kubecxx_log* log;           /**< default: warnings and errors to standard error */
} kubecxx_election_options;

/** Makes a candidate, which does nothing before kubecxx_election_start(). It has connections of its own. */
int kubecxx_election_new(const kubecxx_config* config, const kubecxx_election_options* options,
                         kubecxx_election** election);
/** Starts to wait for the leadership. Can be called once: a process that has lost the Lease makes a new election or,
 * better, exits. */
int kubecxx_election_start(kubecxx_election* election);
/** Returns 1 while this process holds the Lease, else 0. Returns 0 once the lease duration has passed since the last
 * renewal. */
int kubecxx_election_is_leader(const kubecxx_election* election);
/** Returns the last observed holder of the Lease. */
int kubecxx_election_leader(const kubecxx_election* election, kubecxx_text** identity);
/** For the leader's work: waits until it has to end, because the Lease is lost or kubecxx_election_stop() was
 * called, and sets `must_stop` to 1. After `wait_ms` (0: immediately, negative: no limit) sets it to 0. Waits
 * unless `wait_ms` is 0. */
int kubecxx_election_must_stop(kubecxx_election* election, int64_t wait_ms, int* must_stop);
/** Requests the end of the election. Does not wait. */
int kubecxx_election_stop(kubecxx_election* election);
/** Returns when the election has ended: after kubecxx_election_stop(), or because the Lease was lost.
 * KUBECXX_ERROR_TIMEOUT after `timeout_ms` (negative: never). `cancel` may be null. Waits. */
int kubecxx_election_wait(kubecxx_election* election, int64_t timeout_ms, kubecxx_cancel* cancel);
/** Stops the election. */
void kubecxx_election_free(kubecxx_election* election);

#ifdef __cplusplus
}
#endif

#endif /**< KUBECXX_H */
