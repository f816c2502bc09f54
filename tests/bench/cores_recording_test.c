/* What `muster bench cores` records of a world's frames on one worker. */
#include "cores.h"

#include "support/square_world.h"

#include "run/runner.h"
#include "run/timeline.h"
#include "world/section.h"

#include <sched.h>

enum { FRAMES = 30 };

static const cores_costs nothing_costs = {.planning = 1};

static void run_some(little_world *little, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++) {
    muster_frame frame = {little->now_ns += FRAME_NS, 10 * FRAME_NS};
    cr_assert_eq(muster_frame_run(little->world, &frame), MUSTER_OK, "%s", muster_last_error());
  }
}

static little_world populated(muster_clock clock) {
  little_world little = square_world(1, clock);
  square_populate(&little);
  run_some(&little, 2);
  return little;
}

static muster_atom_result wander(muster_update *update) {
  muster_position to = update->position;
  to.x += muster_update_random_share(update) < 0.5f ? 40 : -40;
  muster_update_move(update, to);
  return MUSTER_ATOM_NEXT;
}

/* Agents that act region by region. */
static little_world regional(muster_clock clock) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 500}, {wander, MUSTER_ROLE_ACTION, 500}};
  muster_world_def world = WITH(muster_world_def, it.clock.kind = clock, it.limits.agents_max = SQUARE_AGENTS);
  little_world little = typed_world(1, world, CHANGED(type_with(atoms, 2), it.act = MUSTER_ACT_REGION));
  for (uint32_t i = 0; i < SQUARE_AGENTS; i++) spawn_in(&little, (muster_position){50.0 * (i % 30), 0, 0}, 0);
  run_some(&little, 2);
  return little;
}

static cores_recording *begin_recording(void) {
  cores_recording *recording = cores_recording_create();
  cr_assert_not_null(recording);
  return recording;
}

static void end_recording(cores_recording **recording) {
  cores_recording_destroy(*recording);
}

/* The finest cut comes to the same as no cut. */
static void expect_same(little_world (*create)(muster_clock clock)) {
  uint64_t hashes[3];
  for (uint32_t i = 0; i < 3; i++) {
    SCOPED(little_world_destroy) little_world little = create(MUSTER_CLOCK_VIRTUAL);
    SCOPED(end_recording) cores_recording *recording = begin_recording();
    if (i) cores_record(recording, little.world, i == 2);
    run_some(&little, FRAMES);
    hashes[i] = muster_world_hash(little.world);
    cores_freeze(recording, little.world);
  }
  cr_expect_eq(hashes[0], hashes[1]);
  cr_expect_eq(hashes[0], hashes[2], "it does where its caller moves");
}

Test(cores_recording, changes_no_world) {
  expect_same(populated);
  expect_same(regional);
}

/* A world that was recorded for some frames. */
struct recorded {
  little_world little;
  cores_recording *recording;
};

static struct recorded record(little_world (*create)(muster_clock clock)) {
  struct recorded recorded = {.recording = begin_recording(), .little = create(MUSTER_CLOCK_WALL)};
  cores_record(recorded.recording, recorded.little.world, false);
  run_some(&recorded.little, FRAMES);
  cores_freeze(recorded.recording, recorded.little.world);
  run_some(&recorded.little, 3);
  return recorded;
}

static void forget(struct recorded *recorded) {
  cores_recording_destroy(recorded->recording);
  little_world_destroy(&recorded->little);
}

Test(cores_recording, has_the_frames_until_it_is_frozen_and_without_those_that_are_dropped) {
  SCOPED(forget) struct recorded recorded = record(populated);
  cr_expect_eq(cores_recorded_frames(recorded.recording), FRAMES);
  cores_drop_frame(recorded.recording);
  cores_drop_frame(recorded.recording);
  cr_expect_eq(cores_recorded_frames(recorded.recording), FRAMES - 2);
  cores_record(recorded.recording, recorded.little.world, false);
  cores_freeze(recorded.recording, recorded.little.world);
  cr_expect_eq(cores_recorded_frames(recorded.recording), 0);
}

