/* The watchdog over heartbeats that the test writes: a worker that moves on is never stuck, whatever the claim is. The
 * test ends when the watchdog has noticed the one that does stand still. */
#include "run/watchdog.h"
#include "support/arenas.h"
#include "support/await.h"

#include <unistd.h>

enum { HEARTBEATS = 4, STILL = 0, NEXT_AGENT, NEXT_ATOM, OUTSIDE, HANG_SECONDS = 100 };

#define STUCK_NS 300000000u
#define QUICK_NS 10000000u

struct kennel {
  struct arena arena;
  watch_heartbeat *heartbeats;
  agent_type types[HEARTBEATS];
  type_table table;
  muster_log_sink sink;
  shared_u32 still_lines, other_lines, back_lines;
  struct watchdog *watchdog;
};

static void hear(muster_log_level level, const char *message, void *user) {
  struct kennel *kennel = user;
  (void)level;
  if (!strstr(message, "'still'"))
    fetch_add_relaxed_u32(&kennel->other_lines, 1);
  else
    fetch_add_relaxed_u32(strstr(message, "came back") ? &kennel->back_lines : &kennel->still_lines, 1);
}

static struct kennel *build_kennel(uint32_t heartbeats, uint64_t stuck_ns) {
  static const char *const names[HEARTBEATS] = {"still", "next agent", "next atom", "outside"};
  static struct kennel kennel;
  alarm(HANG_SECONDS);
  kennel.arena = begin_arena();
  kennel.heartbeats = arena_reserve(&kennel.arena, heartbeats, sizeof *kennel.heartbeats);
  for (uint32_t i = 0; i < HEARTBEATS; i++) strncpy(kennel.types[i].name, names[i], sizeof kennel.types[i].name - 1);
  kennel.table = (type_table){.maximum = HEARTBEATS, .count = HEARTBEATS, .types = kennel.types};
  kennel.sink = (muster_log_sink){hear, &kennel};
  kennel.watchdog =
      watchdog_create(kennel.heartbeats, heartbeats, stuck_ns, &kennel.table, &kennel.sink, &kennel.arena);
  cr_assert_not_null(kennel.watchdog);
  return &kennel;
}

static struct kennel *open_kennel(void) {
  struct kennel *kennel = build_kennel(HEARTBEATS, STUCK_NS);
  for (uint32_t i = 0; i < HEARTBEATS; i++) {
    watch_begin(&kennel->heartbeats[i]);
    watch_type(&kennel->heartbeats[i], i);
    if (i != OUTSIDE) watch_enter(&kennel->heartbeats[i]);
    watch_agent(&kennel->heartbeats[i], muster_agent_make(10 + i, 3));
  }
  cr_assert(watchdog_start(kennel->watchdog));
  return kennel;
}

Test(watchdog, only_who_stands_still_inside_a_claim_is_stuck) {
  struct kennel *kennel = open_kennel();
  watch_incident incident;
  for (uint32_t i = 0; load_relaxed_u32(&kennel->still_lines) == 0; i++) {
    watch_agent(&kennel->heartbeats[NEXT_AGENT], muster_agent_make(i % 7, 3));
    watch_enter(&kennel->heartbeats[NEXT_ATOM]);
    sched_yield();
  }
  AWAIT(watchdog_take(kennel->watchdog, &incident));
  cr_assert_eq(incident.agent, 10);
  cr_assert_eq(incident.generation, 3);
  cr_assert_eq(incident.type, STILL);
  watch_leave(&kennel->heartbeats[NEXT_AGENT]);
  watch_leave(&kennel->heartbeats[NEXT_ATOM]);
  watch_leave(&kennel->heartbeats[STILL]);
  AWAIT(load_relaxed_u32(&kennel->back_lines) != 0);
  watchdog_stop(kennel->watchdog);
  cr_assert_not(watchdog_take(kennel->watchdog, &incident), "one incident");
  cr_assert_eq(load_relaxed_u32(&kennel->still_lines), 1);
  cr_assert_eq(load_relaxed_u32(&kennel->other_lines), 0);
  arena_destroy(&kennel->arena);
}

Test(watchdog, one_that_was_never_started_is_stopped) {
  SCOPED(arena_destroy) struct arena arena = begin_arena();
  type_table table = {0};
  muster_log_sink sink = {0};
  watch_heartbeat *heartbeats = arena_reserve(&arena, 1, sizeof *heartbeats);
  struct watchdog *watchdog = watchdog_create(heartbeats, 1, STUCK_NS, &table, &sink, &arena);
  cr_assert_not_null(watchdog);
  watchdog_stop(watchdog);
  watchdog_stop(NULL);
}

/* It sleeps while no frames are run, and the next frame finds it awake. */
Test(watchdog, dozes_between_frames_and_wakes_for_one) {
  struct kennel *kennel = build_kennel(1, QUICK_NS);
  watch_incident incident;
  cr_assert(watchdog_start(kennel->watchdog));
  for (uint32_t round = 1; round <= 3; round++) {
    AWAIT(watchdog_dozes(kennel->watchdog) >= round);
    watchdog_frame_begins(kennel->watchdog);
    watch_begin(&kennel->heartbeats[0]);
    watch_enter(&kennel->heartbeats[0]);
    AWAIT(watchdog_take(kennel->watchdog, &incident));
    watch_leave(&kennel->heartbeats[0]);
    watchdog_frame_ends(kennel->watchdog);
  }
  watchdog_stop(kennel->watchdog);
  arena_destroy(&kennel->arena);
}

/* As long as a frame runs, it does not doze, however long that takes before a worker begins. */
Test(watchdog, stays_awake_while_a_frame_runs) {
  struct kennel *kennel = build_kennel(1, QUICK_NS);
  watch_incident incident;
  watchdog_frame_begins(kennel->watchdog);
  cr_assert(watchdog_start(kennel->watchdog));
  watch_begin(&kennel->heartbeats[0]);
  for (uint32_t incidents = 0; incidents < 8; incidents++) { /* each takes it four looks */
    watch_enter(&kennel->heartbeats[0]);
    AWAIT(watchdog_take(kennel->watchdog, &incident) && incident.noticed);
  }
  cr_assert_eq(watchdog_dozes(kennel->watchdog), 0);
  watch_leave(&kennel->heartbeats[0]);
  watchdog_stop(kennel->watchdog);
  arena_destroy(&kennel->arena);
}
