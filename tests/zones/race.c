#include "race.h"

#include "base/clock.h"
#include "base/random.h"

#include <time.h>

enum { RACES_PER_KILL = 2000, PATIENCE_MS = 120000, GLANCE_MS = 50 };

/* Somewhere in the second half of the next stretch: the first one is quiet for a while. */
static void choose_kill(race_tally *tally) {
  uint64_t stretch = tally->wanted / 2 < RACES_PER_KILL ? tally->wanted / 2 : RACES_PER_KILL;
  tally->next_kill = tally->races + stretch / 2 + muster_random_mix(tally->seed + tally->kills) % stretch;
}

void race_begin(race_tally *tally, uint64_t races) {
  *tally = (race_tally){.wanted = from_environment("MUSTER_RACES", races),
                        .seed = from_environment("MUSTER_RACE_SEED", clock_system())};
  cr_assert_geq(tally->wanted, 2);
  fprintf(stderr, "MUSTER_RACE_SEED=%" PRIu64 "\n", tally->seed);
  choose_kill(tally);
}

bool race_kills_now(race_tally *tally) {
  return tally->races >= tally->next_kill;
}

void race_kill(race_tally *tally, brokers *all, brokers_kind kind, int leader) {
  /* At some moment of the race, from its very begin to behind its end. */
  const struct timespec moment = {.tv_nsec = (long)(muster_random_mix(tally->seed + tally->races) % 600000)};
  nanosleep(&moment, NULL);
  brokers_kill(all, kind, (uint32_t)leader);
  tally->kills++;
  choose_kill(tally);
}

void race_await_another(const brokers *all, brokers_kind kind, const char *stream, int old) {
  const struct timespec pause = {.tv_nsec = GLANCE_MS * 1000000};
  int leader = -1;
  for (int waited = 0; waited < PATIENCE_MS && (leader < 0 || leader == old); waited += GLANCE_MS) {
    nanosleep(&pause, NULL);
    leader = kind == BROKERS_ETCD ? brokers_etcd_leader(all) : brokers_stream_leader(all, stream);
  }
  cr_assert(leader >= 0 && leader != old, "there is no new leader");
}

void race_await_leader(brokers *all, brokers_kind kind, const char *stream, int killed) {
  race_await_another(all, kind, stream, killed);
  brokers_revive(all, kind, (uint32_t)killed);
}

void race_count_answers(race_tally *tally, const race_answer answers[2]) {
  uint32_t winners = 0;
  for (int i = 0; i < 2; i++) {
    winners += answers[i] == RACE_WON;
    tally->no_answer += answers[i] == RACE_NONE || answers[i] == RACE_FAILED;
  }
  tally->won[winners]++;
  tally->races++;
  if (winners == 2 && tally->first_both == 0) tally->first_both = tally->races;
}

void race_print(const race_tally *tally, const char *name) {
  fprintf(stderr,
          "%s: %" PRIu64 " races, %" PRIu64 " kills of the leader: two winners in %" PRIu64 " (first in race %" PRIu64
          "), one in %" PRIu64 ", none in %" PRIu64 "; %" PRIu64 " requests without an answer\n",
          name, tally->races, tally->kills, tally->won[2], tally->first_both, tally->won[1], tally->won[0],
          tally->no_answer);
}
