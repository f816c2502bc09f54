/* zones_api.c - muster/zone.h. */
#include "base/error.h"
#include "world/guard.h"

#include <muster/zone.h>

static muster_result not_yet(const muster_world *world, const char *what) {
  muster_result result = guard_between(world, what);
  return result ? result : error_set(MUSTER_E_STATE, "%s: this world is no zone", what);
}

muster_result muster_zone_read(const muster_world *world, muster_zone_def *zone) {
  if (!world || !zone) return error_missing("zone", world ? "zone" : "world");
  if (!world->def.zone.number) return error_set(MUSTER_E_STATE, "zone: this world is none");
  *zone = world->def.zone;
  return MUSTER_OK;
}
muster_result muster_zone_set_epoch(muster_world *world, uint32_t epoch) {
  (void)epoch;
  return not_yet(world, "zone epoch");
}
muster_result muster_agent_hop(const muster_world *world, muster_agent agent, uint32_t *hop) {
  (void)agent;
  (void)hop;
  return not_yet(world, "hop");
}
muster_result muster_zone_status_read(const muster_world *world, muster_zone_status *status) {
  (void)status;
  return not_yet(world, "zone status");
}
muster_result muster_agent_depart(muster_world *world, muster_agent agent, uint32_t to, muster_zone_put put,
                                  void *user) {
  (void)agent;
  (void)to;
  (void)put;
  (void)user;
  return not_yet(world, "departure");
}
muster_result muster_agent_arrive(muster_world *world, const void *bytes, size_t count, muster_agent *agent) {
  (void)bytes;
  (void)count;
  (void)agent;
  return not_yet(world, "arrival");
}
muster_result muster_agent_packed(const void *bytes, size_t count, muster_agent *agent, uint32_t *hop) {
  (void)count;
  (void)hop;
  (void)agent;
  return error_missing("packed agent", bytes ? "agent" : "bytes");
}
muster_result muster_agent_left(muster_world *world, muster_agent agent, uint32_t hop, uint32_t to) {
  (void)agent;
  (void)hop;
  (void)to;
  return not_yet(world, "departure");
}
muster_result muster_ghosts_pack(const muster_world *world, const muster_agent *agents, uint32_t count,
                                 muster_zone_put put, void *user) {
  (void)agents;
  (void)count;
  (void)put;
  (void)user;
  return not_yet(world, "ghosts");
}
muster_result muster_ghosts_set(muster_world *world, uint32_t from, const void *bytes, size_t count, bool whole) {
  (void)from;
  (void)bytes;
  (void)count;
  (void)whole;
  return not_yet(world, "ghosts");
}
bool muster_agent_is_ghost(const muster_world *world, muster_agent agent) {
  (void)world;
  (void)agent;
  return false;
}
uint32_t muster_zone_messages(muster_world *world, void (*take)(const muster_zone_message *message, void *user),
                              void *user) {
  (void)take;
  (void)user;
  return not_yet(world, "messages") ? 0 : 0;
}
muster_result muster_zone_deliver(muster_world *world, const muster_zone_message *message) {
  (void)message;
  return not_yet(world, "message");
}
muster_result muster_herd_depart(muster_world *world, muster_herd herd, uint32_t to, muster_zone_put put, void *user) {
  (void)herd;
  (void)to;
  (void)put;
  (void)user;
  return not_yet(world, "departure");
}
muster_result muster_herd_arrive(muster_world *world, const void *bytes, size_t count, muster_herd *herd) {
  (void)bytes;
  (void)count;
  (void)herd;
  return not_yet(world, "arrival");
}
