/* The host's query from a place, against a look at everybody and against the query of an update. */
#include "base/random.h"
#include "support/little_world.h"

#include <muster/replicate.h>

#include <math.h>
#include <stdlib.h>

enum { TYPES = 3, MOST = 256 };

struct scene {
  little_world little;
  muster_type types[TYPES];
};

static struct scene open_scene(void) {
  struct scene scene = {.little = little_world_create(1, NULL)};
  const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 0};
  muster_type_def type = type_with(&atom, 1);
  type.published_bytes = 4;
  for (uint32_t i = 0; i < TYPES; i++) {
    register_type(&scene.little, &type);
    scene.types[i] = scene.little.type;
  }
  return scene;
}

static void scatter(struct scene *scene, uint64_t seed, uint32_t agents, double span_m) {
  for (uint32_t i = 0; i < agents; i++) {
    muster_agent_def def = muster_agent_def_default();
    double x = (double)(random_at(seed, i, 0, 0) >> 40) / 16777216.0,
           y = (double)(random_at(seed, i, 1, 0) >> 40) / 16777216.0;
    def.type = scene->types[i % TYPES];
    def.partition = i % 5 == 4;
    def.position = (muster_position){(x - 0.5) * span_m, (y - 0.5) * span_m, i};
    cr_assert_not(muster_agent_is_null(muster_agent_spawn(scene->little.world, &def)));
  }
  while (run_frame(&scene->little).spawns_waiting) continue;
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

/* How many agents are asked for and nearer than so far. */
static uint32_t count_nearer(const little_world *little, const muster_nearby_query *query, double than_m) {
  uint32_t nearer = 0;
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little->world, agent));) {
    muster_agent_info info = info_of(little, agent);
    nearer += is_asked_for(query, &info) && distance_to(query, info.position) < than_m;
  }
  return nearer;
}

static void check_found(const little_world *little, const muster_nearby_query *query, const muster_nearby_agent *found,
                        uint32_t i) {
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
  muster_nearby_agent found[MOST];
  struct scene scene = open_scene();
  scatter(&scene, 7, 3000, 1500);
  for (uint32_t i = 0; i < 200; i++) {
    muster_nearby_query query = muster_nearby_query_default();
    bool cut = true;
    query.position = (muster_position){(double)(random_at(8, i, 0, 0) % 1700) - 850.0,
                                       (double)(random_at(8, i, 1, 0) % 1700) - 850.0, -5000};
    query.radius_m = (float)(random_at(8, i, 2, 0) % 140);
    query.partition = i % 2;
    query.types = scene.types + i % 2;
    query.type_count = i % TYPES;
    query.band_count = i % 5;
    for (uint32_t k = 0; k < query.band_count; k++) query.bands_m[k] = query.radius_m * (float)(k + 1) / 5.0f;
    uint32_t capacity = 1 + i % 40, count = muster_agents_nearby(scene.little.world, &query, found, capacity, &cut);
    cr_assert_leq(count, capacity);
    for (uint32_t k = 0; k < count; k++) check_found(&scene.little, &query, found, k);
    if (cut) continue;
    double reach_m = count < capacity ? 1e9 : (double)found[count - 1].neighbour.distance_m - 1e-2;
    uint32_t nearer = count_nearer(&scene.little, &query, reach_m);
    cr_assert(count < capacity ? nearer == count : nearer <= count, "query %u: %u of %u", i, count, nearer);
  }
  little_world_destroy(&scene.little);
}

/* Who is exactly where a band ends is in it, and so is who is exactly at the radius. */
Test(agents_nearby, a_band_has_its_end) {
  static const struct {
    float distance_m;
    uint32_t band;
  } expected[] = {{0, 0}, {8, 1}, {16, 1}, {16.5f, 2}, {32, 2}, {64, 3}, {64.5f, 4}, {128, 4}};
  enum { FOUND = sizeof expected / sizeof *expected };
  struct scene scene = open_scene();
  muster_nearby_agent found[MOST];
  muster_nearby_query query = muster_nearby_query_default();
  for (uint32_t i = 0; i < FOUND; i++) spawn_at(&scene.little, (double)expected[i].distance_m);
  spawn_at(&scene.little, 128.5);
  run_frames(&scene.little, 2);
  query.radius_m = 128;
  query.band_count = 4;
  memcpy(query.bands_m, (float[]){0, 16, 32, 64}, sizeof query.bands_m);
  cr_assert_eq(muster_agents_nearby(scene.little.world, &query, found, MOST, NULL), FOUND);
  for (uint32_t i = 0; i < FOUND; i++) {
    cr_expect_eq(found[i].neighbour.distance_m, expected[i].distance_m);
    cr_expect_eq(found[i].band, expected[i].band, "at %g m", (double)expected[i].distance_m);
  }
  little_world_destroy(&scene.little);
}

