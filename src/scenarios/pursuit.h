/* scenarios/pursuit.h - the testbed of Wright & Marshall: agents on a torus, each of which follows another one and
 * avoids collisions with all.
 *
 *     pursuit.c         the module: the torus, the agents, the observers
 *     pursuit_sets.c    the sets of an agent, as Muster runs them
 *     pursuit_think.c   what the sets compute, without Muster: how to follow, avoid, plan and steer
 *     pursuit_loop.c    the same in a plain loop on arrays, to compare with
 *     pursuit_report.c  the numbers of the world
 *
 * An agent is updated 60 times a second. It sees its target and moves in every update; following, avoiding and planning
 * have periods of 4, 6 and 8 updates, and delays of 0, 1 and 2, so that no two of one agent ever coincide. But all
 * agents begin in the same frame: their avoidings do coincide.
 *
 * Agents see each other as Muster's neighbour queries do, which know no torus: an agent near the seam does not see
 * agents just across it, except the one that it follows. */
#ifndef SCENARIOS_PURSUIT_H
#define SCENARIOS_PURSUIT_H

#include "scenarios/scaffold.h"
#include "scenarios/scenarios.h"

#include <muster/sets.h>

enum {
  PURSUIT_SIGHTS = 16,     /* the most neighbours that an agent takes in */
  PURSUIT_AVOID_ATOMS = 5, /* the slices of avoiding */
  PURSUIT_HEADINGS = 25,   /* 250 manoeuvres are weighed: each of these with each of the speeds */
  PURSUIT_SPEEDS = 10
};

/* What an agent can do. */
extern const float pursuit_speed_max_mps, pursuit_acceleration_mps2, pursuit_turn_rps;
extern const float pursuit_sight_m; /* how far it sees others */
extern const float pursuit_touch_m; /* two that are nearer to each other collide */

/* What others see of an agent, beside where it is. */
typedef struct pursuit_face {
  float heading; /* radians, 0 .. 2 pi */
  float speed_mps;
} pursuit_face;

/* A nearby agent, relative to the agent that sees it. */
typedef struct pursuit_sight {
  float x, y;                   /* m */
  float velocity_x, velocity_y; /* m/s, not relative */
} pursuit_sight;

/* How punctual a set of one agent was. Only Muster knows when its first run is due: the others are counted from there.
 */
typedef struct pursuit_tally {
  uint32_t due; /* the number of runs that were due by its last run */
  uint32_t runs;
  uint32_t late; /* of these, runs in a later frame than the one in which they were due */
  uint32_t next; /* the update in which it is due next; 0 = it never ran */
} pursuit_tally;

/* The private state of an agent. Angles are in radians; places are relative to its own, in m. */
typedef struct pursuit_body {
  muster_agent target;
  uint64_t pass_ns; /* simulation time of the frame in which its latest update began */
  double walked_m;
  float target_x, target_y, target_heading, target_speed;
  float lead_s;                      /* how far ahead of the target's motion it aims */
  float aim_heading, aim_speed;      /* what following wants */
  float dodge_heading, dodge_speed;  /* added to these by avoiding */
  float best_heading, best_speed;    /* of the best manoeuvre weighed so far */
  float best_cost;                   /* the cost of that manoeuvre */
  uint32_t seen;                     /* neighbours that it knows of */
  uint32_t updates;                  /* the updates that it began */
  uint32_t looks, touches, breaches; /* at neighbours; of these, at a collision; of a limit of motion */
  pursuit_tally tallies[PURSUIT_SETS];
  uint32_t number;
  pursuit_sight sights[PURSUIT_SIGHTS];
} pursuit_body;

/* Worlds are hashed byte by byte: no padding. */
_Static_assert(sizeof(pursuit_body) == 96 + 16 * PURSUIT_SETS + 16 * PURSUIT_SIGHTS, "pursuit_body has padding");

/* One opened scenario. */
typedef struct pursuit {
  scaffold base;
  double side_m; /* the torus spans 0 .. side_m in x and y */
  pursuit_version version;
  muster_type type;
  muster_agent *ids; /* of all agents, in the order of their numbers */
} pursuit;

/* -------------------------------------------------------------------------------------------------------- the torus */

/* A coordinate on the torus, 0 <= it < side_m. */
double pursuit_wrap(double side_m, double value);

/* The shortest way from one coordinate to another. */
double pursuit_way(double side_m, double from, double to);

/* A place and a motion that depend on the seed and the number of an agent alone, and the agent that it follows: any but
 * itself, if there is another. */
muster_position pursuit_first_place(uint64_t seed, uint32_t number, double side_m);
pursuit_face pursuit_first_face(uint64_t seed, uint32_t number);
uint32_t pursuit_first_target(uint64_t seed, uint32_t number, uint32_t agents);

/* The side of a torus for so many agents. */
double pursuit_side_m(uint32_t agents);

/* ------------------------------------------------------------------------------------------------- what the sets do */

/* Takes in a neighbour at that place, which may be beyond the seam. */
void pursuit_notice(pursuit_body *self, double side_m, muster_position own, muster_position other,
                    const pursuit_face *face);

/* Aims at the target: behind the place where it is going to be. */
void pursuit_follow(pursuit_body *self, const pursuit_face *own);

/* Weighs the manoeuvres of one slice, 0 .. PURSUIT_AVOID_ATOMS - 1, by simulating the next two seconds of each; the
 * last slice takes the best of all. When coarse: only one manoeuvre, straight on. */
void pursuit_avoid(pursuit_body *self, const pursuit_face *own, uint32_t slice, bool coarse);

/* Chooses how far ahead of the target to aim, by simulating the next seconds for several choices. When coarse: for
 * one. */
void pursuit_plan(pursuit_body *self, const pursuit_face *own, bool coarse);

/* Turns, accelerates and walks for that time, within the limits. Writes the new published state. Returns the new
 * place. */
muster_position pursuit_steer(pursuit_body *self, pursuit_face *face, muster_position place, double side_m,
                              float elapsed_s);

/* ------------------------------------------------------------------------------------------------------- as sets */

/* Registers the type of a version with a world. Thread of the frames, between frames. */
muster_result pursuit_register(void *instance, muster_world *world);

/* A callback for each atom. */
typedef muster_atom_result (*pursuit_callback)(muster_update *update);

/* What the definition of a type points at. */
typedef struct pursuit_parts {
  muster_set_def sets[PURSUIT_SETS];
  muster_atom atoms[PURSUIT_ATOMS];
} pursuit_parts;

/* The definition of a version's type with these callbacks, good for as long as `parts`. */
muster_type_def pursuit_define(const pursuit_version *version, const pursuit_callback callbacks[PURSUIT_ATOMS],
                               pursuit_parts *parts);

/* Defines the callback of an atom, which is not told which atom it is: one call on `update`. */
#define PURSUIT_CALLBACK(name, call)                                                                                   \
  static muster_atom_result name(muster_update *update) {                                                              \
    call;                                                                                                              \
    return MUSTER_ATOM_NEXT;                                                                                           \
  }

/* The report: the numbers of the world. */
extern const scaffold_line pursuit_lines[];

/* Counts an agent in; thread of the frames. */
void pursuit_count(const scaffold_look *look);

/* What the sums come to; thread of the frames. */
void pursuit_conclude(const scaffold_look *look);

#endif
