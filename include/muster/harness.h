/* muster/harness.h - unit tests of atoms: a world of virtual time that a test runs step by step. All of it stands in
 * this header, and calls the public functions of the other ones. Not part of muster/muster.h.
 *
 *     muster_harness test;
 *     if (!muster_harness_begin(&test, NULL)) ...                 // muster_last_error() says why
 *     ... register types in test.world, and spawn an agent there, as the server does
 *     muster_harness_update(&test, sheep, 250000000);             // it runs once, 250 ms after it ran last
 *     const struct sheep *own = (const struct sheep *)muster_harness_state(&test, sheep);
 *     ... look at `own`, at muster_harness_position(), at muster_harness_refusal() and muster_harness_problem()
 *     muster_harness_end(&test);
 *
 * Nothing here depends on the machine: costs come from the types' cost models, every frame has room for all that is
 * due, and the same calls give the same world. Without a pool all atoms run on the thread that calls, so a debugger
 * stops in them, and a test's own variables can be looked at afterwards.
 *
 * All functions belong to the thread of the frames, between frames (muster/muster.h); none may be called in an atom. An
 * argument that is null is refused as everywhere (muster/common.h). */
#ifndef MUSTER_HARNESS_H
#define MUSTER_HARNESS_H

#include <muster/module.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_HARNESS_BYTES 512

/* A test's world. It must stay where it is from begin to end, and its size is that of this header. */
typedef struct muster_harness {
  muster_world *world; /* for all other calls */
  uint64_t now_ns;     /* simulation time of the last frame; 0 at first */
  uint64_t frames;     /* how many frames were run */
  uint64_t frame_ns;   /* how far the frames of muster_harness_run() are apart: 33,333,333 at first; may be changed */
  uint64_t budget_ns;  /* of each frame: 1 s at first. A test of what a crowd gets under load makes it smaller */
  uint32_t warnings;   /* lines that Muster logged as warnings or errors, unless the definition has a log of its own */
  char warning[MUSTER_HARNESS_BYTES]; /* the last of them */
  char refusal[MUSTER_HARNESS_BYTES]; /* what muster_harness_refusal() tells */
} muster_harness;

/* Copies a sentence, as far as there is room. */
static inline void muster_harness_keep(char *room, const char *sentence) {
  uint32_t length = 0;
  for (; sentence[length] && length + 1 < MUSTER_HARNESS_BYTES; length++) room[length] = sentence[length];
  room[length] = 0;
}

/* The log of the world: information is dropped. */
static inline void muster_harness_log(muster_log_level level, const char *message, void *user) {
  muster_harness *harness = (muster_harness *)user;
  if (level == MUSTER_LOG_INFO) return;
  harness->warnings++;
  muster_harness_keep(harness->warning, message);
}

/* Creates the test's world, of a definition or with null of the defaults: under the virtual clock in any case, and
 * without a watchdog, so that a breakpoint is no stuck atom. False with a message as muster_world_create(). */
static inline bool muster_harness_begin(muster_harness *harness, const muster_world_def *def) {
  muster_world_def own;
  if (!harness) {
    muster_module_fail(MUSTER_E_ARGUMENT, "muster_harness_begin: the harness must be given");
    return false;
  }
  muster_world_def_init(&own, sizeof own);
  if (def) own = *def;
  own.clock.kind = MUSTER_CLOCK_VIRTUAL;
  own.watch.stuck_ns = 0;
  if (!own.log.write) {
    own.log.write = muster_harness_log;
    own.log.user = harness;
  }
  harness->now_ns = harness->frames = 0;
  harness->frame_ns = 33333333;
  harness->budget_ns = 1000000000;
  harness->warnings = 0;
  harness->warning[0] = harness->refusal[0] = 0;
  harness->world = muster_world_create(&own);
  return harness->world != NULL;
}

/* Destroys the world; on_removed is called for each agent. A second call does nothing. */
static inline void muster_harness_end(muster_harness *harness) {
  if (!harness) return;
  muster_world_destroy(harness->world);
  harness->world = NULL;
}

/* Runs one frame at a time that is not before the last one's. Clears muster_last_error() first. The result is that of
 * muster_frame_run(). */
