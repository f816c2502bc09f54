#include "bench_law_run.h"

#include "bench_law_tally.h"

#include <muster/view.h>

#include <math.h>
#include <stdlib.h>

static const double importance_most = 0.9;

/* What is known of an agent from one frame to the next. */
typedef struct law_track {
  uint32_t generation; /* 0 = none */
  float stale_s;       /* as it was seen last */
  float own;           /* periods on its own clock since its last update */
  uint32_t acting;     /* frames for which its actions have waited */
  uint8_t band;
  bool stayed; /* in that band since its last update */
} law_track;

typedef struct law_stays {
  uint64_t seen, runs;
  double interval_s, period_s;
  law_tally ages;
  law_periods periods;
} law_stays;

/* The bound of waits, as report.h has it: over the frames since this began. */
typedef struct law_waits {
  uint64_t turn_ns;
  uint32_t late, completed_least, acting; /* acting: frames for which an agent's actions have waited */
  double nearest, wait_s, bound_s;
  uint32_t beyond;
} law_waits;

typedef struct law_watch {
  bool open; /* the window */
  double important_period_s;
  load_sums important, now, bands[MUSTER_BANDS]; /* `now`: the important in this frame */
  law_waits waits;
  law_tally own, own_exact;
  law_stays stays[MUSTER_BANDS];
  law_track tracks[]; /* by index */
} law_watch;

static uint32_t band_of(float importance) {
  uint32_t band = 0;
  while (band + 1 < MUSTER_BANDS && importance > muster_band_end(band)) band++;
  return band;
}

/* Periods are rounded up to frames: an agent that is due between two frames runs in the second, which does not count as
 * late. */
static void add_own(law_watch *watch, const muster_view_agent *agent, double own) {
  double frames = (double)agent->period_s / LOAD_FRAME_S;
  law_tally_add(&watch->own_exact, own);
  law_tally_add(&watch->own, own * frames / fmax(ceil(frames - 0.001), 1.0));
}

static void add_age(law_stays *stays, const muster_view_agent *agent) {
  stays->seen++;
  law_tally_add(&stays->ages, (double)agent->staleness_s);
  law_periods_add(&stays->periods, (double)agent->period_s);
}

/* The time since the update before, and the period in that time, by the agent's own clock. */
static void add_run(law_stays *stays, const law_track *track, const muster_view_agent *agent, double own) {
  double interval_s = (double)track->stale_s + LOAD_FRAME_S - (double)agent->staleness_s;
  if (own <= 0) return;
  stays->runs++;
  stays->interval_s += interval_s;
  stays->period_s += interval_s / own;
}

/* An agent that is new, or was part of a folded herd, has its own clock from now on; its age is known only if it began
 * just now. */
static void meet(law_track *track, const muster_view_agent *agent, uint32_t band) {
  *track = (law_track){.generation = muster_agent_generation(agent->agent),
                       .stale_s = agent->staleness_s,
                       .band = (uint8_t)band,
                       .stayed = (double)agent->staleness_s < 0.5 * LOAD_FRAME_S};
}

/* An agent ran if its staleness is less than before plus a frame; an update that went on from an earlier frame brings
 * its agent to that frame's time. */
static void see(const muster_view_agent *agent, void *user) {
  law_watch *watch = user;
  law_track *track = &watch->tracks[muster_agent_index(agent->agent)];
  uint32_t band = band_of(agent->importance);
  bool important = (double)agent->importance >= importance_most;
  if (agent->period_s <= 0.0f || (agent->flags & MUSTER_VIEW_QUARANTINED)) {
    track->generation = 0;
    return;
  }
  bool known = track->generation == muster_agent_generation(agent->agent);
  bool ran = known && (double)agent->staleness_s < (double)track->stale_s + 0.5 * LOAD_FRAME_S;
  if (!known) meet(track, agent, band);
  if (known) track->own += (float)LOAD_FRAME_S / agent->period_s;
  if (band != track->band) track->stayed = false;
  track->acting = agent->flags & MUSTER_VIEW_ACTING ? track->acting + 1 : 0;
  if (track->acting > watch->waits.acting) watch->waits.acting = track->acting;
  if (important) load_add(&watch->now, agent, ran);
  float left = agent->staleness_s / agent->period_s;
  if (watch->open) {
    load_add(&watch->bands[band], agent, ran);
    double own = fmax((double)track->own - (double)left, 0.0);
    if (important && ran) add_own(watch, agent, own);
    if (ran && track->stayed) add_run(&watch->stays[band], track, agent, own);
  }
  if (ran) {
    track->own = left;
    track->stayed = true;
  }
  track->band = (uint8_t)band;
  if (watch->open && track->stayed) add_age(&watch->stays[band], agent);
  track->stale_s = agent->staleness_s;
}

