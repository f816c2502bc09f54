/* The same herds without level of detail: every animal is updated in every cycle. Each herd has its own arrays, kept
 * twice so that all animals see each other as they were in the last cycle. */
#include "scenarios/osborne.h"

#include <stdlib.h>

static const float apart_m = 10.0f; /* animals begin within this distance of their herd's middle, on either axis */

/* The animals of a herd. */
struct band {
  float x[OSBORNE_MEMBERS], y[OSBORNE_MEMBERS]; /* relative to where the herd began */
  float velocity_x[OSBORNE_MEMBERS], velocity_y[OSBORNE_MEMBERS];
};

struct osborne_loop {
  osborne_def def;
  bool vectorised;
  uint32_t cycles;
  muster_position *origins; /* where herds began */
  struct band *seen, *made; /* as of the last cycle; of this one */
};

void osborne_loop_close(osborne_loop *loop) {
  if (!loop) return;
  free(loop->origins);
  free(loop->seen);
  free(loop->made);
  free(loop);
}

static void osborne_loop_begin(const osborne_def *def, uint32_t herd, struct band *band) {
  float velocity_x, velocity_y;
  osborne_herd_velocity(def, herd, &velocity_x, &velocity_y);
  for (uint32_t i = 0; i < OSBORNE_MEMBERS; i++) {
    band->x[i] = apart_m * (2.0f * (float)osborne_share(def, herd, OSBORNE_SHARES + 2 * i) - 1.0f);
    band->y[i] = apart_m * (2.0f * (float)osborne_share(def, herd, OSBORNE_SHARES + 2 * i + 1) - 1.0f);
    band->velocity_x[i] = velocity_x;
    band->velocity_y[i] = velocity_y;
  }
}

osborne_loop *osborne_loop_open(const osborne_def *def, bool vectorised) {
  osborne_loop *loop = calloc(1, sizeof *loop);
  if (!loop) return NULL;
  loop->def = *def;
  loop->vectorised = vectorised;
  loop->origins = calloc(def->herds, sizeof *loop->origins);
  loop->seen = aligned_alloc(64, def->herds * sizeof *loop->seen);
  loop->made = aligned_alloc(64, def->herds * sizeof *loop->made);
  if (!loop->origins || !loop->seen || !loop->made) {
    osborne_loop_close(loop);
    return NULL;
  }
  for (uint32_t herd = 0; herd < def->herds; herd++) {
    loop->origins[herd] = osborne_herd_place(def, herd);
    osborne_loop_begin(def, herd, &loop->seen[herd]);
    loop->made[herd] = loop->seen[herd]; /* touches its memory before the first cycle */
  }
  return loop;
}

static void find_centre(const struct band *band, float *x, float *y) {
  *x = *y = 0.0f;
  for (uint32_t i = 0; i < OSBORNE_MEMBERS; i++) {
    *x += band->x[i];
    *y += band->y[i];
  }
  *x /= OSBORNE_MEMBERS;
  *y /= OSBORNE_MEMBERS;
}

static void run_herd(const osborne_loop *loop, herd_flock_step *step, uint32_t herd) {
  struct band *seen = &loop->seen[herd], *made = &loop->made[herd];
  herd_flock_bodies bodies = {OSBORNE_MEMBERS, seen->x, seen->y, seen->velocity_x, seen->velocity_y, NULL};
  herd_flock_next next = {made->x, made->y, made->velocity_x, made->velocity_y};
  step->origin_x = (float)loop->origins[herd].x;
  step->origin_y = (float)loop->origins[herd].y;
  step->random = herd_mix(herd * 0x9e3779b9u + loop->cycles);
  find_centre(seen, &step->centre_x, &step->centre_y);
  (loop->vectorised ? herd_flock_step_vector : herd_flock_step_scalar)(step, &bodies, &next);
}

void osborne_loop_run(osborne_loop *loop) {
  const herd_ground ground = osborne_ground(&loop->def);
  herd_flock_step step = {.rules = &herd_flock_paper, .ground = &ground, .step_s = (float)OSBORNE_CYCLE_NS * 1e-9f};
  for (uint32_t herd = 0; herd < loop->def.herds; herd++) run_herd(loop, &step, herd);
  struct band *made = loop->made;
  loop->made = loop->seen;
  loop->seen = made;
  loop->cycles++;
}

uint64_t osborne_loop_agents(const osborne_loop *loop) {
  return (uint64_t)loop->def.herds * OSBORNE_MEMBERS;
}

muster_position osborne_loop_place(const osborne_loop *loop, uint64_t animal) {
  uint32_t herd = (uint32_t)(animal / OSBORNE_MEMBERS), member = (uint32_t)(animal % OSBORNE_MEMBERS);
  muster_position origin = loop->origins[herd];
  const struct band *band = &loop->seen[herd];
  return (muster_position){origin.x + (double)band->x[member], origin.y + (double)band->y[member], 0};
}