/* All of a frame is in some stretch, and with one worker all takes what was recorded. */
Test(cores_recording, adds_up) {
  SCOPED(forget) struct recorded recorded = record(populated);
  cores_frame frames[FRAMES];
  cores_stretch stretches[CORES_STRETCHES_MAX];
  double whole = 0, in_stretches = 0, alone = 0, shared = 0;
  cores_predict(recorded.recording, &nothing_costs, 1, frames);
  for (uint32_t i = 0; i < FRAMES; i++) {
    whole += frames[i].whole / FRAMES;
    cr_expect_float_eq(frames[i].whole, frames[i].alone + frames[i].sections + frames[i].claims, 1e-3);
  }
  uint32_t count = cores_stretches(recorded.recording, &nothing_costs, 1, stretches);
  for (uint32_t i = 0; i < count; i++) {
    in_stretches += stretches[i].recorded;
    *(stretches[i].shared ? &shared : &alone) += stretches[i].wall;
  }
  cr_expect_float_eq(in_stretches, whole, whole * 1e-9, "%g and %g ns", in_stretches, whole);
  cr_expect_float_eq(alone + shared, whole, whole * 1e-9);
}

static const cores_stretch *find(const cores_stretch *stretches, uint32_t count, const char *name, bool shared) {
  for (uint32_t i = 0; i < count; i++)
    if (stretches[i].name && strcmp(stretches[i].name, name) == 0 && stretches[i].shared == shared)
      return &stretches[i];
  return NULL;
}

Test(cores_recording, names_what_is_shared_and_what_is_not) {
  SCOPED(forget) struct recorded recorded = record(populated);
  cores_stretch stretches[CORES_STRETCHES_MAX];
  uint32_t count = cores_stretches(recorded.recording, &nothing_costs, 2, stretches);
  const cores_stretch *claims = find(stretches, count, "claims", true),
                      *look = find(stretches, count, "periods_look", true);
  const cores_stretch *act = find(stretches, count, "act_run", false);
  cr_assert(claims && look && act);
  cr_expect_eq(claims->stage, MUSTER_STAGE_RUN);
  cr_expect_eq(look->stage, MUSTER_STAGE_RELEASE);
  cr_expect_eq(act->stage, MUSTER_STAGE_COMMIT);
  cr_expect_gt(claims->pieces, 1);
  cr_expect_gt(look->pieces, 1, "one piece for each shard");
  cr_expect_gt(act->alone, 0);
}

Test(cores_recording, has_actions_that_regions_share) {
  SCOPED(forget) struct recorded recorded = record(regional);
  cores_stretch stretches[CORES_STRETCHES_MAX];
  uint32_t count = cores_stretches(recorded.recording, &nothing_costs, 2, stretches), kinds = 0;
  for (uint32_t i = 0; i < count; i++)
    if (stretches[i].shared && stretches[i].name && strcmp(stretches[i].name, "claims") == 0)
      kinds |= 1u << stretches[i].stage;
  cr_expect_eq(kinds, 1u << MUSTER_STAGE_RUN | 1u << MUSTER_STAGE_COMMIT, "%x", kinds);
}

/* ------------------------------------------------------------------------------------------------------------ moves */

enum { MOVES_STEPS = 1 << 14, MOVES_PIECES = 1 << 16 };

/* Where a caller goes that moves nowhere, and how many pieces it has done away from home. */
typedef struct traveller {
  struct timeline timeline;
  timeline_step steps[MOVES_STEPS];
  uint32_t pieces_ns[MOVES_PIECES];
  uint32_t left_at, pieces_away, journeys;
} traveller;

static void travel(void *mover, bool away) {
  traveller *self = mover;
  cr_expect_neq(self->timeline.away, away, "it goes where it is");
  if (away) self->left_at = self->timeline.piece_count;
  if (!away) self->pieces_away += self->timeline.piece_count - self->left_at;
  self->journeys += away;
}

static traveller caller;

static void keep_timeline(little_world *little) {
  caller = (traveller){.timeline = {.clock = little->world->clock,
                                    .steps = caller.steps,
                                    .pieces_ns = caller.pieces_ns,
                                    .steps_max = MOVES_STEPS,
                                    .pieces_max = MOVES_PIECES,
                                    .move = travel,
                                    .mover = &caller}};
  little->world->runner->timeline = &caller.timeline;
}

