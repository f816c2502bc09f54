/* The testbed on arrays of its own, so that a plain loop and Muster can run the same callbacks on the same memory. What
 * others see is kept twice and changes places between frames, as published state does. Neighbours are found by looking
 * at all agents, as a loop of some hundred agents does. */
#include "scenarios/pursuit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What others see of an agent, including its place. */
typedef struct loop_face {
  muster_position place;
  pursuit_face face;
} loop_face;

struct pursuit_loop {
  uint32_t agents, frames;
  bool coarse;
  double side_m;
  uint32_t *targets;
  pursuit_body *bodies;
  loop_face *seen, *made; /* as of the last frame; of this one */
};

static const float update_s = (float)PURSUIT_UPDATE_NS * 1e-9f;

void pursuit_loop_close(pursuit_loop *loop) {
  if (!loop) return;
  free(loop->targets);
  free(loop->bodies);
  free(loop->seen);
  free(loop->made);
  free(loop);
}

pursuit_loop *pursuit_loop_open(uint32_t agents, uint64_t seed, bool coarse) {
  pursuit_loop *loop = calloc(1, sizeof *loop);
  if (!loop) return NULL;
  loop->agents = agents;
  loop->coarse = coarse;
  loop->side_m = pursuit_side_m(agents);
  loop->targets = calloc(agents, sizeof *loop->targets);
  loop->bodies = calloc(agents, sizeof *loop->bodies);
  loop->seen = calloc(agents, sizeof *loop->seen);
  loop->made = calloc(agents, sizeof *loop->made);
  if (!loop->targets || !loop->bodies || !loop->seen || !loop->made) {
    pursuit_loop_close(loop);
    return NULL;
  }
  for (uint32_t i = 0; i < agents; i++) {
    loop->targets[i] = pursuit_first_target(seed, i, agents);
    loop->made[i] = (loop_face){pursuit_first_place(seed, i, loop->side_m), pursuit_first_face(seed, i)};
  }
  return loop;
}

