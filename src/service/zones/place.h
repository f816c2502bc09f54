/* service/zones/place.h - where a message of one zone to another stands among all that were put, and which version of a
 * zone's files is meant: the epoch of the owner, and a number that it counts from 1. Pure.
 *
 * The epoch of a zone is its fencing token: it is one higher with every owner, also when a zone is handed over, and has
 * 64 bits, of which the highest stays 0 as in etcd's own revisions. A hundred hand-overs a second use them up in three
 * thousand million years. No id of an agent has anything of it: these are of birth spaces (spaces.h). */
#ifndef SERVICE_ZONES_PLACE_H
#define SERVICE_ZONES_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#define ZONE_EPOCH_MAX ((uint64_t)INT64_MAX)

/* Zero: before the first. */
typedef struct zone_place {
  uint64_t epoch, number;
} zone_place;

static inline bool place_is_none(zone_place place) {
  return place.epoch == 0 && place.number == 0;
}

static inline bool place_equal(zone_place left, zone_place right) {
  return left.epoch == right.epoch && left.number == right.number;
}

static inline bool place_is_before(zone_place left, zone_place right) {
  return left.epoch != right.epoch ? left.epoch < right.epoch : left.number < right.number;
}

/* The first that is behind it. */
static inline zone_place place_next(zone_place place) {
  return (zone_place){place.epoch, place.number + 1};
}

#endif
