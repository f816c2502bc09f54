/* service/zones/ground.h - where the zones of a cluster lie on the ground plane: whose a place is, and who sees it.
 * Pure.
 *
 *        zone 1             |          zone 2
 *                           |
 *      seen in 2 |<-border->|<-margin->| a walker from 1 becomes one of 2
 *
 * An agent that walks along a border crosses once: it comes back only a margin beyond the other side. */
#ifndef SERVICE_ZONES_GROUND_H
#define SERVICE_ZONES_GROUND_H

#include "service/settings.h"

enum { NEIGHBOURS_MAX = WORLDS_MAX };

typedef struct zone_rectangle {
  double x0, y0, x1, y1; /* x0 <= x < x1, y0 <= y < y1 */
} zone_rectangle;

typedef struct zone_neighbour {
  uint32_t number;
  zone_rectangle rectangle;
} zone_neighbour;

/* A zone, and those that it touches or sees. */
typedef struct zone_ground {
  uint32_t number;
  zone_rectangle rectangle;
  double border_m, margin_m;
  uint32_t neighbour_count;
  zone_neighbour neighbours[NEIGHBOURS_MAX]; /* by number */
} zone_ground;

/* Reads "X0 Y0 X1 Y1". MUSTER_E_ARGUMENT with what to give. */
muster_result ground_read_rectangle(const char *text, zone_rectangle *rectangle);

/* The ground of a world of the settings, which are checked and sound, and whose zone is not 0. */
void ground_of(const struct settings *settings, const world_settings *world, zone_ground *ground);

/* Complains of zones without a rectangle, with a number twice, or that overlap. */
void ground_check(const struct settings *settings, settings_complaint complain, void *user);

/* The first zone that nobody can walk to from the first one of the settings, `*from`, over zones that see each other;
 * null when all can be reached. Zones without a sound rectangle are left out. */
const world_settings *ground_find_unreached(const struct settings *settings, const world_settings **from);

/* The zone that an agent at a place crosses to; 0 = it stays. Beyond the neighbours it goes to the nearest one, which
 * passes it on. */
uint32_t ground_target(const zone_ground *ground, double x, double y);

/* Whether a neighbour sees this place. */
bool ground_is_seen(const zone_ground *ground, const zone_neighbour *neighbour, double x, double y);

/* How far a place is from the ground of a neighbour; 0 = on it. */
double ground_distance_m(const zone_neighbour *neighbour, double x, double y);

/* Where no neighbour sees an agent, and none crosses; in a zone that is narrower than its two borders that is nowhere,
 * which is a rectangle in which no agent can be. */
zone_rectangle ground_inner(const zone_ground *ground);

/* The neighbour of that number; null when it is none. */
const zone_neighbour *ground_neighbour(const zone_ground *ground, uint32_t number);

#endif