static inline muster_result muster_harness_frame(muster_harness *harness, uint64_t now_ns) {
  muster_frame frame;
  muster_result result;
  if (!harness) return muster_module_fail(MUSTER_E_ARGUMENT, "muster_harness_frame: the harness must be given");
  frame.sim_now_ns = now_ns;
  frame.budget_ns = harness->budget_ns;
  muster_module_fail(MUSTER_OK, "%s", "");
  result = muster_frame_run(harness->world, &frame);
  if (result != MUSTER_OK) return result;
  harness->now_ns = now_ns;
  harness->frames++;
  if (muster_last_result() != MUSTER_OK) muster_harness_keep(harness->refusal, muster_last_error());
  return MUSTER_OK;
}

/* Runs frames for so much simulation time, frame_ns apart, the last one at its end: agents run when their periods say.
 * The first run begins with a frame at time 0, in which agents that were spawned come into being. */
static inline muster_result muster_harness_run(muster_harness *harness, uint64_t for_ns) {
  uint64_t end_ns, next_ns;
  muster_result result = MUSTER_OK;
  if (!harness) return muster_module_fail(MUSTER_E_ARGUMENT, "muster_harness_run: the harness must be given");
  if (!harness->frame_ns) return muster_module_fail(MUSTER_E_ARGUMENT, "muster_harness_run: frame_ns must not be 0");
  harness->refusal[0] = 0;
  end_ns = harness->now_ns + for_ns;
  if (!harness->frames) result = muster_harness_frame(harness, harness->now_ns);
  while (result == MUSTER_OK && harness->now_ns < end_ns) {
    next_ns = harness->now_ns + harness->frame_ns;
    result = muster_harness_frame(harness, next_ns < end_ns ? next_ns : end_ns);
  }
  return result;
}

/* Lets so much simulation time pass at once, and runs this agent then: one update, whatever its period. Its elapsed_ns
 * is the time since it ran last, so `elapsed_ns` where that was in the frame before. Others run with it that are due.
 * MUSTER_E_ARGUMENT for 0, since no update is told that no time has passed; MUSTER_E_STALE when the agent is gone
 * before; MUSTER_E_STATE, with the reasons, when it did not complete an update: it is quarantined, its type's
 * wake_gap_ns is not over, or an atom gave way (MUSTER_ATOM_MORE). */
static inline muster_result muster_harness_update(muster_harness *harness, muster_agent agent, uint64_t elapsed_ns) {
  muster_agent_info info;
  muster_result result;
  if (!harness) return muster_module_fail(MUSTER_E_ARGUMENT, "muster_harness_update: the harness must be given");
  if (!elapsed_ns)
    return muster_module_fail(MUSTER_E_ARGUMENT, "muster_harness_update: elapsed_ns must not be 0: no update is told "
                                                 "that no time has passed");
  harness->refusal[0] = 0;
  muster_agent_info_init(&info, sizeof info);
  result = muster_agent_read(harness->world, agent, &info);
  if (result == MUSTER_OK && !info.active) result = muster_harness_frame(harness, harness->now_ns); /* its intake */
  if (result == MUSTER_OK) result = muster_agent_wake(harness->world, agent);
  if (result == MUSTER_OK) result = muster_harness_frame(harness, harness->now_ns + elapsed_ns);
  if (result == MUSTER_OK) result = muster_agent_read(harness->world, agent, &info);
  if (result != MUSTER_OK || info.last_update_ns == harness->now_ns) return result;
  return muster_module_fail(MUSTER_E_STATE,
                            "muster_harness_update: the agent completed no update: it is %s, its type's wake_gap_ns is "
                            "not over, or an atom gave way",
                            info.quarantined ? "in quarantine" : "not due");
}

/* The agent's state, to read and write; null when the agent is gone or its type has none. Valid until the next frame.
 */
static inline void *muster_harness_state(const muster_harness *harness, muster_agent agent) {
  muster_agent_info info;
  muster_agent_info_init(&info, sizeof info);
  return harness && muster_agent_read(harness->world, agent, &info) == MUSTER_OK ? info.state : NULL;
}

/* What others see of it, as of the last commit; null when the agent is gone or publishes nothing. Valid as above. */
static inline const void *muster_harness_published(const muster_harness *harness, muster_agent agent) {
  muster_agent_info info;
  muster_agent_info_init(&info, sizeof info);
  return harness && muster_agent_read(harness->world, agent, &info) == MUSTER_OK ? info.published : NULL;
}

