#include "service/zones/ground.h"

#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

muster_result ground_read_rectangle(const char *text, zone_rectangle *rectangle) {
  double *const corners[] = {&rectangle->x0, &rectangle->y0, &rectangle->x1, &rectangle->y1};
  bool good = strspn(text, "0123456789+-.eE \t") == strlen(text);
  for (size_t i = 0; good && i < sizeof corners / sizeof *corners; i++) {
    char *end;
    *corners[i] = strtod(text, &end);
    good = end != text && fabs(*corners[i]) <= 1e9;
    text = end;
  }
  good = good && !text[strspn(text, " \t")] && rectangle->x0 < rectangle->x1 && rectangle->y0 < rectangle->y1;
  return good ? MUSTER_OK
              : error_set(MUSTER_E_ARGUMENT,
                          "give four numbers of metres, -1e9 .. 1e9, as `rectangle = X0 Y0 X1 Y1` with X0 < X1 and "
                          "Y0 < Y1");
}

/* How far two stretches are apart; 0 = they touch or overlap. Without calls: this is asked of all near the border. */
static double gap_of(double a0, double a1, double b0, double b1) {
  double after = b0 - a1, before = a0 - b1, gap = after > before ? after : before;
  return gap > 0.0 ? gap : 0.0;
}

static double distance_of(double gap_x, double gap_y) {
  return sqrt(gap_x * gap_x + gap_y * gap_y);
}

static double gap_to_place(const zone_rectangle *rectangle, double x, double y) {
  return distance_of(gap_of(rectangle->x0, rectangle->x1, x, x), gap_of(rectangle->y0, rectangle->y1, y, y));
}

static double gap_between(const zone_rectangle *a, const zone_rectangle *b) {
  return distance_of(gap_of(a->x0, a->x1, b->x0, b->x1), gap_of(a->y0, a->y1, b->y0, b->y1));
}

static bool ground_has(const zone_rectangle *rectangle, double x, double y) {
  return x >= rectangle->x0 && x < rectangle->x1 && y >= rectangle->y0 && y < rectangle->y1;
}

static void add_neighbour(zone_ground *ground, const zone_neighbour *neighbour) {
  uint32_t place = ground->neighbour_count++;
  for (; place > 0 && ground->neighbours[place - 1].number > neighbour->number; place--)
    ground->neighbours[place] = ground->neighbours[place - 1];
  ground->neighbours[place] = *neighbour;
}

void ground_of(const struct settings *settings, const world_settings *world, zone_ground *ground) {
  *ground = (zone_ground){.number = world->zone,
                          .border_m = (double)settings->border_mm * 1e-3,
                          .margin_m = (double)settings->margin_mm * 1e-3};
  ground_read_rectangle(world->rectangle, &ground->rectangle);
  for (uint32_t i = 0; i < settings->world_count; i++) {
    const world_settings *other = &settings->worlds[i];
    zone_neighbour neighbour = {.number = other->zone};
    if (!other->zone || other->zone == world->zone || ground_read_rectangle(other->rectangle, &neighbour.rectangle))
      continue;
    if (gap_between(&ground->rectangle, &neighbour.rectangle) <= ground->border_m) add_neighbour(ground, &neighbour);
  }
}

/* ----------------------------------------------------------------------------------------------------------- checks */

static bool overlap(const zone_rectangle *a, const zone_rectangle *b) {
  return a->x0 < b->x1 && b->x0 < a->x1 && a->y0 < b->y1 && b->y0 < a->y1;
}

static void check_pair(const world_settings *first, const world_settings *second, settings_complaint complain,
                       void *user) {
  zone_rectangle a, b;
  char where[NAME_BYTES + 16], why[NAME_BYTES + 96];
  snprintf(where, sizeof where, "[world %s]", second->name);
  if (!first->zone || !second->zone) return;
  if (first->zone == second->zone) {
    snprintf(why, sizeof why, "zone is %u, which is [world %s]; give each zone a number of its own", second->zone,
             first->name);
    complain(where, why, user);
  } else if (!ground_read_rectangle(first->rectangle, &a) && !ground_read_rectangle(second->rectangle, &b) &&
             overlap(&a, &b)) {
    snprintf(why, sizeof why, "its rectangle overlaps that of [world %s]; each place belongs to one zone", first->name);
    complain(where, why, user);
  }
}

