/* scenarios/scenarios.h - the behaviour modules that are part of Muster's programs: what the papers, the demo and the
 * examples of the service run. `muster run` knows them by name, beside the modules in tests/examples/worlds.
 *
 * Each uses only the public headers, exactly as a game would write its own (muster/module.h). The modules live as long
 * as the program; each open makes an instance of its own, so one module can serve several worlds. */
#ifndef SCENARIOS_SCENARIOS_H
#define SCENARIOS_SCENARIOS_H

#include <muster/herd.h>
#include <muster/module.h>

/* `wildlife`: hares, javelinas, groundhogs and bobcats graze, flee, hunt, breed and die in a desert that a camera
 * crosses. Its area follows the wanted number of agents, its density does not. Takes no file. Any thread. */
const muster_module *muster_module_wildlife(void);

/* `population`: the NPCs of a CSV file with a header row, each with the behaviour of its kind. Needs a file. Any
 * thread. */
const muster_module *muster_module_population(void);

/* `tan-wong`: the 100 animats of Tan & Wong's experiments with elastic periods. Takes no file. Any thread. */
const muster_module *muster_module_tan_wong(void);

enum { TAN_WONG_SPECIES = 4 };

/* The parameters of a species; in the paper they are the same for all. */
typedef struct tan_wong_species {
  uint64_t cost_ns;                  /* of an update in the cost model, +- 2 percent */
  uint64_t period_ns, period_max_ns; /* T_io, T_imax */
  float elasticity;                  /* E_i */
} tan_wong_species;

/* That of the paper. */
extern const tan_wong_species tan_wong_ordinary;

/* Chooses other species for an instance that `open` made, before it populates a world. Snapshots do not keep it. */
void tan_wong_choose(void *instance, const tan_wong_species species[TAN_WONG_SPECIES]);

/* How many updates an animat has had, by the state of its agent. Thread of the frames, between frames. */
uint64_t tan_wong_updates(const void *state);

/* `rankin`: the characters of Rankin, Acton & Katchabaw's experiments, at levels that follow importance. Takes no file.
 * Any thread. */
const muster_module *muster_module_rankin(void);

enum { RANKIN_ROLES = 4, RANKIN_DYNAMIC = 4, RANKIN_BY_ROLE = 5 /* these two in place of a level */ };

/* A smaller world of the same characters, for the experiments. */
typedef struct rankin_def {
  uint32_t characters;
  uint32_t level; /* of all; RANKIN_DYNAMIC: by importance; RANKIN_BY_ROLE: likewise, so that each role has its own */
  uint64_t seed;
  uint64_t period_ns, period_max_ns;
  bool alike;    /* the importance of all is 1/2; else roles count 1/4, 1/2, 3/4 and 1 */
  double side_m; /* of the square that they live in; 0 = all in one place */
} rankin_def;

/* Registers the type and spawns the characters. MUSTER_E_FULL when there is no room. Thread of the frames. */
muster_result rankin_populate(muster_world *world, const rankin_def *def, muster_type *type);

/* The counts and the present state of a character. */
typedef struct rankin_life {
  uint32_t role, runs;
} rankin_life;

/* By the state of its agent. Thread of the frames, between frames. */
rankin_life rankin_life_of(const void *state);

/* `fixed`: agents all over a square of 10 km, whose updates all cost the same (the options' cost_ns), among observers
 * that walk. Takes no file. Any thread. */
const muster_module *muster_module_fixed(void);

/* `pursuit`: the testbed of Wright & Marshall: agents on a torus, each of which follows another one and avoids
 * collisions, with sets of their own periods. Takes no file. Any thread. */
const muster_module *muster_module_pursuit(void);

/* The sets of a pursuer, in their order, and their atoms. */
typedef enum pursuit_set {
  PURSUIT_SEE_TARGET = 0, /* perception: in every update */
  PURSUIT_SEE_NEIGHBOURS, /* perception: every 6 updates, before avoiding */
  PURSUIT_PLAN,           /* behaviour: every 8 updates */
  PURSUIT_FOLLOW,         /* behaviour: every 4 updates */
  PURSUIT_AVOID,          /* behaviour: every 6 updates; cut into several atoms */
  PURSUIT_STEER,          /* action: in every update */
  PURSUIT_SETS
} pursuit_set;

enum { PURSUIT_ATOMS = 10, PURSUIT_UPDATE_NS = 16666667 /* nominal: 60 Hz */ };

/* Is told when an atom begins and when it has ended; the atoms must run on one worker. */
typedef struct pursuit_meter {
  void (*note)(uint32_t atom, bool ended, void *user);
  void *user;
} pursuit_meter;