/* Where it is, as of the last commit; the origin when it is gone. */
static inline muster_position muster_harness_position(const muster_harness *harness, muster_agent agent) {
  muster_agent_info info;
  muster_agent_info_init(&info, sizeof info);
  if (harness) muster_agent_read(harness->world, agent, &info);
  return info.position;
}

/* The sentence of the last call that Muster refused during the last muster_harness_run() or _update(); null when there
 * was none. With a pool, only of the calls on this thread. To be refused may be right: two wolves bite one sheep. */
static inline const char *muster_harness_refusal(const muster_harness *harness) {
  return harness && harness->refusal[0] ? harness->refusal : NULL;
}

/* What atoms did since the beginning that is a mistake in any server, or what Muster warned of; null when there is
 * nothing. The end of each test asks for it. */
static inline const char *muster_harness_problem(const muster_harness *harness) {
  muster_statistics sums;
  muster_statistics_init(&sums, sizeof sums);
  if (!harness || muster_statistics_read(harness->world, &sums) != MUSTER_OK) return muster_last_error();
  if (sums.positions_refused) return "an agent was moved to a place that is not finite or beyond 1e9 m";
  if (sums.spawns_refused) return "an update spawned more than spawns_max of its type, or ids were short";
  if (sums.messages_refused) return "an update sent more than messages.sends_max of its type";
  if (sums.messages_dropped) return "a message found a box that was full or missing";
  if (sums.results_refused) return "an atom returned what is no muster_atom_result, or is not allowed there";
  if (sums.importances_refused) return "a model of importance gave what is not 0..1";
  if (sums.commands_dropped) return "an update gave more commands than fit";
  return harness->warnings ? harness->warning : NULL;
}

/* Runs two worlds side by side, frame by frame, and compares them. MUSTER_E_STATE names when they differ. */
static inline muster_result muster_harness_compare(muster_harness *one, muster_harness *other, uint64_t for_ns) {
  muster_result result = MUSTER_OK;
  while (result == MUSTER_OK && one->now_ns < for_ns) {
    result = muster_harness_run(one, one->frame_ns);
    if (result == MUSTER_OK) result = muster_harness_run(other, one->frame_ns);
    if (result == MUSTER_OK && muster_world_hash(one->world) != muster_world_hash(other->world))
      result = muster_module_fail(MUSTER_E_STATE,
                                  "muster_harness_repeats: the worlds of one worker and of several "
                                  "differ at %.3f s: an atom uses what is not its own",
                                  (double)one->now_ns * 1e-9);
  }
  return result;
}

/* Whether a world comes out alike on one worker and on several: `make` registers types and spawns agents, once in each
 * of two worlds, which then run side by side. MUSTER_E_STATE names the first time at which they differ: an atom read or
 * wrote what is not its own, such as a global, the clock or another agent's memory. MUSTER_E_ARGUMENT for fewer than 2
 * workers; MUSTER_E_INPUT when `make` returned false. What is found is a difference that came about in this run. */
static inline muster_result muster_harness_repeats(bool (*make)(muster_world *world, void *user), void *user,
                                                   uint32_t workers, uint64_t for_ns) {
  muster_harness one, several;
  muster_pool_def pool;
  muster_world_def def;
  muster_result result;
  if (!make || workers < 2)
    return muster_module_fail(MUSTER_E_ARGUMENT, "muster_harness_repeats: give a function, and 2 workers or more");
  one.world = several.world = NULL;
  muster_pool_def_init(&pool, sizeof pool);
  pool.workers = workers;
  muster_world_def_init(&def, sizeof def);
  def.pool = muster_pool_create(&pool);
  if (!def.pool || !muster_harness_begin(&one, NULL) || !muster_harness_begin(&several, &def))
    result = muster_last_result();
  else if (!make(one.world, user) || !make(several.world, user))
    result = muster_module_fail(MUSTER_E_INPUT, "muster_harness_repeats: `make` returned false");
  else
    result = muster_harness_compare(&one, &several, for_ns);
  muster_harness_end(&several);
  muster_harness_end(&one);
  muster_pool_destroy(def.pool);
  return result;
}

#ifdef __cplusplus
}
#endif

#endif
