/* host.h - a world with a population in it: module, pool and world put together and taken apart in order. */
#ifndef TOOLS_HOST_H
#define TOOLS_HOST_H

#include "base/module_tables.h"

typedef struct host_setup {
  const muster_module *module;
  muster_module_options options; /* the host fills in the values */
  const module_given *given;     /* settings of the module, and how many; not owned */
  uint32_t given_count;
  uint32_t workers;
  muster_world_def world;                           /* the host fills in the pool and what the module needs */
  bool as_defined;                                  /* the pool alone */
  bool (*prepare)(void *user, muster_world *world); /* called with the new world, before it has agents; null = nothing
                                                       to do. False with the reason in muster_last_error() */
  void *prepare_user;
  bool replays;      /* a replay: frames come from a record, and the module's calls change nothing */
  const void *state; /* what the module once saved, and resumes from instead of populating the world; null = nothing */
  size_t state_bytes;
  uint64_t skipped_ns; /* until then */
} host_setup;

/* That module with its own population, in a default world, on one worker. */
host_setup host_default_setup(const muster_module *module);

struct host {
  const muster_module *module;
  void *instance; /* the module's; null when not open */
  muster_module_needs needs;
  muster_pool *pool;
  muster_world *world;
  uint64_t skipped_ns; /* simulation time that the module has let pass beside the frames' own */
  bool replays;
};

/* Opens the module, creates pool and world and populates it. False with the reason in muster_last_error(); nothing is
 * left behind then. */
bool host_open(struct host *host, const host_setup *setup);

/* Takes everything apart; a host that is not open is a no-op. */
void host_close(struct host *host);

/* Runs one frame that brings the world to `sim_now_ns`, later by what the module skips, the module's part before it
 * included, and reads its report. False with the reason in muster_last_error(). */
bool host_run_frame(struct host *host, uint64_t sim_now_ns, uint64_t budget_ns, muster_frame_report *report);

enum { HOST_INTAKE_FRAMES_MAX = 10000 };

/* Whether all requested agents are in, after a frame; callers wait for at most HOST_INTAKE_FRAMES_MAX frames. Births
 * may keep spawns waiting for good, so a population of the requested size counts as in. Herds change wherever observers
 * walk, so their agents count as in when for some frames no more changes waited than the frame made; `calm` counts
 * these and begins as 0. */
bool host_is_in(const struct host *host, const muster_frame_report *report, uint32_t *calm);

enum { HOST_FIGURES_MAX = 64, HOST_FIGURE_NAME_BYTES = 48 };

/* The numbers of a module's report, in its order. */
typedef struct host_figures {
  uint32_t count;
  char names[HOST_FIGURES_MAX][HOST_FIGURE_NAME_BYTES];
  double values[HOST_FIGURES_MAX];
} host_figures;

/* Asks the module; figures beyond the maximum are left out. */
void host_read_figures(const struct host *host, host_figures *figures);

/* The figure of that name, or NaN when there is none. */
double host_figure(const host_figures *figures, const char *name);

#endif
