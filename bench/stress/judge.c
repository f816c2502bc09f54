/* The verdict on a step: criteria, and the causes that its figures show. */
#include "stress.h"

#include <stddef.h>

static const char *const criterion_names[STRESS_CRITERIA] = {
    "promise", "important agents", "events", "messages", "spawns and commands", "intake", "neighbours", "memory"};

static const char *const cause_names[STRESS_CAUSES] = {
    "nothing",  "memory",   "a crowded cell",       "intake",      "serial rest",
    "one type", "capacity", "a bound of the world", "the machine", "unknown"};

_Static_assert((int)STRESS_CRITERIA <= 8, "each criterion has a bit of the table");

const char *stress_criterion_name(uint32_t criterion) {
  return criterion < STRESS_CRITERIA ? criterion_names[criterion] : NULL;
}

const char *stress_cause_name(uint32_t cause) {
  return cause < STRESS_CAUSES ? cause_names[cause] : NULL;
}

stress_limits stress_default_limits(void) {
  return (stress_limits){.kept_least = 0.99,
                         .stretch_most = 2.0,
                         .events_least = 0.9,
                         .waiting_most = 10.0,
                         .cut_most = 0.01,
                         .memory_bytes = UINT64_MAX};
}

/* ---------------------------------------------------------------------------------------------------------- figures */

double stress_kept_share(const stress_figures *figures) {
  uint64_t counted = figures->frames - figures->excused;
  return counted ? (double)figures->kept / (double)counted : 0;
}

double stress_stretch(const stress_figures *figures) {
  return figures->important_wanted_ns > 0 ? figures->important_interval_ns / figures->important_wanted_ns : 0;
}

static double share_of(uint64_t done, uint64_t frames, uint32_t asked) {
  return asked ? (double)done / ((double)frames * asked) : 1;
}

double stress_events_share(const stress_figures *figures) {
  const uint32_t *knobs = figures->load.knobs;
  double sent = share_of(figures->messages_sent, figures->frames, knobs[STRESS_MESSAGES]);
  double answered = share_of(figures->wakes_answered, figures->frames, knobs[STRESS_WAKES]);
  return sent < answered ? sent : answered;
}

/* While one thread works alone the others of W workers have nothing to do; of one worker there are no others. */
double stress_serial_idle(const stress_figures *figures) {
  double workers = figures->load.knobs[STRESS_WORKERS], budget_ns = (double)figures->budget_ns;
  if (workers < 1 || budget_ns <= 0) return 0;
  return figures->serial_per_frame_ns * (workers - 1) / (workers * budget_ns);
}

double stress_waiting_frames(const stress_figures *figures) {
  return figures->waiting / (figures->brought_per_frame > 1 ? figures->brought_per_frame : 1);
}

double stress_cut_share(const stress_figures *figures) {
  double updates = figures->updates_per_frame * (double)figures->frames;
  return updates > 0 ? (double)figures->queries_cut / updates : 0;
}

/* --------------------------------------------------------------------------------------------------------- criteria */

static uint32_t bit(uint32_t number, bool set) {
  return set ? 1u << number : 0;
}

/* Of few frames one may be late: a part of so few says little. */
static bool is_promise_broken(const stress_figures *figures, const stress_limits *limits) {
  uint64_t counted = figures->frames - figures->excused;
  return counted == 0 || (counted - figures->kept > 1 && stress_kept_share(figures) < limits->kept_least);
}

static uint32_t broken_criteria(const stress_figures *figures, const stress_limits *limits) {
  uint32_t memory = bit(STRESS_MEMORY, figures->memory_refused || figures->bytes > limits->memory_bytes);
  if (figures->frames == 0) return memory;
  return memory | bit(STRESS_PROMISE, is_promise_broken(figures, limits)) |
         bit(STRESS_IMPORTANT, stress_stretch(figures) > limits->stretch_most) |
         bit(STRESS_EVENTS, stress_events_share(figures) < limits->events_least) |
         bit(STRESS_DELIVERY, figures->messages_refused + figures->messages_dropped > 0) |
         bit(STRESS_ACCEPTANCE, figures->spawns_refused + figures->commands_refused > 0) |
         bit(STRESS_INTAKE, stress_waiting_frames(figures) > limits->waiting_most) |
         bit(STRESS_NEIGHBOURS, stress_cut_share(figures) > limits->cut_most);
}

/* ----------------------------------------------------------------------------------------------------------- causes */

