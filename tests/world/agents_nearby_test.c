/* The host's query from a place, against a look at everybody and against the query of an update. */
#include "base/random.h"
#include "world/fixture.h"

#include <muster/replicate.h>

enum { TYPES = 3, MOST = 256 };

/* By order of registration. */
static const muster_type types[TYPES] = {{1}, {2}, {3}};

static muster_nearby_agent found[MOST + 1];

static little_world open_world(void) {
  little_world little = little_world_create(1, NULL);
  for (uint32_t i = 0; i < TYPES; i++)
    cr_assert_eq(add_type(&little, CHANGED(type_running(nothing, 0), it.published_bytes = 4)).index, types[i].index);
  return little;
}

static void scatter(little_world *little, uint64_t seed, uint32_t agents, double span_m) {
  for (uint32_t i = 0; i < agents; i++) {
    double x = (double)(random_at(seed, i, 0, 0) >> 40) / 16777216.0,
           y = (double)(random_at(seed, i, 1, 0) >> 40) / 16777216.0;
    spawn_as(little, WITH(muster_agent_def, it.type = types[i % TYPES], it.partition = i % 5 == 4,
                          it.position = (muster_position){(x - 0.5) * span_m, (y - 0.5) * span_m, i}));
  }
  while (run_frame(little).spawns_waiting) continue;
}

static double distance_to(const muster_nearby_query *query, muster_position at) {
  return hypot(at.x - query->position.x, at.y - query->position.y);
}

static bool is_asked_for(const muster_nearby_query *query, const muster_agent_info *info) {
  if (info->partition != query->partition || distance_to(query, info->position) > (double)query->radius_m) return false;
  for (uint32_t i = 0; i < query->type_count; i++)
    if (query->types[i].index == info->type.index) return true;
  return query->type_count == 0;
}

static void check_found(const little_world *little, const muster_nearby_query *query, uint32_t i) {
  const muster_neighbour *at = &found[i].neighbour;
  muster_agent_info info = info_of(little, at->agent);
  cr_assert(is_asked_for(query, &info));
  cr_assert_eq(info.type.index, at->type.index);
  cr_assert_eq(info.published, at->published);
  cr_assert_float_eq((double)at->distance_m, distance_to(query, info.position), 1e-2);
  cr_assert(i == 0 || at->distance_m >= found[i - 1].neighbour.distance_m);
  uint32_t band = 0;
  for (; band < query->band_count && at->distance_m > query->bands_m[band]; band++) continue;
  cr_assert_eq(found[i].band, band);
}

Test(agents_nearby, finds_the_nearest_of_the_types_asked_for) {
  SCOPED_WORLD little = open_world();
  scatter(&little, 7, 3000, 1500);
  for (uint32_t i = 0; i < 200; i++) {
    bool cut = true;
    muster_nearby_query query =
        WITH(muster_nearby_query,
             it.position = (muster_position){(double)(random_at(8, i, 0, 0) % 1700) - 850.0,
                                             (double)(random_at(8, i, 1, 0) % 1700) - 850.0, -5000},
             it.radius_m = (float)(random_at(8, i, 2, 0) % 140), it.partition = i % 2, it.types = types + i % 2,
             it.type_count = i % TYPES, it.band_count = i % 5);
    for (uint32_t k = 0; k < query.band_count; k++) query.bands_m[k] = query.radius_m * (float)(k + 1) / 5.0f;
    uint32_t capacity = 1 + i % 40, count = muster_agents_nearby(little.world, &query, found, capacity, &cut);
    cr_assert_leq(count, capacity);
    for (uint32_t k = 0; k < count; k++) check_found(&little, &query, k);
    if (cut) continue;
    double reach_m = count < capacity ? 1e9 : (double)found[count - 1].neighbour.distance_m - 1e-2;
    uint32_t nearer = 0; /* that are asked for, of all */
    for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little.world, agent));) {
      muster_agent_info info = info_of(&little, agent);
      nearer += is_asked_for(&query, &info) && distance_to(&query, info.position) < reach_m;
    }
    cr_assert(count < capacity ? nearer == count : nearer <= count, "query %u: %u of %u", i, count, nearer);
  }
}

/* Who is exactly where a band ends is in it, and so is who is exactly at the radius. */
Test(agents_nearby, a_band_has_its_end) {
  static const struct {
    float distance_m;
    uint32_t band;
  } expected[] = {{0, 0}, {8, 1}, {16, 1}, {16.5f, 2}, {32, 2}, {64, 3}, {64.5f, 4}, {128, 4}};
  enum { FOUND = COUNT_OF(expected) };
  SCOPED_WORLD little = open_world();
  for (uint32_t i = 0; i < FOUND; i++) spawn_at(&little, (double)expected[i].distance_m);
  spawn_at(&little, 128.5);
  run_frames(&little, 2);
  muster_nearby_query query = WITH(muster_nearby_query, it.radius_m = 128, it.band_count = 4);
  memcpy(query.bands_m, (float[]){0, 16, 32, 64}, sizeof query.bands_m);
  cr_assert_eq(muster_agents_nearby(little.world, &query, found, MOST, NULL), FOUND);
  for (uint32_t i = 0; i < FOUND; i++) {
    cr_expect_eq(found[i].neighbour.distance_m, expected[i].distance_m);
    cr_expect_eq(found[i].band, expected[i].band, "at %g m", (double)expected[i].distance_m);
  }
}

