#include "cores_model.h"

#include "pool/ticket.h"
#include "pool/worker.h"
#include "world/section.h"
#include "world/serial.h"

#include <math.h>

/* How long a helper without work looks for some before it sleeps; as in pool/worker.c, less after long sleeps. */
static const double spin_most_ns = 16000, spin_least_ns = 4000;

/* A helper, or the caller among those who take work. */
typedef struct taker {
  double at;   /* when it looks for work next; of a helper that is not called, since when it has none */
  double spin; /* for how long it then looks for work */
  bool in;     /* it was called, and has not left */
  bool took;   /* it has had work since */
} taker;

typedef struct model {
  const struct timeline *timeline;
  const cores_costs *costs;
  cores_step *steps;
  uint32_t workers;
  double now;                      /* the caller's time */
  taker takers[CORES_WORKERS_MAX]; /* the caller is the first */
  double closed;                   /* helpers that come later than the caller found nothing left are not waited for */
  double left_at;                  /* when the last that left could say so */
  /* The claims that are offered, until the caller has helped to run them. */
  const uint32_t *claims_ns;
  uint32_t claims, offered, taken;
  uint32_t calls;      /* of helpers, before all claims were offered */
  uint32_t last_offer; /* the step with all of them */
  double claims_longer;
  double ticket_free;
  double alone, covered, busy_until; /* the caller's work since the first offer; of it, beside claims; until when some
                                        claim runs */
  uint32_t first_offer;              /* the step */
} model;

_Static_assert(CORES_KINDS == TIMELINE_CLAIMS + 1, "moves are known of each kind of step");

/* How many times as long as recorded a step takes, since processors touch what others touched last: one line in two
 * with two workers, nearly all with many. That it takes less, since two have more cache, says nothing of many. */
static double model_longer(const model *run, const timeline_step *step) {
  double others = 1 - 1.0 / run->workers, recorded_others = 0.5;
  double moved = run->costs->moved[step->stage][step->kind];
  return 1 + (moved > 0 ? moved * others / recorded_others : moved);
}

/* Of the caller's work alone and sections. */
static double model_plans(const model *run, const timeline_step *step) {
  return run->costs->planning * model_longer(run, step);
}

/* ---------------------------------------------------------------------------------------------------------- helpers */

static bool model_sleeps(const taker *helper, double now) {
  return now > helper->at + helper->spin;
}

/* It looks longer for work after a short sleep, and not as long after a long one. */
static void model_wake(taker *helper, double now) {
  double slept = now - helper->at - helper->spin;
  helper->spin = slept < spin_most_ns ? spin_most_ns : fmax(helper->spin / 2, spin_least_ns);
}

/* The next helper to come: one that looks for work before one that sleeps. Null: all are in. */
static taker *model_next_helper(model *run) {
  taker *sleeper = NULL;
  for (uint32_t i = 1; i < run->workers; i++) {
    taker *helper = &run->takers[i];
    if (helper->in) continue;
    if (!model_sleeps(helper, run->now)) return helper;
    if (!sleeper) sleeper = helper;
  }
  return sleeper;
}

/* Wakes the helpers that were called and sleep: the caller wakes the first of them, and each that is awake as many of
 * the next. */
static void model_wake_up(model *run, taker **sleepers, uint32_t count) {
  const cores_costs *costs = run->costs;
  double from = run->now;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t turn = i % WORKER_WAKES + 1;
    if (i >= WORKER_WAKES && turn == 1) from = sleepers[i / WORKER_WAKES - 1]->at;
    model_wake(sleepers[i], from);
    sleepers[i]->at = from + turn * costs->call_sleeping_ns + costs->wake_ns;
    if (i < WORKER_WAKES) run->now += costs->call_sleeping_ns - costs->call_ns;
  }
}

/* The caller calls helpers. */
static void model_call(model *run, uint32_t count) {
  const cores_costs *costs = run->costs;
  taker *sleepers[CORES_WORKERS_MAX], *helper;
  uint32_t sleeping = 0;
  for (uint32_t i = 0; i < count && (helper = model_next_helper(run)); i++) {
    helper->in = true;
    helper->took = false;
    run->now += costs->call_ns;
    if (model_sleeps(helper, run->now))
      sleepers[sleeping++] = helper;
    else
      helper->at = run->now + costs->begin_ns;
  }
  model_wake_up(run, sleepers, sleeping);
}

