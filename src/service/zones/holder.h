/* service/zones/holder.h - what the supervisor does for zones: it holds their leases, brings their files, and carries
 * what their processes and the brokers tell each other. It runs no module's code, and alone has connections.
 *
 *     idle --process is to start--> asking --lease--> fetching --files--> starting --positions--> reading --> running
 *                                     ^                                                                          |
 *                                     +--------- the process has ended, or the lease is lost -------------------+
 *
 * While it asks for a zone that is to be moved here, it follows it (holder_follow.c): so the process runs already when
 * the lease comes, and only what is left is read. A zone that is to be moved away is given (holder_moves.c).
 *
 * Each start of a process has a new epoch, also after a crash on the same node. What an earlier owner sent is read with
 * the lease: nothing of it can come behind that.
 *
 * A zone's newest snapshot is stored by the brokers with the record since, at most once in snapshot_interval; nothing
 * of a zone is published before its first one is there. With `journal_stream` each frame's record is kept by them, too,
 * before anything of that frame goes out. Loop's thread. */
#ifndef SERVICE_ZONES_HOLDER_H
#define SERVICE_ZONES_HOLDER_H

#include "service/http.h"
#include "service/supervise/processes.h"

#include <stdio.h>

struct holder;

enum { HOLDER_WORDS_BYTES = 128 };

#ifdef MUSTER_HAS_ZONES

/* Connects to the brokers of the settings, which need not be there yet. Null with the reason in muster_last_error(). */
struct holder *holder_open(uv_loop_t *loop, const struct settings *settings, struct processes *processes);

/* The hooks of struct processes, whose user is the holder. */
bool holder_may_start(world_process *process, void *user);
int holder_give_socket(world_process *process, void *user);

/* The state of a world's process has changed. */
void holder_note_change(struct holder *holder, const world_process *process);

/* Answers GET /v1/zones, once etcd has told who has them, or does not answer. */
void holder_list_zones(struct holder *holder, http_request *request);

/* Answers GET /v1/nodes, of what the nodes tell each other: also when etcd does not answer. */
void holder_list_nodes(struct holder *holder, http_request *request);

/* Answers POST of a move to a node, once etcd has it: 202; 409 when it cannot be, 503 when etcd does not answer. */
void holder_move_zone(struct holder *holder, http_request *request, const world_process *process, const char *node);

/* Answers POST /v1/drain: from now on this node tells that it is to be emptied, or not. */
void holder_drain(struct holder *holder, http_request *request, bool drain);

/* Writes the families of metrics about nodes and moves; a null holder has none. */
void holder_write_metrics(const struct holder *holder, FILE *out);

/* The next sentence about a node whose wall clock is off, from *next = 0 on; false = there is no other. */
bool holder_tells_of_clock(const struct holder *holder, uint32_t *next, char words[HOLDER_WORDS_BYTES]);

/* The same about a zone of this node that has used more than half of its birth spaces. */
bool holder_tells_of_births(const struct holder *holder, uint32_t *next, char words[HOLDER_WORDS_BYTES]);

/* Answers GET /v1/zones/map: where the agents of all zones stand, and who has these, as their owners told last. */
void holder_show_atlas(struct holder *holder, http_request *request);

/* Whether a zone stands by until a person says that it goes on from this node's files. */
bool holder_is_restorable(const struct holder *holder, const world_process *process);

/* Whether zones that have ended are still being stored. */
bool holder_is_busy(const struct holder *holder);

/* `idle` is called whenever the last of them is stored. */
void holder_on_idle(struct holder *holder, void (*idle)(void *user), void *user);

/* Ends the connections, and calls back; once. Its other handles are closed with the loop's. */
void holder_close(struct holder *holder, void (*closed)(void *user), void *user);

/* Once the loop has ended. */
void holder_free(struct holder *holder);

#else /* built without libnats */

#include "base/error.h"

static inline struct holder *holder_open(uv_loop_t *loop, const struct settings *settings,
                                         struct processes *processes) {
  (void)loop, (void)settings, (void)processes;
  error_set(MUSTER_E_STATE, "this musterd was built without zones: install libnats-dev, configure and build again");
  return NULL;
}
static inline bool holder_may_start(world_process *process, void *user) {
  return process && !user;
}
static inline int holder_give_socket(world_process *process, void *user) {
  return process && user ? -1 : -1;
}
static inline void holder_note_change(struct holder *holder, const world_process *process) {
  (void)holder, (void)process;
}
static inline void holder_list_zones(struct holder *holder, http_request *request) {
  (void)holder, (void)request;
}
static inline void holder_list_nodes(struct holder *holder, http_request *request) {
  (void)holder, (void)request;
}
static inline void holder_move_zone(struct holder *holder, http_request *request, const world_process *process,
                                    const char *node) {
  (void)holder, (void)request, (void)process, (void)node;
}
static inline void holder_drain(struct holder *holder, http_request *request, bool drain) {
  (void)holder, (void)request, (void)drain;
}
static inline void holder_write_metrics(const struct holder *holder, FILE *out) {
  (void)holder, (void)out;
}
static inline bool holder_tells_of_clock(const struct holder *holder, uint32_t *next, char words[HOLDER_WORDS_BYTES]) {
  return holder && next && words && false;
}
static inline bool holder_tells_of_births(const struct holder *holder, uint32_t *next, char words[HOLDER_WORDS_BYTES]) {
  return holder && next && words && false;
}
static inline void holder_show_atlas(struct holder *holder, http_request *request) {
  (void)holder, (void)request;
}
static inline bool holder_is_restorable(const struct holder *holder, const world_process *process) {
  return holder && process && false;
}
static inline bool holder_is_busy(const struct holder *holder) {
  return holder != NULL;
}
static inline void holder_on_idle(struct holder *holder, void (*idle)(void *user), void *user) {
  (void)holder, (void)idle, (void)user;
}
static inline void holder_close(struct holder *holder, void (*closed)(void *user), void *user) {
  (void)holder;
  closed(user);
}
static inline void holder_free(struct holder *holder) {
  (void)holder;
}

#endif

#endif