Test(agents_nearby, is_cut_in_a_crowd_and_looks_far_and_wide) {
  muster_nearby_agent found[MOST + 1];
  struct scene scene = open_scene();
  muster_nearby_query query = muster_nearby_query_default();
  bool cut = true;
  query.radius_m = 20;
  cr_assert_eq(muster_agents_nearby(scene.little.world, &query, found, 4, &cut), 0); /* nobody is there */
  cr_assert_not(cut);
  scatter(&scene, 1, 900, 0);
  cr_assert_eq(muster_agents_nearby(scene.little.world, &query, found, 4, &cut), 4);
  cr_assert(cut);
  cr_assert_leq(muster_agents_nearby(scene.little.world, &query, found, MOST + 1, NULL), MOST);
  query.position.x = 1e6;
  query.radius_m = 1e7f;
  cr_assert_gt(muster_agents_nearby(scene.little.world, &query, found, MOST, &cut), 100);
  cr_assert(cut);
  query.radius_m = 10;
  cr_assert_eq(muster_agents_nearby(scene.little.world, &query, found, MOST, &cut), 0);
  cr_assert_not(cut);
  cr_assert_eq(muster_agents_nearby(scene.little.world, &query, NULL, 0, NULL), 0);
  little_world_destroy(&scene.little);
}

Test(agents_nearby, of_few_agents_finds_all_wherever_they_are) {
  muster_nearby_agent found[MOST];
  struct scene scene = open_scene();
  scatter(&scene, 3, 50, 1e6);
  muster_nearby_query query = muster_nearby_query_default();
  bool cut = true;
  query.radius_m = 1e7f;
  cr_assert_eq(muster_agents_nearby(scene.little.world, &query, found, MOST, &cut), 40);
  cr_assert_not(cut);
  query.partition = 1;
  cr_assert_eq(muster_agents_nearby(scene.little.world, &query, found, MOST, &cut), 10);
  little_world_destroy(&scene.little);
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
  little_world little = little_world_create(1, NULL);
  const muster_atom atom = {look, MUSTER_ROLE_BEHAVIOUR, 0};
  muster_type_def type = type_with(&atom, 1);
  register_type(&little, &type);
  for (uint32_t i = 0; i < 400; i++) spawn_in(&little, (muster_position){i % 20 * 7.0, i / 20 * 7.0, 0}, 0);
  for (uint32_t i = 0; i < 40; i++) run_frame(&little);
  muster_nearby_query query = muster_nearby_query_default();
  muster_nearby_agent found[17];
  query.radius_m = 60;
  query.position = info_of(&little, muster_agent_make(0, 1)).position;
  cr_assert_eq(seen_count, 16);
  cr_assert_eq(muster_agents_nearby(little.world, &query, found, 17, NULL), 17);
  cr_assert_eq(muster_agent_index(found[0].neighbour.agent), 0);
  for (uint32_t i = 0; i < 16; i++) cr_assert(muster_agent_equal(seen[i].agent, found[i + 1].neighbour.agent));
  little_world_destroy(&little);
}

static void expect_refused(const struct scene *scene, const muster_nearby_query *query, const char *word) {
  muster_nearby_agent found[4];
  bool cut = true;
  cr_assert_eq(muster_agents_nearby(scene->little.world, query, found, 4, &cut), 0);
  cr_assert_not_null(strstr(muster_last_error(), word), "%s", muster_last_error());
  cr_assert_not(cut);
}

Test(agents_nearby, refuses_what_is_out_of_range) {
  struct scene scene = open_scene();
  const muster_nearby_query good = muster_nearby_query_default();
  const muster_type unknown = {99};
  muster_nearby_query query = good;
  query.position.x = (double)NAN;
  expect_refused(&scene, &query, "position");
  query = good;
  query.radius_m = -1.0f;
  expect_refused(&scene, &query, "radius_m");
  query.radius_m = NAN;
  expect_refused(&scene, &query, "radius_m");
  query.radius_m = INFINITY;
  expect_refused(&scene, &query, "radius_m");
  query = good;
  query.partition = 65536;
  expect_refused(&scene, &query, "partition");
  query = good;
  query.band_count = 5;
  expect_refused(&scene, &query, "band_count");
  query.band_count = 2;
  query.bands_m[0] = 3;
  expect_refused(&scene, &query, "bands_m[1]");
  query = good;
  query.type_count = 1;
  expect_refused(&scene, &query, "types");
  query.types = &unknown;
  expect_refused(&scene, &query, "type 99");
  little_world_destroy(&scene.little);
}
