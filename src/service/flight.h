/* service/flight.h - the flight recorder: a mapped file that says, after a crash, which type's callback brought the
 * service down; and the quarantine of types that do so repeatedly.
 *
 * A death counts against a type only when a fatal signal (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) came on a thread
 * that was inside one of its callbacks. Handlers mark that thread's line and let the signal take its course, core dump
 * included. A service that is killed from outside (SIGKILL, no memory, no power) was probably inside some callback,
 * too; that counts against no type, but the log names the callbacks under way.
 *
 * A change with a key (service/api_once.h) in which a run ended is poisoned: the file holds the key of the one that is
 * being carried out, and service/poison.h has it answered with what it did. No other change of its frame is, nor is one
 * during whose frame an agent's callback dies.
 *
 * Types that have crashed the service crash_limit times are put into quarantine when their world is opened; a
 * reinstated type begins a new count. Quarantine does not keep on_spawned and on_removed from being called: a type that
 * dies in these has to be taken out of its module. */
#ifndef SERVICE_FLIGHT_H
#define SERVICE_FLIGHT_H

#include "service/flight_file.h"
#include "service/http.h"

#include <muster/muster.h>

struct flight {
  char path[PATH_BYTES];
  int descriptor;       /* locked; -1 = there is no recorder */
  flight_head *head;    /* mapped; its counts and poisons are guarded by the mutex */
  uint32_t crash_limit; /* the limit that worlds are opened with */
  uint32_t part_count;
  void *parts[WORLDS_MAX]; /* mapped */
  flight_report last;      /* does not change once it is open */
  uv_mutex_t mutex;
};

/* Whether every name that a recorder at `path` writes or renames is free or a regular file's; "" is allowed.
 * MUSTER_E_INPUT with the name and the kind of file there. Any thread. */
muster_result flight_check_path(const char *path);

/* Reads what the last run left at `path` and says in the log how it ended, then begins a new file in its place. An
 * empty path: no recorder; and none, with a line in the log, where the file cannot be written or mapped: no world is
 * kept from running for that. A damaged file is renamed to PATH.damaged. MUSTER_E_STATE when another service has the
 * file, MUSTER_E_INPUT when it is no file. One at a time in a process. Before any thread is started. */
muster_result flight_open(struct flight *flight, const char *path, uint32_t crash_limit);

/* The service and its process end in good order: notes that in the file, and frees nothing. Any thread. */
void flight_end(struct flight *flight);

/* The service ends in good order, after every world was destroyed. Without a recorder nothing is written. */
void flight_close(struct flight *flight);

/* Lends a world its part of the file; before its types are registered. A world for which there is no room runs without,
 * and the log says so. Frames' thread. */
void flight_attach(struct flight *flight, muster_world *world, const char *name, const char *module);

/* Puts the agents of a world into quarantine in whose callbacks the last run died: the world has gone on from what it
 * was then. `command` reinstates what is written behind it. Frames' thread. */
void flight_set_aside(struct flight *flight, muster_world *world, const char *name, const char *command);

/* Puts types of a world into quarantine that have crashed the service too often; after they are registered. Frames'
 * thread. */
void flight_judge(struct flight *flight, muster_world *world, const char *name);

/* A type was reinstated: its count begins again at 0. Any thread. */
void flight_reinstate(struct flight *flight, const char *world, const char *type);

/* Copies the counts; returns how many there are, at most `capacity`. Any thread. */
uint32_t flight_read_counts(struct flight *flight, flight_count *counts, uint32_t capacity);

/* Called when a thread that runs callbacks begins and when it ends: it takes fatal signals, and has a separate stack
 * for the handler, so that a callback that overflowed its stack can be named, too. On that thread. */
void flight_thread_begin(void);
void flight_thread_end(void);

/* Called around a module function that the frames' thread calls: a crash meanwhile is reported as that function's, and
 * counts against no type. Uses the open recorder; a no-op without one. Frames' thread. */
void flight_call_begin(const char *world, const char *module, flight_function function);
void flight_call_end(void);

/* Called around the work of a change with a key. One that ends well is no poison any more. Uses the open recorder; a
 * no-op without one. Frames' thread. */
void flight_request_begin(const char *world, const char *key, const unsigned char digest[KEYS_DIGEST_BYTES]);
void flight_request_end(void);

/* Copies the requests that were under way when a run ended; returns how many there are. Any thread. */
uint32_t flight_read_poisons(struct flight *flight, flight_poison poisons[FLIGHT_POISONS_MAX]);

/* GET /v1/crash, of a server whose user is the service. */
extern const http_route flight_routes[];

#endif
