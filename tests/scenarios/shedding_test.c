/* Levels that fall with pressure, and what they change for watched characters: those of Rankin, Acton & Katchabaw, each
 * of which changes only itself. What happens to a character at an update follows from the time; what it makes of that,
 * from its state and its level. */
#include "scenarios/rankin.h"
#include "support/little_world.h"

#include <math.h>

enum { CHARACTERS = 10000, PLAYERS = 3, FRAMES = 1200, EVENTS_MAX = 256 };

/* All that is left at level 0 when every agent is at the longest period. */
#define CAPACITY_NS 250000u
#define SHORTEST_NS 90000000u
#define LONGEST_NS  2400000000u

/* What a character was after each of its updates, and when they were. */
struct life {
  muster_agent agent;
  float importance; /* the least */
  bool fell;        /* it was at another level than 0 */
  uint32_t updates;
  uint64_t at_ns[EVENTS_MAX];
  rankin_mind minds[EVENTS_MAX];
};

struct crowd {
  little_world little;
  struct life *lives;
  uint32_t shed_most;
};

static muster_atom_result decide(muster_update *update) {
  rankin_think(update->state, update->level, muster_update_random(update));
  return MUSTER_ATOM_NEXT;
}

static uint64_t cost_of(const muster_cost_query *query, void *user) {
  (void)user;
  return rankin_model_ns(query->level);
}

/* All are at level 0 by importance. */
static void register_character(little_world *little) {
  muster_type_def type =
      WITH(muster_type_def, it.atoms = atom_of(decide, 0), it.atom_count = 1, it.state_bytes = sizeof(rankin_mind),
           it.period_ns = SHORTEST_NS, it.period_max_ns = LONGEST_NS, it.models.cost_ns = cost_of,
           it.levels.count = MUSTER_LEVELS);
  for (uint32_t i = 0; i + 1 < MUSTER_LEVELS; i++) type.levels.importance[i] = 0.0f;
  register_type(little, &type);
}

static muster_position place_of(uint32_t number) {
  return (muster_position){20.0 * (number % 100), 20.0 * (number / 100 % 100), 0};
}

static void populate(struct crowd *crowd) {
  for (uint32_t i = 0; i < CHARACTERS; i++) {
    rankin_mind mind;
    const muster_agent_def def =
        WITH(muster_agent_def, it.type = crowd->little.type, it.position = place_of(i), it.state = &mind);
    rankin_be_born(&mind, i % RANKIN_ROLES, 0x9e3779b97f4a7c15u * (i + 1));
    crowd->lives[i] = (struct life){.agent = muster_agent_spawn(crowd->little.world, &def), .importance = 1.0f};
  }
  for (uint32_t i = 0; i < PLAYERS; i++) {
    muster_observer_def def =
        WITH(muster_observer_def, it.position = place_of(2050 + 3000 * i), it.near_m = 50.0f, it.far_m = 200.0f);
    cr_assert_neq(muster_observer_generation(muster_observer_add(crowd->little.world, &def)), 0);
  }
}

static void note(const struct crowd *crowd, struct life *life) {
  muster_agent_info info = info_of(&crowd->little, life->agent);
  const rankin_mind *mind = info.state;
  if (mind->runs == life->updates) return;
  cr_assert_lt(life->updates, EVENTS_MAX);
  life->at_ns[life->updates] = crowd->little.now_ns;
  life->minds[life->updates++] = *mind;
  life->importance = fminf(life->importance, info.importance);
  life->fell |= info.level > 0;
}

static struct crowd live(float level_pressure) {
  struct crowd crowd = {.lives = calloc(CHARACTERS, sizeof *crowd.lives)};
  cr_assert_not_null(crowd.lives);
  muster_world_def def = WITH(muster_world_def, it.clock.kind = MUSTER_CLOCK_VIRTUAL, it.limits.agents_max = CHARACTERS,
                              it.levels.pressure = level_pressure, it.seed = 11);
  crowd.little = little_world_create(1, &def);
  register_character(&crowd.little);
  populate(&crowd);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    muster_frame_report report = run_frame_with(&crowd.little, CAPACITY_NS);
    if (report.agents_shed > crowd.shed_most) crowd.shed_most = report.agents_shed;
    for (uint32_t i = 0; report.agents == CHARACTERS && i < CHARACTERS; i++) note(&crowd, &crowd.lives[i]);
  }
  little_world_destroy(&crowd.little);
  return crowd;
}

static bool same_life(const struct life *one, const struct life *other) {
  return one->updates == other->updates && memcmp(one->at_ns, other->at_ns, one->updates * sizeof *one->at_ns) == 0 &&
         memcmp(one->minds, other->minds, one->updates * sizeof *one->minds) == 0;
}

/* What is seen of one character, with levels that fall and without. Characters that fall live otherwise, so the
 * comparison can tell. Important ones that have to give way as well get more of the time that the others leave. */
static void compare(const struct life *with, const struct life *without, uint32_t *watched, uint32_t *fallen) {
  if (with->importance >= 0.99f) {
    cr_assert(same_life(with, without), "%u updates with shedding, %u without", with->updates, without->updates);
    cr_assert_gt(with->updates, 100);
    ++*watched;
  }
  if (with->importance >= 0.9f) {
    cr_assert_not(with->fell);
    cr_assert_geq(with->updates, without->updates);
  }
  *fallen += with->fell && !same_life(with, without);
}

Test(shedding, a_watched_character_lives_the_same_whether_levels_fall_or_not) {
  struct crowd with = live(0.5f), without = live(0.0f);
  uint32_t watched = 0, fallen = 0;
  for (uint32_t i = 0; i < CHARACTERS; i++) compare(&with.lives[i], &without.lives[i], &watched, &fallen);
  cr_assert_geq(watched, 50);
  cr_assert_geq(fallen, CHARACTERS / 3);
  cr_assert_geq(with.shed_most, fallen);
  cr_assert_eq(without.shed_most, 0);
  free(with.lives);
  free(without.lives);
}
