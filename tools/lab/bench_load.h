/* bench_load.h - a scenario's world in virtual time at a load that is chosen: what all would take at their longest
 * periods, in parts of the capacity. */
#ifndef TOOLS_BENCH_LOAD_H
#define TOOLS_BENCH_LOAD_H

#include "host.h"
#include "idle_watch.h"

#include <muster/view.h>

/* A frame's simulation time: 30 Hz. */
#define LOAD_FRAME_NS 33333333u
#define LOAD_FRAME_S  (LOAD_FRAME_NS * 1e-9)

/* A scenario, and the standard deviation of the logarithms of what its updates cost beside their models; 0: they cost
 * what these say. */
typedef struct load_setup {
  host_setup host;
  double sigma;
} load_setup;

/* A world that runs, and room to see all of it. */
typedef struct load_world {
  struct host host;
  struct varied_costs *varied; /* null: costs do not vary */
  muster_view_agent *shown;
  uint32_t room;
  uint32_t partitions; /* in which agents are: 0 .. partitions - 1 */
  uint64_t now_ns, capacity_ns;
  idle_watch idle;
  uint32_t calm; /* of host_is_in() */
  bool in;       /* all are */
} load_world;

/* A module's population in virtual time, by the default rules. One worker: any number of them comes to the same. */
load_setup load_setup_of(const muster_module *module, uint32_t agents, uint32_t observers, uint64_t seed);

/* Opens it with that capacity. False with the reason in muster_last_error(); to
 * be closed all the same. */
bool load_open(load_world *world, const load_setup *setup, uint64_t capacity_ns);
void load_close(load_world *world);

/* Runs a frame. False with the reason in muster_last_error(). */
bool load_run_frame(load_world *world, muster_frame_report *report);

/* Calls `see` for every agent that has a place, in the order of their ids. */
void load_look(load_world *world, void (*see)(const muster_view_agent *agent, void *user), void *user);

/* Sums over agents of some importance and over the frames of a window; an agent that ran counts in `runs`. */
typedef struct load_sums {
  double seen, runs, rate;
} load_sums;

void load_add(load_sums *sums, const muster_view_agent *agent, bool ran);

/* What they got. */
typedef struct load_band {
  double agents;     /* mean */
  double runs;       /* updates that were completed */
  double interval_s; /* agents x window / runs: agents that never ran count; infinite when none ran */
  double period_s;   /* that the fit gives them: the inverse of the mean rate */
} load_band;

load_band load_sum_up(const load_sums *sums, uint32_t window);

/* Frames to warm up: at twice the load the first run of all agents takes twice as long. */
uint32_t load_warm_up(double load);

/* The time that all agents at the longest period take of a frame, from the pressure of an overloaded world over this
 * many frames; as costs follow the load a little, of a world with a load of about 1. Zero: failed. */
double load_find_wish_ns(const load_setup *setup, uint32_t frames);

#endif