/* A worker finds nothing left to take. Whoever has left says so, one after the other. */
static void model_leave(model *run, taker *worker) {
  worker->in = false;
  if (worker == run->takers) {
    run->closed = worker->at;
  } else if (worker->took || worker->at <= run->closed) {
    run->left_at = fmax(run->left_at, worker->at) + run->costs->take_ns;
    worker->at = run->left_at;
  }
}

/* How many workers have had work since the last call, the caller included. */
static uint32_t model_count_takers(model *run) {
  uint32_t count = 1;
  for (uint32_t i = 1; i < run->workers; i++) {
    count += run->takers[i].took;
    run->takers[i].took = false;
  }
  return count;
}

/* The caller works along from now on. */
static void model_join(model *run) {
  run->closed = INFINITY;
  run->takers[0] = (taker){.at = run->now, .in = true};
}

/* The caller waits until all helpers have left. */
static void model_wait(model *run) {
  run->now = fmax(run->closed, run->left_at) + run->costs->barrier_ns;
  if (run->left_at - run->closed > spin_most_ns) run->now += run->costs->wake_ns;
}

/* Who looks for work next; null: nobody before `until`. */
static taker *model_next_taker(model *run, double until) {
  taker *next = NULL;
  for (uint32_t i = 0; i < run->workers; i++)
    if (run->takers[i].in && run->takers[i].at <= until && (!next || run->takers[i].at < next->at))
      next = &run->takers[i];
  return next;
}

/* --------------------------------------------------------------------------------------------------------- sections */

typedef struct model_section {
  const uint32_t *pieces_ns;
  uint32_t pieces, runs;
  double longer;
  bool taken[PARTITIONS_MAX];
  double free[PARTITION_WORDS]; /* when the word with a run's bit may be written next */
} model_section;

static uint32_t model_take_run(model_section *section, uint32_t own) {
  for (uint32_t i = 0; i < section->runs; i++) {
    uint32_t run = (own + i) % section->runs;
    if (section->taken[run]) continue;
    section->taken[run] = true;
    return run;
  }
  return PARTITION_NONE;
}

static double model_run_ns(const model_section *section, uint32_t number) {
  uint32_t first = number ? section_end_of_run(section->pieces, section->runs, number - 1) : 0;
  double sum = 0;
  for (uint32_t i = first; i < section_end_of_run(section->pieces, section->runs, number); i++)
    sum += section->pieces_ns[i];
  return sum * section->longer;
}

/* All take runs until none is left; the caller closes the section then. */
static void model_share(model *run, model_section *section) {
  taker *next;
  model_join(run);
  while ((next = model_next_taker(run, INFINITY))) {
    uint32_t worker = (uint32_t)(next - run->takers);
    uint32_t number = model_take_run(section, section_own_run(section->runs, worker, run->workers));
    if (number == PARTITION_NONE) {
      model_leave(run, next);
      continue;
    }
    double *free = &section->free[number / 64];
    *free = fmax(*free, next->at) + run->costs->take_ns;
    next->at = *free + model_run_ns(section, number);
    next->took = true;
  }
  model_wait(run);
}

static void model_do_section(model *run, const timeline_step *step) {
  model_section section = {
      .pieces_ns = run->timeline->pieces_ns + step->first, .pieces = step->count, .longer = model_plans(run, step)};
  uint32_t helpers = step->count > 1 ? serial_worth(step->work_ns, step->worth_ns, run->workers - 1) : 0;
  if (!helpers) {
    run->now += (double)step->ns * section.longer;
    return;
  }
  section.runs = section_runs(step->count, helpers);
  model_call(run, helpers < section.runs ? helpers : section.runs - 1);
  model_share(run, &section);
}

/* ----------------------------------------------------------------------------------------------------------- claims */

/* Notes that some worker runs a claim, for what the caller does meanwhile. Claims begin in order of time. */
static void model_cover(model *run, double begin, double end) {
  if (end <= run->busy_until) return;
  run->covered += end - fmax(begin, run->busy_until);
  run->busy_until = end;
}

/* All that are in take claims until `until`. A helper that finds none leaves. */
static void model_take_claims(model *run, double until) {
  taker *next;
  while ((next = model_next_taker(run, until))) {
    if (run->taken == run->offered) {
      model_leave(run, next);
      continue;
    }
    run->ticket_free = fmax(run->ticket_free, next->at) + run->costs->take_ns;
    next->at = run->ticket_free + run->claims_ns[run->taken++] * run->claims_longer;
    next->took = true;
    model_cover(run, run->ticket_free, next->at);
  }
}

