/* The measures of a row, in two worlds: one in which agents run, and one in which there is nothing to do. */

#include "plain.h"
#include "rounds.h"

#include "base/clock.h"

#include <math.h>

enum {
  ROUND_FRAMES = 30,
  SETTLING_FRAMES = 60,
  RESIDENT_FRAMES = 20,
  WALKING_FRAMES = 300,
  WALKING_FRAMES_QUICK = 30,
  IDLE_FRAMES = 301,
  IDLE_FRAMES_QUICK = 21
};

/* The overhead is measured without a deadline, so that every frame runs what is due in it. */
static const uint64_t ample_ns = 1000000000, usual_ns = 10000000;
static const uint64_t day_ns = 86400000000000u;

static const char out_of_memory[] = "out of memory: ask for fewer agents";

static void show(const scale_setup *setup, const char *doing) {
  if (setup->show) setup->show(doing, setup->user);
}

static square_def def_of(const scale_setup *setup, uint64_t period_ns, uint64_t budget_ns) {
  return (square_def){.agents_max = setup->agents + 1,
                      .observers = setup->observers,
                      .workers = setup->workers,
                      .period_ns = period_ns,
                      .budget_ns = budget_ns};
}

/* --------------------------------------------------------------------------------------------------------- overhead */

/* CPU that all threads spend in frames, and the updates of these frames. */
struct spent {
  uint64_t cpu_ns, updates, score_ns;
};

static bool spend_frame(struct square *square, struct spent *spent) {
  uint64_t begin_ns = work_threads_cpu(&square->threads);
  if (!square_frame(square)) return false;
  spent->cpu_ns += work_threads_cpu(&square->threads) - begin_ns;
  spent->updates += square->report.completed;
  spent->score_ns += square->report.stage_ns[MUSTER_STAGE_SCORE];
  return true;
}

/* Rounds of frames in which all observers stand, then as many updates in the plain loop. */
static bool measure_overhead(struct square *square, plain_loop *loop, const scale_setup *setup, scale_row *row) {
  double overheads_ns[SCALE_ROUNDS_MAX] = {0}, loops_ns[SCALE_ROUNDS_MAX] = {0};
  uint64_t updates = 0;
  plain_run(loop, loop->count);
  for (uint32_t round = 0; round < setup->rounds; round++) {
    struct spent spent = {0};
    for (int i = 0; i < ROUND_FRAMES; i++)
      if (!spend_frame(square, &spent)) return false;
    updates += spent.updates;
    if (spent.updates == 0) continue;
    loops_ns[round] = (double)plain_run(loop, spent.updates) / (double)spent.updates;
    overheads_ns[round] = (double)spent.cpu_ns / (double)spent.updates - loops_ns[round];
  }
  row->updates_per_frame = (double)updates / ((double)setup->rounds * ROUND_FRAMES);
  row->loop_ns_per_update = rounds_median(loops_ns, setup->rounds);
  row->ns_per_update = rounds_median(overheads_ns, setup->rounds);
  row->ns_per_update_lowest = overheads_ns[0]; /* they are in order now */
  row->ns_per_update_highest = overheads_ns[setup->rounds - 1];
  row->ns_per_frame = row->ns_per_update * row->updates_per_frame;
  return true;
}

/* Moving the observers is the host's work; what it leads to is done in the frame. */
static bool measure_walking(struct square *square, const scale_setup *setup, scale_row *row) {
  uint32_t frames = setup->quick ? WALKING_FRAMES_QUICK : WALKING_FRAMES;
  struct spent spent = {0};
  for (uint32_t i = 0; i < SETTLING_FRAMES + frames; i++) {
    if (i == SETTLING_FRAMES) spent = (struct spent){0};
    square_walk(square);
    if (!spend_frame(square, &spent)) return false;
  }
  row->score_ns = (double)spent.score_ns / frames;
  if (spent.updates == 0) return true;
  row->walking_ns_per_update = (double)spent.cpu_ns / (double)spent.updates - row->loop_ns_per_update;
  row->walking_ns_per_frame = row->walking_ns_per_update * (double)spent.updates / frames;
  return true;
}

/* ----------------------------------------------------------------------------------------------------------- memory */

static bool populate_and_weigh(struct square *square, const scale_setup *setup, scale_row *row) {
  square_def def = def_of(setup, square_period(setup->agents), ample_ns);
  muster_statistics statistics = muster_statistics_default();
  double before = (double)scale_bytes_resident(), states = (double)setup->agents * sizeof(creature);
  if (!square_open(square, &def) || !square_populate(square, setup->agents)) return false;
  if (!square_frames(square, RESIDENT_FRAMES)) return false;
  if (muster_statistics_read(square->world, &statistics) != MUSTER_OK) return false;
  row->resident_per_agent = ((double)scale_bytes_resident() - before - states) / setup->agents;
  row->bytes_per_agent = (double)statistics.bytes_scheduling / setup->agents;
  return true;
}

/* ------------------------------------------------------------------------------------------------------------- idle */

/* Even with a period of a day one of many agents is due now and then; such frames do not count. */
static bool measure_idle_frames(struct square *square, const scale_setup *setup, scale_row *row) {
  double walls_ns[IDLE_FRAMES];
  uint32_t count = 0, wanted = setup->quick ? IDLE_FRAMES_QUICK : IDLE_FRAMES;
  if (!square_frames(square, SETTLING_FRAMES)) return false;
  for (uint32_t i = 0; i < 20 * wanted && count < wanted; i++) {
    uint64_t begin_ns = clock_system();
    if (!square_frame(square)) return false;
    walls_ns[count] = (double)(clock_system() - begin_ns);
    bool idle = square->report.completed == 0 && square->report.released == 0;
    if (idle) count++;
  }
  row->idle_frame_ns = rounds_median(walls_ns, count);
  return true;
}

static const char *measure_idle(const scale_setup *setup, scale_row *row) {
  struct square square = {0};
  square_def def = def_of(setup, day_ns, usual_ns);
  show(setup, "idle frames");
  bool done =
      square_open(&square, &def) && square_populate(&square, setup->agents) && measure_idle_frames(&square, setup, row);
  square_close(&square);
  return done ? NULL : square_wrong();
}

/* -------------------------------------------------------------------------------------------------------------- row */

static const char *measure_running(struct square *square, plain_loop *loop, const scale_setup *setup, scale_row *row) {
  show(setup, "populating");
  if (!populate_and_weigh(square, setup, row)) return square_wrong();
  if (!plain_open(loop, square, setup->agents)) return out_of_memory;
  show(setup, "warming up");
  /* Every agent runs once first, so that the world has learnt all about it. */
  if (!square_frames(square, setup->agents / SCALE_UPDATES_PER_FRAME + SETTLING_FRAMES)) return square_wrong();
  show(setup, "overhead");
  if (!measure_overhead(square, loop, setup, row)) return square_wrong();
  show(setup, "observers that walk");
  return measure_walking(square, setup, row) ? NULL : square_wrong();
}

const char *scale_measure(const scale_setup *setup, scale_row *row) {
  struct square square = {0};
  plain_loop loop = {0};
  *row = (scale_row){.agents = setup->agents, .observers = setup->observers, .workers = setup->workers};
  const char *wrong = measure_running(&square, &loop, setup, row);
  plain_close(&loop);
  square_close(&square);
  return wrong ? wrong : measure_idle(setup, row);
}