/* Frames in which nothing waited say nothing of how many fit. */
static void watch_waits(law_waits *waits, const muster_frame_report *report) {
  if (report->turn_longest_ns > waits->turn_ns) waits->turn_ns = report->turn_longest_ns;
  if (report->agents_late > waits->late) waits->late = report->agents_late;
  if (report->carried && report->completed < waits->completed_least) waits->completed_least = report->completed;
  double rounds = ceil((double)waits->late / fmax(waits->completed_least, 1));
  double bound_s = (double)waits->turn_ns * 1e-9 + (rounds + 1) * LOAD_FRAME_S;
  double wait_s = fmax((double)report->longest_wait_ns * 1e-9, waits->acting * LOAD_FRAME_S);
  waits->acting = 0;
  if (wait_s > bound_s) waits->beyond++;
  if (wait_s / bound_s <= waits->nearest) return;
  waits->nearest = wait_s / bound_s;
  waits->wait_s = wait_s;
  waits->bound_s = bound_s;
}

static bool run_frame(load_world *world, law_watch *watch, muster_frame_report *report) {
  if (!load_run_frame(world, report)) return false;
  watch->now = (load_sums){0};
  load_look(world, see, watch);
  if (watch->now.seen > 0) watch->important_period_s = watch->now.seen / watch->now.rate;
  watch_waits(&watch->waits, report);
  return true;
}

/* Runs until all agents are in, and each has had its turn. */
static bool warm_up(load_world *world, law_watch *watch, law_cell *cell, uint64_t *turn_ns) {
  muster_frame_report report;
  uint32_t least = load_warm_up(cell->pressure);
  uint64_t in_ns = 0;
  *turn_ns = 0;
  do {
    if (!run_frame(world, watch, &report)) return false;
    if (!world->in) in_ns = world->now_ns;
    if (report.turn_longest_ns > *turn_ns) *turn_ns = report.turn_longest_ns;
    cell->warm_up++;
  } while (cell->warm_up < least || world->now_ns < in_ns + *turn_ns);
  return true;
}

static void sum_up(const law_watch *watch, law_cell *cell) {
  cell->important = load_sum_up(&watch->important, cell->window);
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) {
    cell->bands[i] = load_sum_up(&watch->bands[i], cell->window);
    const law_stays *stays = &watch->stays[i];
    cell->stays[i] = (law_stay){.agents = (double)stays->seen / cell->window,
                                .p99_s = law_tally_quantile(&stays->ages, 0.99),
                                .lawful_p99_s = law_periods_age(&stays->periods, 0.99),
                                .runs = (double)stays->runs,
                                .interval_s = stays->interval_s / (double)stays->runs,
                                .period_s = stays->period_s / (double)stays->runs};
  }
  cell->own_p50 = law_tally_quantile(&watch->own, 0.5);
  cell->own_p99 = law_tally_quantile(&watch->own, 0.99);
  cell->own_exact_p50 = law_tally_quantile(&watch->own_exact, 0.5);
  cell->own_exact_p99 = law_tally_quantile(&watch->own_exact, 0.99);
  cell->wait_s = watch->waits.wait_s;
  cell->wait_bound_s = watch->waits.bound_s;
  cell->waits_beyond = watch->waits.beyond;
}

static void add_to_means(law_cell *cell, const muster_frame_report *report) {
  cell->agents += (double)report->agents / cell->window;
  cell->pressure += (double)report->pressure / cell->window;
  cell->important_load += (double)report->important_load / cell->window;
  cell->deviation_s += report->period_deviation_ns * 1e-9 / cell->window;
}

/* The window is long enough for each agent to have its turn once more, and for important agents to run twice. */
static bool watch_cell(load_world *world, law_watch *watch, double load, uint32_t window_least, law_cell *cell) {
  static const double times = 2;
  muster_frame_report report;
  uint64_t turn_ns;
  *cell = (law_cell){.pressure = load};
  if (!warm_up(world, watch, cell, &turn_ns)) return false;
  cell->pressure = 0;
  double window_s = fmax((double)turn_ns * 1e-9, times * watch->important_period_s);
  cell->window = (uint32_t)fmax(window_least, ceil(window_s / LOAD_FRAME_S));
  watch->open = true;
  for (uint32_t i = 0; i < cell->window; i++) {
    if (!run_frame(world, watch, &report)) return false;
    watch->important.seen += watch->now.seen;
    watch->important.runs += watch->now.runs;
    watch->important.rate += watch->now.rate;
    add_to_means(cell, &report);
  }
  sum_up(watch, cell);
  return true;
}

static law_watch *watch_open(uint32_t room) {
  law_watch *watch = calloc(1, sizeof *watch + room * sizeof *watch->tracks);
  if (!watch) {
    muster_module_fail(MUSTER_E_MEMORY, "out of memory");
    return NULL;
  }
  watch->own.width = watch->own_exact.width = 1.0 / 256;
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) watch->stays[i].ages.width = LOAD_FRAME_S;
  watch->waits.completed_least = UINT32_MAX;
  return watch;
}

const char *law_measure(const load_setup *setup, double wish_ns, double times, uint32_t window_least, law_cell *cell) {
  load_world world;
  law_watch *watch = NULL;
  bool ran = load_open(&world, setup, (uint64_t)llround(wish_ns / times));
  if (ran) ran = (watch = watch_open(world.room)) && watch_cell(&world, watch, times, window_least, cell);
  cell->idle_frames = world.idle.frames;
  cell->idle_windows = world.idle.usage.faults;
  free(watch);
  load_close(&world);
  return ran ? NULL : muster_last_error();
}
