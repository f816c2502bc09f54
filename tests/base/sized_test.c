/* Structs that begin with their size: what of them is read, and what is written. */
#include "base/sized.h"
#include "support/with.h"

#include <muster/explain.h>
#include <muster/herd.h>
#include <muster/module.h>
#include <muster/overruns.h>
#include <muster/planner.h>
#include <muster/record.h>
#include <muster/sets.h>
#include <muster/snapshot.h>
#include <muster/tune.h>
#include <muster/view.h>

#include <criterion/criterion.h>

/* A struct that had its first three fields when it was published, and of which a later header knows one more. */
typedef struct muster_cage {
  uint32_t size;
  uint32_t mice;
  uint64_t since_ns;
  uint32_t cats;
} muster_cage;

#define FIRST_cage since_ns

static const muster_cage defaults = {.size = sizeof(muster_cage), .mice = 1, .since_ns = 2, .cats = 3};

Test(sized, a_shorter_definition_leaves_the_defaults_of_what_it_does_not_know) {
  muster_cage given = {.size = offsetof(muster_cage, cats), .mice = 10, .since_ns = 20, .cats = 30}, read = defaults;
  cr_assert_eq(sized_read(SIZED(cage), &given, &read), MUSTER_OK);
  cr_assert(read.mice == 10 && read.since_ns == 20 && read.cats == 3);
  cr_assert_eq(read.size, sizeof read, "what was read is whole");
}

Test(sized, sizes_from_the_first_one_to_64_kib_are_published) {
  cr_assert_not(sized_is_published(SIZED(cage), 15));
  cr_assert(sized_is_published(SIZED(cage), 16));
  cr_assert(sized_is_published(SIZED(cage), 65536));
  cr_assert_not(sized_is_published(SIZED(cage), 65537));
}

Test(sized, none_is_refused_as_not_initialised) {
  muster_cage read = defaults;
  cr_assert_eq(sized_read(SIZED(cage), NULL, &read), MUSTER_E_NOT_INITIALISED);
  cr_assert_str_eq(muster_last_error(), "muster_cage: none was given; set one by muster_cage_default()");
  cr_assert_eq(sized_write(SIZED(cage), &read, NULL), MUSTER_E_NOT_INITIALISED);
}

Test(sized, a_refused_definition_changes_nothing) {
  struct {
    muster_cage cage;
    uint64_t unknown;
  } newer = {.cage = {.size = sizeof newer, .mice = 10}, .unknown = 1};
  muster_cage read = defaults;
  cr_assert_eq(sized_read(SIZED(cage), &newer, &read), MUSTER_E_ARGUMENT);
  cr_assert(read.mice == 1 && read.since_ns == 2 && read.cats == 3);
  newer.unknown = 0;
  cr_assert_eq(sized_read(SIZED(cage), &newer, &read), MUSTER_OK);
  cr_assert_eq(read.mice, 10);
}

Test(sized, what_is_written_ends_with_what_the_host_knows_and_keeps_its_size) {
  muster_cage out = {.size = offsetof(muster_cage, cats), .cats = 77};
  cr_assert_eq(sized_write(SIZED(cage), &defaults, &out), MUSTER_OK);
  cr_assert(out.mice == 1 && out.since_ns == 2 && out.cats == 77);
  cr_assert_eq(out.size, offsetof(muster_cage, cats));
}

/* Programs that were built with the first headers have structs of these sizes. */
Test(sized, the_sizes_that_were_published_first_stay) {
  const struct {
    const sized *kind;
    uint32_t first;
  } published[] = {
      {SIZED(agent_def), 72},      {SIZED(agent_explanation), 328},
      {SIZED(agent_info), 112},    {SIZED(agent_tuning), 13},
      {SIZED(overrun_counts), 64}, {SIZED(frame_report), 248},
      {SIZED(herd_info), 88},      {SIZED(herd_type_def), 184},
      {SIZED(load_def), 40},       {SIZED(module), 64},
      {SIZED(observer_def), 44},   {SIZED(plan_summary), 24},
      {SIZED(pool_def), 80},       {SIZED(pool_statistics), 64},
      {SIZED(record_def), 64},     {SIZED(record_info), 36},
      {SIZED(record_status), 160}, {SIZED(replay_def), 48},
      {SIZED(save_def), 32},       {SIZED(set_def), 80},
      {SIZED(set_info), 49},       {SIZED(set_tuning), 28},
      {SIZED(snapshot_info), 56},  {SIZED(statistics), 144},
      {SIZED(type_cost), 32},      {SIZED(type_def), 320},
      {SIZED(view), 44},           {SIZED(world_def), 328},
      {SIZED(world_tuning), 120},
  };
  for (size_t i = 0; i < COUNT_OF(published); i++) {
    const sized *kind = published[i].kind;
    cr_expect_eq(kind->first, published[i].first, "muster_%s: %u", kind->name, kind->first);
    cr_expect_leq(kind->first, kind->whole, "muster_%s", kind->name);
  }
}
