/* Observers of a neighbour: this zone has each of them where it was told last, and none that is told no more. */
#include "service/service.h"
#include "service/zones/zone_parts.h"
#include "support/little_world.h"

/* What is told of an observer, as neighbours send it: see zone_watchers.c. */
typedef struct told_one {
  uint64_t id;
  double x, y, z;
  float near_m, far_m;
  uint32_t partition, reserved;
} told_one;

_Static_assert(sizeof(told_one) == 48, "as it is sent");

enum { WATCHERS = 3 };

static hosted_world world;
static struct zone zone;
static zone_link neighbour;

/* Each is told at this place, beside the one before, but for the last `fewer`. */
static void tell(little_world *little, double x, uint32_t fewer) {
  told_one told[WATCHERS];
  for (uint32_t i = 0; i < WATCHERS; i++)
    told[i] = (told_one){.id = 70 + i, .x = x + i, .y = -x, .near_m = 10.0f, .far_m = 50.0f, .partition = i};
  zone_take_observers(&world, &neighbour, told, (WATCHERS - fewer) * sizeof *told);
  run_frame(little);
}

static void expect_there(const little_world *little, double x, uint32_t count) {
  uint32_t found = 0;
  muster_observer observer = {0};
  muster_observer_def def = muster_observer_def_default();
  while (!muster_observer_is_null(observer = muster_observer_next(little->world, observer))) {
    cr_assert_eq(muster_observer_read(little->world, observer, &def), MUSTER_OK);
    cr_expect(def.position.x == x + (double)def.partition && def.position.y == -x, "one is at %g %g instead of %g",
              def.position.x, def.position.y, x);
    found++;
  }
  cr_expect_eq(found, count);
  cr_expect_eq(neighbour.watcher_count, count);
}

Test(zone_watchers, are_where_they_were_told_last) {
  static const double places[] = {5, 9, 5, 5, 7, 5}; /* there and back again */
  little_world little = little_world_create(1, NULL);
  world = (hosted_world){.world = little.world, .zone = &zone};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    tell(&little, places[i], 0);
    expect_there(&little, places[i], WATCHERS);
  }
  tell(&little, 5, 2);
  expect_there(&little, 5, WATCHERS - 2);
  tell(&little, 6, 0);
  expect_there(&little, 6, WATCHERS);
  zone_drop_observers(&world, &neighbour);
  run_frame(&little);
  expect_there(&little, 6, 0);
  free(neighbour.watchers);
  little_world_destroy(&little);
}