Test(agents_nearby, is_cut_in_a_crowd_and_looks_far_and_wide) {
  SCOPED_WORLD little = open_world();
  bool cut = true;
  muster_nearby_query query = WITH(muster_nearby_query, it.radius_m = 20);
  cr_assert_eq(muster_agents_nearby(little.world, &query, found, 4, &cut), 0); /* nobody is there */
  cr_assert_not(cut);
  scatter(&little, 1, 900, 0);
  cr_assert_eq(muster_agents_nearby(little.world, &query, found, 4, &cut), 4);
  cr_assert(cut);
  cr_assert_leq(muster_agents_nearby(little.world, &query, found, MOST + 1, NULL), MOST);
  query.position.x = 1e6;
  query.radius_m = 1e7f;
  cr_assert_gt(muster_agents_nearby(little.world, &query, found, MOST, &cut), 100);
  cr_assert(cut);
  query.radius_m = 10;
  cr_assert_eq(muster_agents_nearby(little.world, &query, found, MOST, &cut), 0);
  cr_assert_not(cut);
  cr_assert_eq(muster_agents_nearby(little.world, &query, NULL, 0, NULL), 0);
}

Test(agents_nearby, of_few_agents_finds_all_wherever_they_are) {
  SCOPED_WORLD little = open_world();
  scatter(&little, 3, 50, 1e6);
  bool cut = true;
  muster_nearby_query query = WITH(muster_nearby_query, it.radius_m = 1e7f);
  cr_assert_eq(muster_agents_nearby(little.world, &query, found, MOST, &cut), 40);
  cr_assert_not(cut);
  query.partition = 1;
  cr_assert_eq(muster_agents_nearby(little.world, &query, found, MOST, &cut), 10);
}

/* What an update finds around its agent, the host finds from its place, but for the agent itself. */
static muster_neighbour seen[16];
static uint32_t seen_count;

static muster_atom_result look(muster_update *update) {
  if (muster_agent_index(update->agent) == 0)
    seen_count = muster_update_nearby(update, 60.0f, (muster_type){0}, seen, 16);
  return MUSTER_ATOM_NEXT;
}

Test(agents_nearby, sees_what_an_update_sees) {
  SCOPED_WORLD little = typed_world(1, virtual_world_def_default(), type_running(look, 0));
  for (uint32_t i = 0; i < 400; i++) spawn_in(&little, (muster_position){i % 20 * 7.0, i / 20 * 7.0, 0}, 0);
  run_frames(&little, 40);
  muster_nearby_query query =
      WITH(muster_nearby_query, it.radius_m = 60, it.position = info_of(&little, muster_agent_make(0, 1)).position);
  cr_assert_eq(seen_count, 16);
  cr_assert_eq(muster_agents_nearby(little.world, &query, found, 17, NULL), 17);
  cr_assert_eq(muster_agent_index(found[0].neighbour.agent), 0);
  for (uint32_t i = 0; i < 16; i++) cr_assert(muster_agent_equal(seen[i].agent, found[i + 1].neighbour.agent));
}

static void expect_refused(const little_world *little, muster_nearby_query query, const char *word) {
  bool cut = true;
  cr_assert_eq(muster_agents_nearby(little->world, &query, found, 4, &cut), 0);
  expect_error(word);
  cr_assert_not(cut);
}

Test(agents_nearby, refuses_what_is_out_of_range) {
  const muster_type unknown = {99};
  const float radii[] = {-1.0f, NAN, INFINITY};
  SCOPED_WORLD little = open_world();
  expect_refused(&little, WITH(muster_nearby_query, it.position.x = (double)NAN), "position");
  for (uint32_t i = 0; i < COUNT_OF(radii); i++)
    expect_refused(&little, WITH(muster_nearby_query, it.radius_m = radii[i]), "radius_m");
  expect_refused(&little, WITH(muster_nearby_query, it.partition = 65536), "partition");
  expect_refused(&little, WITH(muster_nearby_query, it.band_count = 5), "band_count");
  expect_refused(&little, WITH(muster_nearby_query, it.band_count = 2, it.bands_m[0] = 3), "bands_m[1]");
  expect_refused(&little, WITH(muster_nearby_query, it.type_count = 1), "types");
  expect_refused(&little, WITH(muster_nearby_query, it.type_count = 1, it.types = &unknown), "type 99");
}
