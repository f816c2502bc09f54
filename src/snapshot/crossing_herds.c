/* crossing_herds.c - a folded herd as bytes, and back. */
#include "base/error.h"
#include "snapshot/crossing.h"

muster_result muster_herd_depart(muster_world *world, muster_herd herd, uint32_t to, muster_zone_put put, void *user) {
  (void)herd;
  (void)to;
  (void)put;
  (void)user;
  muster_result result = zone_check(world, "departure", false);
  return result ? result : error_set(MUSTER_E_STATE, "departure: herds do not cross yet");
}

muster_result muster_herd_arrive(muster_world *world, const void *bytes, size_t count, muster_herd *herd) {
  (void)bytes;
  (void)count;
  (void)herd;
  muster_result result = zone_check(world, "arrival", false);
  return result ? result : error_set(MUSTER_E_STATE, "arrival: herds do not cross yet");
}

bool crossing_repeat_herd(struct muster_world *world, const zone_call *call, const void *bytes, size_t count) {
  (void)world;
  (void)call;
  (void)bytes;
  (void)count;
  return false;
}