/* A version of the testbed. */
typedef struct pursuit_version {
  bool every_update;    /* all sets run in every update */
  bool elastic;         /* periods may stretch, up to three times as long */
  bool coarse;          /* computes less than modelled: for the virtual clock, when only the schedule counts */
  uint32_t priority;    /* of the type, for its share of the frame; 0 = none */
  pursuit_meter *meter; /* owned by the caller; null = nothing is measured */
} pursuit_version;

/* Chooses the version of an instance that `open` made, before it populates a world; by default it is elastic, with
 * shares. */
void pursuit_choose(void *instance, const pursuit_version *version);

/* The model cost of an atom: its time when it was last measured with `muster repro wright --measure`. */
uint32_t pursuit_model_ns(uint32_t atom);

/* The set of an atom, and the period and the delay of a set, in updates. */
pursuit_set pursuit_set_of(uint32_t atom);
const char *pursuit_set_name(pursuit_set set);
uint32_t pursuit_period(pursuit_set set);
uint32_t pursuit_delay(pursuit_set set);

/* The same agents with the same callbacks on arrays of their own: run by a plain loop, which goes through all of them
 * in every frame and runs the sets that are due, or by Muster. */
typedef struct pursuit_loop pursuit_loop;

/* Null when memory is refused. `coarse` is as in pursuit_version. */
pursuit_loop *pursuit_loop_open(uint32_t agents, uint64_t seed, bool coarse);
void pursuit_loop_close(pursuit_loop *loop);

/* One frame in the plain loop. */
void pursuit_loop_run(pursuit_loop *loop);

/* The same agents in a world: registers the type of that version and spawns them. Then the caller calls
 * pursuit_loop_begin() before every frame of the world. */
muster_result pursuit_loop_populate(pursuit_loop *loop, const pursuit_version *version, muster_world *world);
void pursuit_loop_begin(pursuit_loop *loop);

/* A hash over all agents: equal when their states are equal. */
uint64_t pursuit_loop_hash(const pursuit_loop *loop);

/* `herd`: deer in herds of 32 on 4 x 4 km, of which only those near an observer are agents, and wolves that hunt them
 * near and far. The wanted number of agents is the number of deer. Takes no file. Any thread. */
const muster_module *muster_module_herd(void);

/* Options of an instance that `open` made, before it populates a world. */
typedef struct herd_choice {
  float visible_m;    /* how far members of herds are visible; default 35 */
  float observer_mps; /* how fast observers walk; default 2 */
  uint32_t wolves;    /* default UINT32_MAX: four, plus one for every 256 herds, at most 64 more */
  uint32_t members;   /* of each herd, in the beginning: 1..32; default 32 */
  float pace;         /* how many times as often deer are born and die; default 1; 0..100 */
} herd_choice;

/* Replaces all options at once. Thread of the frames. */
void herd_choose(void *instance, const herd_choice *choice);

/* Herds of Osborne & Dickinson's experiments: 32 animals each (branching 2, depth 5, zones 50 m apart) that flock with
 * the paper's parameters on a square, once per cycle of 500 ms. */
enum { OSBORNE_MEMBERS = 32, OSBORNE_DEPTH = 5, OSBORNE_ZONES_M = 50, OSBORNE_CYCLE_NS = 500000000 };

typedef struct osborne_def {
  uint32_t herds; /* 1 .. 2^26 */
  double side_m;  /* of the square, whose middle is the origin */
  uint64_t seed;
} osborne_def;

/* What a world needs room for when one observer sees such herds: its agents_max, leaves and blocks together, and the
 * number of herds unfolded at a time. Both are generous. */
uint32_t osborne_agents_max(const osborne_def *def);
uint32_t osborne_unfolded_max(const osborne_def *def);

/* Registers the types and adds the herds; `def` must outlive the world. On failure muster_last_error() says why. Thread
 * of the frames. */
muster_result osborne_populate(muster_world *world, const osborne_def *def, muster_herd_type *type);

/* The same herds without level of detail, and without Muster: all their animals in arrays, herd by herd, by the same
 * kernels. */
typedef struct osborne_loop osborne_loop;

/* Null when memory is refused. `vectorised`: with the kernel that steers eight animals at a time, else with the one
 * that steers one at a time. */
osborne_loop *osborne_loop_open(const osborne_def *def, bool vectorised);
void osborne_loop_close(osborne_loop *loop);

/* Runs one cycle of all animals. */
void osborne_loop_run(osborne_loop *loop);

/* The number of animals, and the place of one. */
uint64_t osborne_loop_agents(const osborne_loop *loop);
muster_position osborne_loop_place(const osborne_loop *loop, uint64_t animal);

#endif
