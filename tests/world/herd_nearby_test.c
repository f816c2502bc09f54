/* muster_herds_nearby() between frames, against a search through all herds one by one. */
#include "base/random.h"
#include "world/herd_fixture.h"

enum { HERDS = 3000, PARTITIONS = 2, QUERIES = 400, WIDTH_M = 8000 };

typedef struct found {
  muster_herd_near near[MUSTER_NEIGHBOURS_MAX];
  uint32_t count;
} found;

static double coordinate(uint32_t which, uint32_t axis) {
  return (double)(random_at(3, which, axis, 0) % (WIDTH_M * 16)) / 16.0 - WIDTH_M / 2.0;
}

/* Spreads herds over two partitions, some at the same place; those near the observer are unfolded. */
static herd_world scattered_herds(muster_herd herds[HERDS]) {
  muster_world_def world = WITH(virtual_world_def, it.limits.agents_max = 20000);
  muster_herd_type_def def = WITH(muster_herd_type_def, it.herds_max = HERDS);
  herd_world scattered = herd_world_create(1, &world, &def);
  for (uint32_t i = 0; i < HERDS; i++) {
    uint32_t place = i % 10 == 9 ? i - 1 : i;
    muster_herd_def herd = {.position = {coordinate(place, 0), coordinate(place, 1), 0.0},
                            .members = 1 + i % 32,
                            .partition = (i / 10) % PARTITIONS};
    cr_assert_eq(muster_herds_add(scattered.little.world, scattered.type, &herd, 1, &herds[i]), 1);
  }
  observe(&scattered, 0.0, 0.0);
  run_frames(&scattered.little, 20);
  return scattered;
}

static bool is_nearer(const muster_herd_near *one, const muster_herd_near *other) {
  if (one->distance_m < other->distance_m || one->distance_m > other->distance_m)
    return one->distance_m < other->distance_m;
  return muster_herd_index(one->herd) < muster_herd_index(other->herd);
}

static found search_one_by_one(const herd_world *scattered, const muster_herd *herds, muster_position at,
                               uint32_t partition, float radius_m, uint32_t capacity) {
  found all = {.count = 0};
  for (uint32_t i = 0; i < HERDS; i++) {
    muster_herd_info info = herd_info_of(scattered, herds[i]);
    double dx = info.position.x - at.x, dy = info.position.y - at.y;
    muster_herd_near near = {.herd = herds[i],
                             .type = info.type,
                             .distance_m = (float)sqrt(dx * dx + dy * dy),
                             .position = info.position,
                             .members = info.members,
                             .leaves = info.leaves};
    if (info.partition != partition || near.distance_m > radius_m) continue;
    uint32_t place = all.count;
    while (place > 0 && is_nearer(&near, &all.near[place - 1])) place--;
    if (place == capacity) continue;
    if (all.count < capacity) all.count++;
    for (uint32_t k = all.count - 1; k > place; k--) all.near[k] = all.near[k - 1];
    all.near[place] = near;
  }
  return all;
}

static void check_alike(const found *got, const found *wanted, uint32_t query) {
  cr_assert_eq(got->count, wanted->count, "query %u: %u herds instead of %u", query, got->count, wanted->count);
  for (uint32_t i = 0; i < got->count; i++) {
    const muster_herd_near *one = &got->near[i], *other = &wanted->near[i];
    cr_assert(muster_herd_index(one->herd) == muster_herd_index(other->herd) &&
                  muster_herd_generation(one->herd) == muster_herd_generation(other->herd),
              "query %u: herd %u is number %u instead of %u", query, muster_herd_index(one->herd), i,
              muster_herd_index(other->herd));
    cr_assert(one->type.index == other->type.index && one->members == other->members && one->leaves == other->leaves);
    cr_assert(fabsf(one->distance_m - other->distance_m) < 1e-3f);
    cr_assert(fabs(one->position.x - other->position.x) + fabs(one->position.y - other->position.y) < 1e-3);
  }
}

Test(herd_nearby, finds_the_nearest_of_the_partition_folded_or_not) {
  static muster_herd herds[HERDS];
  SCOPED_HERDS scattered = scattered_herds(herds);
  uint32_t most = 0, unfolded = 0, none = 0;
  for (uint32_t query = 0; query < QUERIES; query++) {
    uint32_t capacity = 1 + query % MUSTER_NEIGHBOURS_MAX, partition = query % PARTITIONS;
    float radius_m = (float)(random_at(5, query, 0, 0) % 600);
    muster_position at = {coordinate(query, 2) / (1 + query % 8), coordinate(query, 3) / (1 + query % 8), 0.0};
    found got = {.count = 0};
    got.count = muster_herds_nearby(scattered.little.world, at, partition, radius_m, got.near, capacity);
    found wanted = search_one_by_one(&scattered, herds, at, partition, radius_m, capacity);
    check_alike(&got, &wanted, query);
    most += got.count == capacity;
    none += got.count == 0;
    for (uint32_t i = 0; i < got.count; i++) unfolded += got.near[i].leaves > 0;
  }
  cr_assert(most > 20 && none > 20 && unfolded > 20, "%u, %u, %u", most, none, unfolded);
}

Test(herd_nearby, takes_the_radius_itself_and_nothing_beyond) {
  muster_herd_near near[4];
  SCOPED_HERDS herds = herd_world_create(1, NULL, NULL);
  muster_herd herd = add_herd(&herds, 30.0, 40.0, 7);
  muster_position origin = {0.0, 0.0, 1000.0}; /* heights do not count */
  cr_assert_eq(muster_herds_nearby(herds.little.world, origin, 0, 50.0f, near, 4), 1);
  cr_assert_eq(muster_herd_index(near[0].herd), muster_herd_index(herd));
  cr_assert_eq(near[0].distance_m, 50.0f);
  cr_assert_eq(near[0].members, 7);
  cr_assert_eq(muster_herds_nearby(herds.little.world, origin, 0, 49.99f, near, 4), 0);
  cr_assert_eq(muster_herds_nearby(herds.little.world, near[0].position, 0, 0.0f, near, 4), 1);
  cr_assert_eq(muster_herds_nearby(herds.little.world, origin, 1, 50.0f, near, 4), 0, "another partition");
  cr_assert_eq(muster_herds_nearby(herds.little.world, origin, 0, -1.0f, near, 4), 0);
  cr_assert_eq(muster_herds_nearby(herds.little.world, origin, 0, NAN, near, 4), 0);
  cr_assert_eq(muster_herds_nearby(herds.little.world, origin, 0, 50.0f, near, 0), 0);
  cr_assert_eq(muster_herds_nearby(herds.little.world, origin, 0, 50.0f, NULL, 4), 0);
}

Test(herd_nearby, gives_no_more_than_there_is_room_for_in_a_neighbourhood) {
  enum { MANY = MUSTER_NEIGHBOURS_MAX + 20 };
  static muster_herd_near near[MANY];
  SCOPED_HERDS herds = herd_world_create(1, NULL, NULL);
  for (uint32_t i = 0; i < MANY; i++) add_herd(&herds, (double)(MANY - i), 0.0, 3);
  cr_assert_eq(muster_herds_nearby(herds.little.world, (muster_position){0}, 0, 1e4f, near, MANY),
               MUSTER_NEIGHBOURS_MAX);
  for (uint32_t i = 0; i < MUSTER_NEIGHBOURS_MAX; i++) cr_assert_eq(near[i].distance_m, (float)(i + 1));
}