/* Finds the claims that are offered from this step on; false when there are none, since no agent runs. */
static bool model_begin_claims(model *run, uint32_t offer) {
  const struct timeline *timeline = run->timeline;
  run->last_offer = offer;
  for (uint32_t i = offer + 1; i < timeline->step_count && timeline->steps[i].kind != TIMELINE_FRAME; i++) {
    const timeline_step *step = &timeline->steps[i];
    if (step->kind == TIMELINE_OFFER) run->last_offer = i;
    if (step->kind != TIMELINE_CLAIMS) continue;
    run->claims_ns = timeline->pieces_ns + step->first;
    run->claims = step->count;
    run->claims_longer = model_longer(run, step);
    run->offered = run->taken = run->calls = 0;
    run->ticket_free = run->left_at = run->alone = run->covered = run->busy_until = 0;
    run->closed = INFINITY;
    run->first_offer = offer;
    return true;
  }
  return false;
}

static uint32_t model_helpers_in(const model *run) {
  uint32_t in = 0;
  for (uint32_t i = 1; i < run->workers; i++) in += run->takers[i].in;
  return in;
}

/* While claims are being cut, helpers are called now and then; when all are, also those that had left. */
static void model_offer(model *run, uint32_t number) {
  const timeline_step *step = &run->timeline->steps[number];
  if (!run->claims && !model_begin_claims(run, number)) return;
  uint32_t wanted = run->claims > 1 ? serial_worth(step->work_ns, step->worth_ns, run->workers - 1) : 0;
  model_take_claims(run, run->now);
  if (number == run->last_offer) {
    uint32_t in = model_helpers_in(run);
    run->offered = run->claims;
    if (wanted > in) model_call(run, wanted - in);
  } else {
    if (step->count > run->offered) run->offered = step->count < run->claims ? step->count : run->claims;
    if (!serial_calls_now(wanted, run->calls)) return;
    model_call(run, wanted - run->calls);
    run->calls = wanted;
  }
}

/* Of the caller's work since the first offer, that part was serial in which no claim ran. */
static void model_tell_alone(const model *run, uint32_t end) {
  double beside = fmax(run->covered - fmax(run->busy_until - run->now, 0), 0);
  double part = run->alone > 0 ? fmax(1 - beside / run->alone, 0) : 0;
  for (uint32_t i = run->first_offer; i < end; i++) run->steps[i].alone *= part;
}

static void model_do_claims(model *run, uint32_t number) {
  if (!run->claims) return;
  model_take_claims(run, run->now);
  model_tell_alone(run, number);
  model_join(run);
  model_take_claims(run, INFINITY);
  model_wait(run);
  run->claims = 0;
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static void model_begin_frame(model *run) {
  for (uint32_t i = 0; i < run->workers; i++) run->takers[i] = (taker){.at = -INFINITY, .spin = spin_most_ns};
  run->claims = 0;
}

static void model_do(model *run, uint32_t number) {
  const timeline_step *step = &run->timeline->steps[number];
  cores_step *told = &run->steps[number];
  double begin = run->now;
  switch (step->kind) {
  case TIMELINE_FRAME: /* between frames helpers have slept */
    model_begin_frame(run);
    break;
  case TIMELINE_ALONE:
    run->now += (double)step->ns * model_plans(run, step);
    break;
  case TIMELINE_SECTION:
    run->left_at = 0;
    model_do_section(run, step);
    break;
  case TIMELINE_OFFER:
    model_offer(run, number);
    break;
  case TIMELINE_CLAIMS:
    model_do_claims(run, number);
    break;
  }
  *told = (cores_step){.wall = run->now - begin, .workers = 1};
  if (step->kind == TIMELINE_SECTION || step->kind == TIMELINE_CLAIMS) told->workers = model_count_takers(run);
  if (step->kind == TIMELINE_ALONE || step->kind == TIMELINE_OFFER) run->alone += told->alone = told->wall;
}

void cores_model(const struct timeline *timeline, const cores_costs *costs, uint32_t workers, cores_step *steps) {
  const cores_costs none = {.planning = costs->planning};
  model run = {.timeline = timeline, .costs = workers > 1 ? costs : &none, .steps = steps, .workers = workers};
  for (uint32_t i = 0; i < timeline->step_count; i++) model_do(&run, i);
}
