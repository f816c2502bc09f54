/* Snapshots with correct checksums and one impossible value: they are refused, and the error names the value. */
#include "plan/shedding.h"
#include "support/busy_worlds.h"
#include "support/snapshot_parts.h"
#include "world/fixture.h"
#include "world/overruns_state.h"
#include "world/world_learnt.h"
#include "world/world_queues.h"

enum {
  SECTION_HEAD = 1,
  SECTION_CLASSES = 3,
  SECTION_OBSERVERS = 10,
  SECTION_SCORE,
  SECTION_OVERRUNS = 14,
  SECTION_LEARNT,
  FRAMES = 30
};

static const float near_m = 12.5f, far_m = 345.25f; /* of the only observer; no other value equals these */
static const muster_position stands = {123.0625, -77.3125, 5.5};

static struct snapshot_parts save_observed(void) {
  SCOPED_WORLD little = busy_world(&busy_kinds[1], 1);
  for (uint32_t i = 0; i < 12; i++) busy_spawn(&little, i, 0);
  observe_as(&little, WITH(muster_observer_def, it.position = stands, it.near_m = near_m, it.far_m = far_m));
  for (uint32_t i = 0; i < FRAMES; i++) run_frame_with(&little, busy_kinds[1].budget_ns);
  SCOPED(saved_world_forget) saved_world saved = save_world(little.world);
  return take_apart(&saved);
}

/* Returns occurrence number `which` of these bytes in the section, counted from 0; NULL if there are not so many. */
static unsigned char *find(const struct snapshot_parts *parts, uint32_t section, const void *bytes, size_t count,
                           uint32_t which) {
  for (size_t at = parts->begin[section]; at + count <= parts->begin[section + 1]; at++)
    if (memcmp(parts->bytes + at, bytes, count) == 0 && which-- == 0) return parts->bytes + at;
  return NULL;
}

static muster_result load_parts(const struct snapshot_parts *parts) {
  SCOPED_WORLD little = busy_world(&busy_kinds[1], 1);
  SCOPED(saved_world_forget) saved_world saved = put_together(parts);
  muster_result result = load_world(little.world, saved.bytes, saved.count);
  if (result == MUSTER_OK) {
    little.now_ns = look_at(&saved).sim_now_ns;
    run_frame_with(&little, busy_kinds[1].budget_ns);
  }
  return result;
}

/* Loads with the bytes at a place replaced: refused with `why`, or accepted if `why` is NULL. */
static void expect_forged(const struct snapshot_parts *parts, unsigned char *place, const void *bytes, size_t count,
                          const char *why) {
  unsigned char kept[64];
  memcpy(kept, place, count);
  memcpy(place, bytes, count);
  if (why) {
    cr_assert_eq(load_parts(parts), MUSTER_E_INPUT, "expected: %s", why);
    expect_error(why);
  } else {
    assert_ok(load_parts(parts));
  }
  memcpy(place, kept, count);
}

static void expect_sight(const struct snapshot_parts *parts, uint32_t which, float from_m, float to_m,
                         const char *why) {
  const float was[2] = {near_m, far_m}, is[2] = {from_m, to_m};
  unsigned char *place = find(parts, SECTION_OBSERVERS, was, sizeof was, which);
  cr_assert_not_null(place, "the snapshot has no such observer");
  expect_forged(parts, place, is, sizeof is, why);
}

static void expect_place(const struct snapshot_parts *parts, uint32_t which, muster_position at, const char *why) {
  unsigned char *place = find(parts, SECTION_OBSERVERS, &stands, sizeof stands, which);
  cr_assert_not_null(place, "the snapshot has no such observer");
  expect_forged(parts, place, &at, sizeof at, why);
}

/* Behind the values of all observers, each of them stands twice: as the world sees it, and as it is filed. */
Test(snapshot_forged, observers_that_see_as_none_can) {
  static const char why[] = "observer 0 is what none can be";
  SCOPED(snapshot_parts_forget) struct snapshot_parts parts = save_observed();
  assert_ok(load_parts(&parts));
  for (uint32_t which = 1; which <= 2; which++) {
    expect_sight(&parts, which, -0.001f, far_m, why);
    expect_sight(&parts, which, near_m, near_m, why);
    expect_sight(&parts, which, far_m, near_m, why);
    expect_sight(&parts, which, near_m, INFINITY, why);
    expect_sight(&parts, which, near_m, NAN, why);
    expect_sight(&parts, which, NAN, far_m, why);
    expect_sight(&parts, which, 0.0f, far_m, NULL);
  }
}