void ground_check(const struct settings *settings, settings_complaint complain, void *user) {
  for (uint32_t i = 0; i < settings->world_count; i++) {
    const world_settings *world = &settings->worlds[i];
    zone_rectangle rectangle;
    char where[NAME_BYTES + 16];
    snprintf(where, sizeof where, "[world %s]", world->name);
    if (world->zone && ground_read_rectangle(world->rectangle, &rectangle)) complain(where, muster_last_error(), user);
    if (!world->zone && *world->rectangle) complain(where, "it has a rectangle and is no zone; add `zone = N`", user);
    for (uint32_t j = 0; j < i; j++) check_pair(&settings->worlds[j], world, complain, user);
  }
}

/* Reaches what is near one that was reached; whether there was any. */
static bool reach_further(const zone_rectangle rectangles[WORLDS_MAX], const bool sound[WORLDS_MAX],
                          bool reached[WORLDS_MAX], double border_m) {
  bool any = false;
  for (uint32_t i = 0; i < WORLDS_MAX; i++)
    for (uint32_t j = 0; sound[i] && reached[i] && j < WORLDS_MAX; j++) {
      if (!sound[j] || reached[j] || gap_between(&rectangles[i], &rectangles[j]) > border_m) continue;
      any = reached[j] = true;
    }
  return any;
}

const world_settings *ground_find_unreached(const struct settings *settings, const world_settings **from) {
  zone_rectangle rectangles[WORLDS_MAX];
  bool sound[WORLDS_MAX] = {0}, reached[WORLDS_MAX] = {0};
  *from = NULL;
  for (uint32_t i = 0; i < settings->world_count; i++) {
    const world_settings *world = &settings->worlds[i];
    sound[i] = world->zone && ground_read_rectangle(world->rectangle, &rectangles[i]) == MUSTER_OK;
    if (!sound[i] || *from) continue;
    *from = world;
    reached[i] = true;
  }
  while (reach_further(rectangles, sound, reached, (double)settings->border_mm * 1e-3)) continue;
  for (uint32_t i = 0; i < settings->world_count; i++)
    if (sound[i] && !reached[i]) return &settings->worlds[i];
  return NULL;
}

/* -------------------------------------------------------------------------------------------------------- questions */

uint32_t ground_target(const zone_ground *ground, double x, double y) {
  if (ground_has(&ground->rectangle, x, y)) return 0;
  double own_m = gap_to_place(&ground->rectangle, x, y), best_m = own_m;
  uint32_t target = 0;
  if (own_m < ground->margin_m) return 0;
  for (uint32_t i = 0; i < ground->neighbour_count; i++) {
    const zone_neighbour *neighbour = &ground->neighbours[i];
    double gap_m = ground_has(&neighbour->rectangle, x, y) ? -1.0 : gap_to_place(&neighbour->rectangle, x, y);
    if (gap_m >= best_m) continue;
    best_m = gap_m;
    target = neighbour->number;
  }
  return target;
}

double ground_distance_m(const zone_neighbour *neighbour, double x, double y) {
  return gap_to_place(&neighbour->rectangle, x, y);
}

bool ground_is_seen(const zone_ground *ground, const zone_neighbour *neighbour, double x, double y) {
  return gap_to_place(&neighbour->rectangle, x, y) <= ground->border_m;
}

zone_rectangle ground_inner(const zone_ground *ground) {
  const zone_rectangle *own = &ground->rectangle;
  double border_m = ground->border_m;
  zone_rectangle inner = {own->x0 + border_m, own->y0 + border_m, own->x1 - border_m, own->y1 - border_m};
  bool any = inner.x0 < inner.x1 && inner.y0 < inner.y1;
  return any ? inner : (zone_rectangle){1e300, 1e300, 2e300, 2e300};
}

const zone_neighbour *ground_neighbour(const zone_ground *ground, uint32_t number) {
  for (uint32_t i = 0; i < ground->neighbour_count; i++)
    if (ground->neighbours[i].number == number) return &ground->neighbours[i];
  return NULL;
}
