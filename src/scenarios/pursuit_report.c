#include "scenarios/pursuit.h"

#include <math.h>

/* Sums over all agents: the walk of a report is over those that are active. */
typedef struct census {
  uint32_t agents, outside;
  double distance_m, speed_mps;
  uint64_t breaches, violations;
} census;

static double distance_to(const pursuit *self, const muster_world *world, muster_position from, muster_agent target) {
  muster_agent_info info = muster_agent_info_default();
  if (muster_agent_read(world, target, &info) != MUSTER_OK) return 0.0;
  return hypot(pursuit_way(self->side_m, from.x, info.position.x), pursuit_way(self->side_m, from.y, info.position.y));
}

void pursuit_count(const scaffold_look *look) {
  const pursuit *self = look->instance;
  const pursuit_body *body = look->info.state;
  const muster_position place = look->info.position;
  census *sums = look->sums;
  sums->agents++;
  sums->outside += place.x < 0.0 || place.x >= self->side_m || place.y < 0.0 || place.y >= self->side_m;
  sums->distance_m += distance_to(self, look->world, place, body->target);
  sums->speed_mps += (double)((const pursuit_face *)look->info.published)->speed_mps;
  sums->breaches += body->breaches;
}

void pursuit_conclude(const scaffold_look *look) {
  census *sums = look->sums;
  double agents = sums->agents ? sums->agents : 1;
  sums->distance_m /= agents;
  sums->speed_mps /= agents;
  sums->violations = sums->breaches + sums->outside;
}

#define SET(name, set)                                                                                                 \
  SCAFFOLD_SUM(name "_due", pursuit_body, tallies[set].due),                                                           \
      SCAFFOLD_SUM(name "_runs", pursuit_body, tallies[set].runs),                                                     \
      SCAFFOLD_SUM(name "_late", pursuit_body, tallies[set].late)

const scaffold_line pursuit_lines[] = {SCAFFOLD_FOUND("pursuers", census, agents),
                                       SCAFFOLD_SECONDS("simulated_s"),
                                       SCAFFOLD_FOUND("target_distance_m", census, distance_m),
                                       SCAFFOLD_FOUND("speed_mps", census, speed_mps),
                                       SCAFFOLD_SUM("walked_m", pursuit_body, walked_m),
                                       SCAFFOLD_SUM("updates", pursuit_body, updates),
                                       SCAFFOLD_SUM("neighbours_seen", pursuit_body, looks),
                                       SCAFFOLD_SUM("collisions_seen", pursuit_body, touches),
                                       SET("see_target", PURSUIT_SEE_TARGET),
                                       SET("see_neighbours", PURSUIT_SEE_NEIGHBOURS),
                                       SET("plan", PURSUIT_PLAN),
                                       SET("follow", PURSUIT_FOLLOW),
                                       SET("avoid", PURSUIT_AVOID),
                                       SET("steer", PURSUIT_STEER),
                                       SCAFFOLD_FOUND("outside", census, outside),
                                       SCAFFOLD_FOUND("violations", census, violations),
                                       {0}};