Test(snapshot_forged, observers_that_stand_where_none_can) {
  static const char why[] = "observer 0 is what none can be";
  SCOPED(snapshot_parts_forget) struct snapshot_parts parts = save_observed();
  for (uint32_t which = 0; which < 2; which++) {
    expect_place(&parts, which, (muster_position){1.0000001e9, 0, 0}, why);
    expect_place(&parts, which, (muster_position){0, -1.0000001e9, 0}, why);
    expect_place(&parts, which, (muster_position){0, 0, INFINITY}, why);
    expect_place(&parts, which, (muster_position){NAN, 0, 0}, why);
  }
}

/* The section of observers begins with values of all of them: typical and linked reach, shortest, near and far, ... */
Test(snapshot_forged, reaches_that_do_not_fit_each_other) {
  static const char why[] = "observers that see as none can";
  SCOPED(snapshot_parts_forget) struct snapshot_parts parts = save_observed();
  float *sight = (float *)(void *)(parts.bytes + parts.begin[SECTION_OBSERVERS]), values[5];
  memcpy(values, sight, sizeof values);
  enum { TYPICAL, LINKED, SHORTEST, NEAR, FAR };
  cr_assert_gt(values[LINKED], 0.0f);
  for (uint32_t which = TYPICAL; which <= FAR; which++) {
    const float bad[] = {NAN, -1.0f};
    for (uint32_t i = 0; i < 2; i++) expect_forged(&parts, (unsigned char *)&sight[which], &bad[i], sizeof *bad, why);
  }
  const float none = 0.0f, short_m = 0.01f, four = values[LINKED] * 4.0f, more = values[LINKED] * 4.001f,
              another = values[LINKED] + 1.0f;
  expect_forged(&parts, (unsigned char *)&sight[SHORTEST], &none, sizeof none, why);
  expect_forged(&parts, (unsigned char *)&sight[SHORTEST], &short_m, sizeof short_m, NULL);
  expect_forged(&parts, (unsigned char *)&sight[NEAR], &more, sizeof more, why);
  expect_forged(&parts, (unsigned char *)&sight[FAR], &more, sizeof more, why);
  expect_forged(&parts, (unsigned char *)&sight[NEAR], &four, sizeof four, NULL);
  expect_forged(&parts, (unsigned char *)&sight[FAR], &four, sizeof four, NULL);
  expect_forged(&parts, (unsigned char *)&sight[LINKED], &another, sizeof another, why);
}

Test(snapshot_forged, frames_and_times_that_no_world_comes_to) {
  static const char why[] = "no world has run";
  SCOPED(snapshot_parts_forget) struct snapshot_parts parts = save_observed();
  unsigned char *head = parts.bytes + parts.begin[SECTION_HEAD];
  unsigned char *frames = head + offsetof(muster_snapshot_info, frames);
  unsigned char *now_ns = head + offsetof(muster_snapshot_info, sim_now_ns);
  uint64_t value;
  memcpy(&value, frames, sizeof value);
  cr_assert_eq(value, FRAMES);
  value = UINT64_MAX / 2;
  expect_forged(&parts, frames, &value, sizeof value, why);
  value--;
  expect_forged(&parts, frames, &value, sizeof value, NULL);
  value = (uint64_t)INT64_MAX / 2 + 1;
  expect_forged(&parts, now_ns, &value, sizeof value, why);
}

/* The section of scores ends with two flags: whether load shedding relapsed, and whether any agent is shed. */
Test(snapshot_forged, answers_that_are_neither_yes_nor_no) {
  static const char why[] = "levels that give way as none can";
  SCOPED(snapshot_parts_forget) struct snapshot_parts parts = save_observed();
  for (size_t i = 1; i <= 2; i++)
    for (unsigned char value = 0; value <= 2; value++)
      expect_forged(&parts, parts.bytes + parts.begin[SECTION_SCORE + 1] - i, &value, 1, value < 2 ? NULL : why);
}

