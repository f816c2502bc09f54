/* scenarios/scenarios.h - the behaviour modules that ship with Muster: what `muster run` can run by name.
 *
 * Each is written on the public headers alone, exactly as a game would write its own (muster/module.h). The modules
 * live as long as the program; what they open is an instance of its own, so one module can serve several worlds. */
#ifndef SCENARIOS_SCENARIOS_H
#define SCENARIOS_SCENARIOS_H

#include <muster/module.h>

/* `wildlife`: hares, javelinas, groundhogs and bobcats graze, flee, hunt, breed and die in a desert that a camera
 * crosses. Its area follows the wanted number of agents, its density does not. Takes no file. Any thread. */
const muster_module *muster_module_wildlife(void);

/* `population`: the NPCs of a CSV file with a header row, each with the behaviour of its kind. Needs a file. Any
 * thread. */
const muster_module *muster_module_population(void);

/* `tan-wong`: the 100 animats of Tan & Wong's experiments with elastic periods. Takes no file. Any thread. */
const muster_module *muster_module_tan_wong(void);

/* `rankin`: the characters of Rankin, Acton & Katchabaw's experiments, at levels that follow importance. Takes no file.
 * Any thread. */
const muster_module *muster_module_rankin(void);

enum { RANKIN_ROLES = 4, RANKIN_DYNAMIC = 4 /* in place of a level */ };

/* What a smaller world of the same characters is to be, for the experiments. */
typedef struct rankin_def {
  uint32_t characters;
  uint32_t level; /* of everybody; RANKIN_DYNAMIC: by importance */
  uint64_t seed;
  uint64_t period_ns, period_max_ns;
  bool alike;    /* the importance of all is 1/2; else roles count 1/4, 1/2, 3/4 and 1 */
  double side_m; /* of the square that they live in; 0 = all in one place */
} rankin_def;

/* Registers the type and spawns the characters. MUSTER_E_FULL when there is no room. Thread of the frames. */
muster_result rankin_populate(muster_world *world, const rankin_def *def, muster_type *type);

/* What has become of a character. */
typedef struct rankin_life {
  uint32_t role, runs;
} rankin_life;

/* By the state of its agent. Thread of the frames, between frames. */
rankin_life rankin_life_of(const void *state);

/* `fixed`: agents all over a square of 10 km, whose updates all cost the same (the options' cost_ns), among observers
 * that walk. Takes no file. Any thread. */
const muster_module *muster_module_fixed(void);

/* `flashcrowd`: a map of towns, between which a crowd of observers jumps every 10 s, and weather. Takes no file. Any
 * thread. */
const muster_module *muster_module_flashcrowd(void);

/* `empty`: villages that nobody sees for hours, which pass in steps of a minute where the host heeds skip_ns, and then
 * an arrival. Takes no file. Any thread. */
const muster_module *muster_module_empty(void);

/* `hostile`: everything that breaks schedulers, each as an agent type of its own, and invariants that must hold all the
 * same. Takes no file. Any thread. */
const muster_module *muster_module_hostile(void);

#endif