/* An agent carries its own motion over from one frame to the next. */
void pursuit_loop_begin(pursuit_loop *loop) {
  loop_face *made = loop->made;
  loop->made = loop->seen;
  loop->seen = made;
  memcpy(loop->made, loop->seen, loop->agents * sizeof *loop->made);
  loop->frames++;
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static void pursuit_loop_see_target(const pursuit_loop *loop, uint32_t agent) {
  const loop_face *own = &loop->seen[agent], *target = &loop->seen[loop->targets[agent]];
  pursuit_body *body = &loop->bodies[agent];
  body->target_x = (float)pursuit_way(loop->side_m, own->place.x, target->place.x);
  body->target_y = (float)pursuit_way(loop->side_m, own->place.y, target->place.y);
  body->target_heading = target->face.heading;
  body->target_speed = target->face.speed_mps;
  body->updates++;
}

static void pursuit_loop_see_neighbours(const pursuit_loop *loop, uint32_t agent) {
  const double sight_m = (double)pursuit_sight_m;
  const loop_face *own = &loop->seen[agent];
  pursuit_body *body = &loop->bodies[agent];
  body->seen = 0;
  for (uint32_t i = 0; i < loop->agents && body->seen < PURSUIT_SIGHTS; i++) {
    double x = pursuit_way(loop->side_m, own->place.x, loop->seen[i].place.x);
    double y = pursuit_way(loop->side_m, own->place.y, loop->seen[i].place.y);
    if (i != agent && x * x + y * y < sight_m * sight_m)
      pursuit_notice(body, loop->side_m, own->place, loop->seen[i].place, &loop->seen[i].face);
  }
  body->looks += body->seen;
}

static void plan(const pursuit_loop *loop, uint32_t agent) {
  pursuit_plan(&loop->bodies[agent], &loop->seen[agent].face, loop->coarse);
}

static void follow(const pursuit_loop *loop, uint32_t agent) {
  pursuit_follow(&loop->bodies[agent], &loop->seen[agent].face);
}

static void avoid(const pursuit_loop *loop, uint32_t agent, uint32_t slice) {
  pursuit_avoid(&loop->bodies[agent], &loop->seen[agent].face, slice, loop->coarse);
}

static void steer(const pursuit_loop *loop, uint32_t agent) {
  loop_face *made = &loop->made[agent];
  made->place = pursuit_steer(&loop->bodies[agent], &made->face, made->place, loop->side_m, update_s);
}

/* --------------------------------------------------------------------------------------------------- the plain loop */

static bool is_due(uint32_t time, pursuit_set set) {
  return time % pursuit_period(set) == pursuit_delay(set);
}

void pursuit_loop_run(pursuit_loop *loop) {
  uint32_t time = loop->frames;
  bool looks = is_due(time, PURSUIT_SEE_NEIGHBOURS), plans = is_due(time, PURSUIT_PLAN);
  bool follows = is_due(time, PURSUIT_FOLLOW), avoids = is_due(time, PURSUIT_AVOID);
  pursuit_loop_begin(loop);
  for (uint32_t i = 0; i < loop->agents; i++) {
    pursuit_loop_see_target(loop, i);
    if (looks) pursuit_loop_see_neighbours(loop, i);
    if (plans) plan(loop, i);
    if (follows) follow(loop, i);
    for (uint32_t slice = 0; avoids && slice < PURSUIT_AVOID_ATOMS; slice++) avoid(loop, i, slice);
    steer(loop, i);
  }
}

/* ----------------------------------------------------------------------------------------------- the same by Muster */

/* The loop and the number of the agent. */
#define AGENT_OF(update) (update)->type_user, (uint32_t)(uintptr_t)(update)->user
PURSUIT_CALLBACK(run_see_target, pursuit_loop_see_target(AGENT_OF(update)))
PURSUIT_CALLBACK(run_see_neighbours, pursuit_loop_see_neighbours(AGENT_OF(update)))
PURSUIT_CALLBACK(run_plan, plan(AGENT_OF(update)))
PURSUIT_CALLBACK(run_follow, follow(AGENT_OF(update)))
PURSUIT_CALLBACK(run_avoid_1, avoid(AGENT_OF(update), 0))
PURSUIT_CALLBACK(run_avoid_2, avoid(AGENT_OF(update), 1))
PURSUIT_CALLBACK(run_avoid_3, avoid(AGENT_OF(update), 2))
PURSUIT_CALLBACK(run_avoid_4, avoid(AGENT_OF(update), 3))
PURSUIT_CALLBACK(run_avoid_5, avoid(AGENT_OF(update), 4))
PURSUIT_CALLBACK(run_steer, steer(AGENT_OF(update)))

muster_result pursuit_loop_populate(pursuit_loop *loop, const pursuit_version *version, muster_world *world) {
  static const pursuit_callback callbacks[PURSUIT_ATOMS] = {
      run_see_target, run_see_neighbours, run_plan,    run_follow,  run_avoid_1,
      run_avoid_2,    run_avoid_3,        run_avoid_4, run_avoid_5, run_steer};
  pursuit_parts parts;
  muster_type_def def = pursuit_define(version, callbacks, &parts);
  muster_type type;
  def.user = loop;
  muster_result result = scaffold_register(world, &def, &type);
  for (uint32_t i = 0; i < loop->agents && !result; i++) {
    muster_agent_def agent = scaffold_agent(type, (muster_position){0, 0, 0}, NULL);
    agent.user = (void *)(uintptr_t)i;
    result = scaffold_spawn(world, &agent, NULL);
  }
  return result;
}

/* FNV-1a over what was made last. */
uint64_t pursuit_loop_hash(const pursuit_loop *loop) {
  uint64_t hash = 0xcbf29ce484222325u;
  const unsigned char *bytes = (const unsigned char *)loop->made;
  for (size_t i = 0; i < loop->agents * sizeof *loop->made; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}
