/* exec/runner.h - stage 7: workers take claims from the batch and run updates atom by atom, until the deadline.
 *
 * A worker reads the clock between claims, and between the atoms of a long update. It starts nothing that it does not
 * expect to finish before `stop_ns`, but the very first claim, so that no update is too long ever to run. Results stand
 * beside the entries; what an update wants of others (remove, wake, spawn) goes to the worker's log, tagged with the
 * entry, so that the commit can put everything in one order whatever worker was faster. */
#ifndef EXEC_RUNNER_H
#define EXEC_RUNNER_H

#include "agents/batch.h"
#include "agents/space.h"
#include "agents/types.h"
#include "base/clock.h"
#include "exec/identity.h"
#include "exec/inbox.h"
#include "exec/ticket.h"

enum { SAMPLES_MAX = 1024, RUNNER_LOG_MAX = 8192 };

typedef enum update_phase { PHASE_OUTSIDE = 0, PHASE_PARALLEL, PHASE_ACT, PHASE_INTAKE } update_phase;

typedef struct logged_command {
  uint32_t entry; /* of the batch */
  command command;
} logged_command;

typedef struct cost_sample {
  uint16_t type;
  uint8_t level;
  uint32_t cost_ns;
} cost_sample;

/* What audit measures of one worker in one frame, in thread CPU time. */
typedef struct worker_audit {
  uint64_t cpu_ns;    /* inside claims and between them */
  uint64_t stolen_ns; /* wall time in which the kernel ran somebody else while this worker had work */
  uint64_t longest_claim_ns;
  uint64_t overrun_ns;         /* of claims that crossed the deadline, whole, and of any after it */
  uint64_t end_ns, end_cpu_ns; /* both clocks when the worker left the batch, or the caller went to sleep */
} worker_audit;

struct runner;

/* The public update and what stands behind it. One per worker; also one for the frame's thread outside stage 7. */
typedef struct update_context {
  muster_update public; /* first: an atom's update is its context */
  struct runner *runner;
  struct worker_state *worker;
  const agent_type *type;
  batch_result *result; /* of the entry; of the acting agent in PHASE_ACT */
  uint32_t entry;
  uint32_t spawn_base, spawn_limit;
  uint64_t random_counter; /* begins anew for each phase and part of an update */
  update_phase phase;
} update_context;

typedef struct worker_state {
  _Alignas(64) update_context context;
  uint32_t log_count, sample_count;
  logged_command *log;                           /* RUNNER_LOG_MAX */
  cost_sample *samples;                          /* SAMPLES_MAX */
  uint64_t claim_ns;                             /* wall time inside claims */
  uint64_t loop_ns;                              /* wall time in stage 7 outside claims */
  uint64_t sampled_overhead_ns, sampled_updates; /* time in sampled claims outside atoms */
  uint64_t updates;
  uint64_t positions_refused, spawns_refused, commands_dropped, atoms_over_limit;
  worker_audit audit;
} worker_state;

typedef struct runner {
  muster_world *world;
  agent_store *store;
  const type_table *types;
  space *space;
  identity *agents;
  batch *batch;
  const uint32_t *spawn_ids; /* set aside for this frame */
  clock_source clock;
  uint64_t seed;
  bool virtual, audit;
  uint32_t workers;
  uint32_t state_count;
  worker_state *states; /* one per worker index */
  uint32_t caller;      /* the index of the frame's thread */
  /* set for each frame */
  uint64_t now_ns;
  uint64_t stop_ns, deadline_ns;        /* wall */
  _Alignas(64) shared_u64 early_ticket; /* claims of what was held */
  _Alignas(64) shared_u64 ticket;       /* claims of the rest */
} runner;

/* Reserves the workers' states. The other pointers are set by the world. */
void runner_create(runner *runner, uint32_t workers, uint32_t indices, arena *arena);

/* Clears what the workers counted in the last frame and opens the early claims of the batch. Frame's thread. */
void runner_open_early(runner *runner);

/* Opens the rest of the claims. Frame's thread. */
void runner_open(runner *runner);

/* A crew's work: takes early claims until there are none or time is up. `argument` is the runner. */
void runner_work_early(void *argument, uint32_t worker);

/* A crew's work: takes claims, early ones first, until there are none or time is up. `argument` is the runner. */
void runner_work(void *argument, uint32_t worker);

/* With audit: another worker spent `cpu_ns` on settling until now; what of it lies after the deadline is overrun. */
void runner_audit_settling(runner *runner, uint32_t worker, uint64_t cpu_ns);

/* With audit: the caller is about to sleep until the last worker leaves; `argument` is the runner. */
void runner_before_sleep(void *argument);

static inline worker_state *runner_caller(const runner *runner) {
  return &runner->states[runner->caller];
}

/* Prepares the caller's context for callbacks of agent `index` in a serial phase; returns its update. Frame's thread.
 */
muster_update *runner_begin_serial(runner *runner, uint32_t index, update_phase phase, batch_result *result);

/* Runs the action atoms of an agent, from its first action atom to its last. Frame's thread, at the commit. */
void runner_act(runner *runner, uint32_t index, batch_result *result);

/* The agent's published buffer that nobody reads: what its update writes. Null when its type publishes nothing. */
void *runner_back_buffer(const agent_type *type, const agent_row *row);

#endif