static void expect_halves(little_world (*create)(muster_clock clock)) {
  SCOPED(little_world_destroy) little_world little = create(MUSTER_CLOCK_WALL);
  keep_timeline(&little);
  for (uint32_t i = 0; i < FRAMES; i++) {
    run_some(&little, 1);
    cr_assert(!caller.timeline.away, "frame %u ends away from home", i);
  }
  little.world->runner->timeline = NULL;
  cr_assert(!caller.timeline.full);
  uint32_t claims = 0;
  for (uint32_t i = 0; i < caller.timeline.step_count; i++)
    if (caller.steps[i].kind == TIMELINE_CLAIMS) claims += caller.steps[i].count;
  cr_expect_geq(caller.pieces_away, claims / 3, "%u of %u claims", caller.pieces_away, claims);
  cr_expect_leq(caller.pieces_away, claims / 3 * 2, "%u of %u claims", caller.pieces_away, claims);
}

Test(cores_recording, takes_its_caller_away_for_half_of_the_claims_and_home) {
  expect_halves(populated);
  expect_halves(regional);
}

/* A part of a section whose items are runs. */
static void expect_second_half_away(void *world, uint32_t first, uint32_t end, uint32_t worker) {
  (void)world, (void)end, (void)worker;
  cr_expect_eq(caller.timeline.away, caller.pieces_away && first >= 32, "item %u", first);
}

Test(cores_recording, takes_its_caller_away_for_half_of_a_section_that_is_worth_a_helper_and_home) {
  enum { ITEMS = 64 };
  SCOPED(little_world_destroy) little_world little = populated(MUSTER_CLOCK_WALL);
  keep_timeline(&little);
  section_run(little.world, expect_second_half_away, ITEMS, 1000);
  cr_expect_eq(caller.journeys, 0);
  caller.pieces_away = 1; /* from now on */
  section_run(little.world, expect_second_half_away, ITEMS, 1000000);
  cr_expect_eq(caller.journeys, 1);
  cr_expect(!caller.timeline.away, "what follows the section is away from home");
  cr_expect_eq(caller.pieces_away, 1 + ITEMS / 2);
  section_run(little.world, expect_second_half_away, 1, 1000000);
  cr_expect_eq(caller.journeys, 1, "one run has no second half");
  little.world->runner->timeline = NULL;
}

Test(cores_recording, leaves_its_caller_free_to_run_where_it_was) {
  cpu_set_t before, after;
  SCOPED(little_world_destroy) little_world little = populated(MUSTER_CLOCK_WALL);
  SCOPED(end_recording) cores_recording *recording = begin_recording();
  cr_assert_eq(sched_getaffinity(0, sizeof before, &before), 0);
  cores_record(recording, little.world, true);
  run_some(&little, 3);
  cores_freeze(recording, little.world);
  cr_assert_eq(sched_getaffinity(0, sizeof after, &after), 0);
  cr_expect(CPU_EQUAL(&before, &after));
  cr_expect_eq(cores_recorded_frames(recording), 3);
}

Test(cores_recording, charges_nothing_for_moves_when_none_made_a_difference) {
  SCOPED(forget) struct recorded recorded = record(populated);
  cores_costs costs = {.planning = 1};
  costs.moved[0][0] = 7; /* of another round */
  cores_charge_moves(&costs, recorded.recording, recorded.recording);
  for (uint32_t stage = 0; stage < CORES_STAGES; stage++)
    for (uint32_t kind = 0; kind < CORES_KINDS; kind++) cr_expect_eq(costs.moved[stage][kind], 0);
}

/* A recording of more frames stands for one in which all takes longer; the caller fits alone. */
Test(cores_recording, charges_for_moves_by_stage_what_they_make_longer) {
  SCOPED(forget) struct recorded recorded = record(populated);
  SCOPED(end_recording) cores_recording *still = begin_recording();
  cores_recording *moving = recorded.recording;
  cores_frame frames[FRAMES];
  cores_costs costs = {.planning = 1};
  cores_record(still, recorded.little.world, false);
  run_some(&recorded.little, 5);
  cores_freeze(still, recorded.little.world);
  double fit_ns[2] = {0};
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t count = cores_recorded_frames(i ? still : moving);
    cores_predict(i ? still : moving, &nothing_costs, 1, frames);
    for (uint32_t j = 0; j < count; j++) fit_ns[i] += frames[j].stages[MUSTER_STAGE_FIT];
  }
  cores_charge_moves(&costs, moving, still);
  cr_assert_gt(fit_ns[1], 0);
  cr_expect_float_eq(costs.moved[MUSTER_STAGE_FIT][TIMELINE_ALONE], fit_ns[0] / fit_ns[1] - 1, 1e-6);
}