/* A type that takes most of the time by few of the updates; STRESS_TYPES: there is none. */
static uint32_t find_costly_type(const stress_figures *figures) {
  for (uint32_t i = 0; i < STRESS_TYPES; i++) {
    const stress_type_figures *type = &figures->types[i];
    if (type->time_share * 100 >= STRESS_TYPE_TIME_PERCENT && type->updates_share * 100 <= STRESS_TYPE_UPDATES_PERCENT)
      return i;
  }
  return STRESS_TYPES;
}

static bool is_loud(const stress_figures *figures) {
  return figures->noise_known &&
         (figures->others_share * 100 > STRESS_OTHERS_PERCENT || figures->stolen_share * 100 > STRESS_STOLEN_PERCENT);
}

/* While work waits most of the CPU that there is is used. */
static bool is_used_up(const stress_figures *figures) {
  return figures->waiting_share * 100 >= STRESS_WAITING_PERCENT &&
         figures->waiting_used_share * 100 >= STRESS_USED_PERCENT;
}

/* Not even the longest periods fit, the important alone want more than there is, or it is used up by what has no period
 * as well. */
static bool is_overloaded(const stress_figures *figures) {
  return figures->pressure > 1 || figures->important_load > 1 || is_used_up(figures);
}

/* A crowd around observers makes more agents important at once than there is capacity for. */
static bool is_crowded(const stress_figures *figures) {
  return figures->cell_share * 100 >= STRESS_CELL_PERCENT && figures->important_load > 1;
}

static bool is_shown(const stress_figures *figures, uint32_t broken, stress_cause cause) {
  switch (cause) {
  case STRESS_BY_MEMORY:
  case STRESS_BY_INTAKE:
  case STRESS_BY_BOUND:
    return true; /* the criterion itself shows it */
  case STRESS_BY_CROWD:
    return (broken & 1u << STRESS_NEIGHBOURS) || figures->crowd_rounds > 0 || is_crowded(figures);
  case STRESS_BY_SERIAL:
    return stress_serial_idle(figures) * 100 >= STRESS_SERIAL_IDLE_PERCENT;
  case STRESS_BY_TYPE:
    return is_overloaded(figures) && find_costly_type(figures) < STRESS_TYPES;
  case STRESS_BY_CAPACITY:
    return is_overloaded(figures);
  case STRESS_BY_MACHINE:
    return figures->load.knobs[STRESS_WORKERS] > figures->processors || is_loud(figures);
  default:
    return false;
  }
}

/* The criteria that each cause can explain. The promise holds at any load, so neither a lack of capacity nor a type
 * explains that it is broken. */
static const uint8_t explained[STRESS_CAUSES] = {
    [STRESS_BY_MEMORY] = 1u << STRESS_MEMORY,
    [STRESS_BY_CROWD] = 1u << STRESS_PROMISE | 1u << STRESS_IMPORTANT | 1u << STRESS_NEIGHBOURS,
    [STRESS_BY_INTAKE] = 1u << STRESS_INTAKE,
    [STRESS_BY_SERIAL] = 1u << STRESS_PROMISE | 1u << STRESS_IMPORTANT | 1u << STRESS_EVENTS | 1u << STRESS_DELIVERY,
    [STRESS_BY_TYPE] = 1u << STRESS_IMPORTANT | 1u << STRESS_EVENTS | 1u << STRESS_DELIVERY,
    [STRESS_BY_CAPACITY] = 1u << STRESS_IMPORTANT | 1u << STRESS_EVENTS | 1u << STRESS_DELIVERY,
    [STRESS_BY_BOUND] = 1u << STRESS_DELIVERY | 1u << STRESS_ACCEPTANCE,
    [STRESS_BY_MACHINE] = 1u << STRESS_PROMISE | 1u << STRESS_IMPORTANT | 1u << STRESS_EVENTS,
};

stress_verdict stress_judge(const stress_figures *figures, const stress_limits *limits) {
  stress_verdict verdict = {.broken = broken_criteria(figures, limits), .type = find_costly_type(figures)};
  verdict.holds = verdict.broken == 0;
  if (verdict.holds) return verdict;
  for (uint32_t cause = STRESS_BY_MEMORY; cause < STRESS_BY_UNKNOWN; cause++)
    if ((explained[cause] & verdict.broken) && is_shown(figures, verdict.broken, (stress_cause)cause))
      verdict.shown |= 1u << cause;
  verdict.cause = STRESS_BY_UNKNOWN;
  for (uint32_t cause = STRESS_BY_UNKNOWN; cause-- > STRESS_BY_MEMORY;)
    if (verdict.shown & 1u << cause) verdict.cause = (stress_cause)cause;
  return verdict;
}
