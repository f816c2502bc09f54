/* Times by which agents must react: an agent sets its own, and it is kept where a plain order comes too late. */
#include "world/fixture.h"

enum { CROWD = 200, PER_FRAME = 4, REACTORS = 10, BY_NS = 30 * FRAME_NS };

/* What the updates of a type share. They run one at a time, since these worlds have one worker. */
struct script {
  bool reacts;    /* asks for a time */
  uint64_t by_ns; /* after the appraisal */
  uint32_t appraised;
  uint32_t in_time, late; /* updates after an appraisal */
  uint64_t longest_ns;    /* from an appraisal to its reaction */
  uint64_t again_ns;      /* second time that the same update asks for; 0 = none */
};

struct witness {
  uint64_t appraised_ns;
  uint32_t runs;
};

/* The first update appraises; the next one is the reaction. */
static muster_atom_result live(muster_update *update) {
  struct script *script = update->type_user;
  struct witness *witness = update->state;
  if (witness->runs++ == 0) {
    witness->appraised_ns = update->now_ns;
    script->appraised++;
    if (script->reacts) cr_assert_eq(muster_update_react_by(update, update->now_ns + script->by_ns), MUSTER_OK);
    if (script->again_ns) muster_update_react_by(update, update->now_ns + script->again_ns);
  } else if (witness->runs == 2) {
    bool in_time = update->now_ns <= witness->appraised_ns + script->by_ns;
    uint64_t after_ns = update->now_ns - witness->appraised_ns;
    if (after_ns > script->longest_ns) script->longest_ns = after_ns;
    script->in_time += in_time;
    script->late += !in_time;
  }
  return MUSTER_ATOM_NEXT;
}

static muster_type register_one(const little_world *little, const muster_atom *atom, struct script *script,
                                uint64_t period_ns, uint32_t state_bytes) {
  muster_type_def type = WITH(muster_type_def, it.atoms = atom, it.atom_count = 1, it.state_bytes = state_bytes,
                              it.period_ns = period_ns, it.period_max_ns = 400 * FRAME_NS, it.user = script);
  return muster_type_register(little->world, &type);
}

/* An overloaded crowd of important agents, and a few agents without importance that appraise something. */
static little_world crowded_world(struct script *script, uint64_t period_ns, uint32_t crowd, muster_order order) {
  static const muster_atom plain = {nothing, MUSTER_ROLE_BEHAVIOUR, 1000}, alive = {live, MUSTER_ROLE_BEHAVIOUR, 1000};
  little_world little = little_world_of(1, WITH(virtual_world_def, it.order = order, it.updates_per_frame = PER_FRAME));
  muster_type one_of_many = register_one(&little, &plain, NULL, 2 * FRAME_NS, 0);
  little.type = register_one(&little, &alive, script, period_ns, sizeof(struct witness));
  for (uint32_t i = 0; i < crowd; i++)
    spawn_as(&little, WITH(muster_agent_def, it.type = one_of_many, it.importance_floor = 1.0f));
  for (uint32_t i = 0; i < REACTORS; i++) spawn_at(&little, 0);
  return little;
}

static void reactions_meet_times(muster_order order) {
  struct script with = {.reacts = true, .by_ns = BY_NS}, without = {.by_ns = BY_NS};
  SCOPED_WORLD little = crowded_world(&with, 2 * FRAME_NS, CROWD, order);
  run_frames(&little, 400);
  cr_assert_eq(with.appraised, REACTORS);
  cr_assert_eq(with.in_time, REACTORS, "%u in time, %u late", with.in_time, with.late);
  muster_statistics statistics = statistics_of(&little);
  cr_assert_eq(statistics.reactions_met, REACTORS);
  cr_assert_eq(statistics.reactions_late, 0);
  SCOPED_WORLD plain = crowded_world(&without, 2 * FRAME_NS, CROWD, order);
  run_frames(&plain, 400);
  cr_assert_eq(without.appraised, REACTORS);
  cr_assert_eq(without.in_time, 0, "a plain order came in time %u times", without.in_time);
}

Test(reactions, meet_times_that_a_plain_order_misses) {
  reactions_meet_times(MUSTER_ORDER_PRIORITY);
  reactions_meet_times(MUSTER_ORDER_DELAYS);
}

/* There is no crowd, but the period alone would be too long. */
Test(reactions, come_ahead_of_the_period) {
  struct script script = {.reacts = true, .by_ns = BY_NS};
  SCOPED_WORLD little = crowded_world(&script, 300 * FRAME_NS, 0, MUSTER_ORDER_PRIORITY);
  run_frames(&little, 400);
  cr_assert_eq(script.in_time, REACTORS, "%u in time, %u late", script.in_time, script.late);
}

/* A reaction with time left does not press: it only moves forward among the others, frame by frame. */
Test(reactions, move_forward_before_they_press) {
  struct script script = {.reacts = true, .by_ns = 64 * FRAME_NS};
  SCOPED_WORLD little = crowded_world(&script, 2 * FRAME_NS, 150, MUSTER_ORDER_PRIORITY);
  run_frames(&little, 800);
  cr_assert_eq(script.in_time, REACTORS);
  cr_assert_lt(script.longest_ns, script.by_ns / 4 * 3, "only when it pressed, after %lu frames",
               script.longest_ns / FRAME_NS);
}

Test(reactions, keep_the_earlier_of_two_times) {
  struct script script = {.reacts = true, .by_ns = 6 * FRAME_NS, .again_ns = 200 * FRAME_NS};
  SCOPED_WORLD little = crowded_world(&script, 300 * FRAME_NS, 0, MUSTER_ORDER_PRIORITY);
  run_frames(&little, 400);
  cr_assert_eq(script.in_time, REACTORS);
}

static muster_atom_result ask_too_much(muster_update *update) {
  cr_assert_eq(muster_update_react_by(update, UINT64_MAX - 1), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_update_react_by(update, update->now_ns + FRAME_NS), MUSTER_OK);
  cr_assert_eq(muster_update_react_by(update, MUSTER_WAKE_NEVER), MUSTER_OK);
  return MUSTER_ATOM_NEXT;
}

Test(reactions, refuse_times_beyond_all_worlds_and_can_be_taken_back) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  little.type = register_one(&little, atom_of(ask_too_much, 1000), NULL, 10 * FRAME_NS, 0);
  spawn_and_run(&little, 0, 100);
  muster_statistics statistics = statistics_of(&little);
  cr_assert_geq(statistics.completed, 9);
  cr_assert_leq(statistics.completed, 11, "times that were taken back made it run");
  cr_assert_eq(statistics.reactions_met + statistics.reactions_late, 0);
}

Test(reactions, end_with_their_agents) {
  struct script script = {.reacts = true, .by_ns = 50 * FRAME_NS};
  SCOPED_WORLD little = crowded_world(&script, 300 * FRAME_NS, 0, MUSTER_ORDER_PRIORITY);
  uint32_t frames = 0;
  while (script.appraised < REACTORS && frames++ < 400) run_frame(&little);
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little.world, agent));)
    muster_agent_remove(little.world, agent);
  run_frames(&little, 2);
  for (uint32_t i = 0; i < REACTORS; i++) spawn_at(&little, 0);
  script.reacts = false;
  run_frames(&little, 300);
  muster_statistics statistics = statistics_of(&little);
  cr_assert_leq(statistics.reactions_met, script.in_time);
  cr_assert_eq(statistics.reactions_late, 0);
}
