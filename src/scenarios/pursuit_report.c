#include "scenarios/pursuit.h"

#include <math.h>
#include <stdio.h>

/* Sums over all agents. */
typedef struct census {
  uint32_t agents, outside;
  double distance_m, walked_m, speed_mps;
  uint64_t updates, looks, touches, breaches;
  uint64_t due[PURSUIT_SETS], runs[PURSUIT_SETS], late[PURSUIT_SETS];
} census;

static bool is_outside(const pursuit *self, muster_position place) {
  return place.x < 0.0 || place.x >= self->side_m || place.y < 0.0 || place.y >= self->side_m;
}

static double distance_to(const pursuit *self, const muster_world *world, muster_position from, muster_agent target) {
  muster_agent_info info = muster_default_agent_info();
  if (muster_agent_read(world, target, &info) != MUSTER_OK) return 0.0;
  return hypot(pursuit_way(self->side_m, from.x, info.position.x), pursuit_way(self->side_m, from.y, info.position.y));
}

static void pursuit_report_count_one(const pursuit *self, const muster_world *world, const muster_agent_info *info,
                                     census *sums) {
  const pursuit_body *body = info->state;
  sums->agents++;
  sums->outside += is_outside(self, info->position);
  sums->distance_m += distance_to(self, world, info->position, body->target);
  sums->walked_m += body->walked_m;
  sums->speed_mps += (double)((const pursuit_face *)info->published)->speed_mps;
  sums->updates += body->updates;
  sums->looks += body->looks;
  sums->touches += body->touches;
  sums->breaches += body->breaches;
  for (uint32_t set = 0; set < PURSUIT_SETS; set++) {
    sums->due[set] += body->tallies[set].due;
    sums->runs[set] += body->tallies[set].runs;
    sums->late[set] += body->tallies[set].late;
  }
}

static census pursuit_report_take_census(const pursuit *self, const muster_world *world) {
  census sums = {0};
  muster_agent_info info = muster_default_agent_info();
  for (muster_agent agent = muster_agent_next(world, (muster_agent){0, 0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(world, agent))
    if (muster_agent_read(world, agent, &info) == MUSTER_OK && info.active)
      pursuit_report_count_one(self, world, &info, &sums);
  return sums;
}

/* A number of one set; blanks in names of sets become underscores. */
static void emit_of_set(muster_module_emit emit, void *emit_user, pursuit_set set, const char *what, uint64_t value) {
  char name[64];
  snprintf(name, sizeof name, "%s_%s", pursuit_set_name(set), what);
  for (char *letter = name; *letter; letter++)
    if (*letter == ' ') *letter = '_';
  emit(name, (double)value, emit_user);
}

void pursuit_report(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user) {
  const pursuit *self = instance;
  census sums = pursuit_report_take_census(self, world);
  double agents = sums.agents ? sums.agents : 1;
  emit("pursuers", sums.agents, emit_user);
  emit("simulated_s", (double)(self->frame_ns - self->begin_ns) * 1e-9, emit_user);
  emit("target_distance_m", sums.distance_m / agents, emit_user);
  emit("speed_mps", sums.speed_mps / agents, emit_user);
  emit("walked_m", sums.walked_m, emit_user);
  emit("updates", (double)sums.updates, emit_user);
  emit("neighbours_seen", (double)sums.looks, emit_user);
  emit("collisions_seen", (double)sums.touches, emit_user);
  for (uint32_t set = 0; set < PURSUIT_SETS; set++) {
    emit_of_set(emit, emit_user, (pursuit_set)set, "due", sums.due[set]);
    emit_of_set(emit, emit_user, (pursuit_set)set, "runs", sums.runs[set]);
    emit_of_set(emit, emit_user, (pursuit_set)set, "late", sums.late[set]);
  }
  emit("outside", sums.outside, emit_user);
  emit("violations", (double)(sums.breaches + sums.outside), emit_user);
}