/* Before these flags stand how far levels are shed, and from which pressure on. */
Test(snapshot_forged, levels_that_give_way_as_none_can) {
  static const char why[] = "levels that give way as none can";
  static const struct {
    size_t offset;
    double good, bad;
  } fields[] = {{offsetof(struct shedding, from), 1.0, 1.001},      {offsetof(struct shedding, from), 0.0, -0.001},
                {offsetof(struct shedding, from), 0.5, NAN},        {offsetof(struct shedding, pressure), 2.0, 2.001},
                {offsetof(struct shedding, pressure), 0.0, -0.001}, {offsetof(struct shedding, depth), 1.5, 1.501},
                {offsetof(struct shedding, depth), 0.0, -0.001}};
  SCOPED(snapshot_parts_forget) struct snapshot_parts parts = save_observed();
  unsigned char *begin = parts.bytes + parts.begin[SECTION_SCORE + 1] - 2 - offsetof(struct shedding, relapsed);
  for (size_t i = 0; i < COUNT_OF(fields); i++) {
    expect_forged(&parts, begin + fields[i].offset, &fields[i].good, sizeof(double), NULL);
    expect_forged(&parts, begin + fields[i].offset, &fields[i].bad, sizeof(double), why);
  }
}

static const busy_kind *planned_kind(void) {
  const busy_kind *kind = busy_kinds;
  while (kind->activation_delay == 0) kind++;
  return kind;
}

static muster_result load_planned(const struct snapshot_parts *parts) {
  SCOPED_WORLD little = busy_world(planned_kind(), 1);
  SCOPED(saved_world_forget) saved_world saved = put_together(parts);
  return load_world(little.world, saved.bytes, saved.count);
}

Test(snapshot_forged, costs_of_actions_that_were_never_measured) {
  SCOPED_WORLD little = busy_driven(planned_kind(), 1, FRAMES);
  const frame_experience learnt = little.world->learnt->experience;
  SCOPED(saved_world_forget) saved_world saved = save_world(little.world);
  SCOPED(snapshot_parts_forget) struct snapshot_parts parts = take_apart(&saved);
  unsigned char *place = find(&parts, SECTION_LEARNT, &learnt, sizeof learnt, 0);
  cr_assert_not_null(place);
  for (uint32_t kind = 0; kind < ACT_KINDS; kind++) {
    frame_experience forged = learnt;
    forged.act_each[kind].mean_ns = -1.0;
    memcpy(place, &forged, sizeof forged);
    cr_assert_eq(load_planned(&parts), MUSTER_E_INPUT, "kind %u", kind);
    expect_error("measured times that cannot be");
  }
  memcpy(place, &learnt, sizeof learnt);
  assert_ok(load_planned(&parts));
}

/* A pace differs from its beat by at most half a beat: beyond that it would belong to another beat. */
Test(snapshot_forged, paces_that_are_behind_by_more_than_half_a_beat) {
  static const double late[] = {-0.51, -0.5, 0.0, 0.5, 0.51};
  SCOPED_WORLD little = busy_driven(planned_kind(), 1, FRAMES);
  const class_table *table = &little.world->queues->classes;
  activation_pace paces[2] = {table->activation.pace, table->activation.pace};
  for (uint32_t i = 0; i < table->count; i++)
    if (table->classes[i].pace.beat_ns > 0) paces[1] = table->classes[i].pace;
  SCOPED(saved_world_forget) saved_world saved = save_world(little.world);
  SCOPED(snapshot_parts_forget) struct snapshot_parts parts = take_apart(&saved);
  for (uint32_t which = 0; which < 2; which++) {
    activation_pace pace = paces[which];
    unsigned char *place = find(&parts, which ? SECTION_CLASSES : SECTION_LEARNT, &pace, sizeof pace, 0);
    cr_assert_not_null(place, "pace %u is not there", which);
    for (size_t i = 0; i < COUNT_OF(late); i++) {
      pace.late = late[i];
      memcpy(place, &pace, sizeof pace);
      cr_assert_eq(load_planned(&parts), fabs(late[i]) <= 0.5 ? MUSTER_OK : MUSTER_E_INPUT, "pace %u, %g", which,
                   late[i]);
    }
    memcpy(place, &paces[which], sizeof pace);
  }
}

/* The section of overruns begins with the range of indices that are to be graded, the start of a second, and the lines
 * that were logged in it. */
Test(snapshot_forged, more_lines_of_log_than_a_second_has) {
  SCOPED(snapshot_parts_forget) struct snapshot_parts parts = save_observed();
  unsigned char *lines = parts.bytes + parts.begin[SECTION_OVERRUNS] + 2 * sizeof(uint32_t) + sizeof(uint64_t);
  const uint32_t most = OVERRUNS_LINES_PER_SECOND, more = most + 1;
  expect_forged(&parts, lines, &most, sizeof most, NULL);
  expect_forged(&parts, lines, &more, sizeof more, "overruns as none can be");
}
