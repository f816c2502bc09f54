#include "plan/costs.h"

#include "base/assert.h"

#include <math.h>

enum { WINDOW_LEAST = 64, WINDOW_MOST = 4096, WINDOW_CHANGED = 16 };

void costs_create(cost_table *costs, uint32_t types_max, struct arena *arena) {
  ARENA_ARRAY(arena, costs->estimates, types_max);
  ARENA_ARRAY(arena, costs->actions, types_max);
}

bool estimate_is_possible(const cost_estimate *estimate) {
  return costs_is_duration(estimate->mean_ns) && costs_is_duration(estimate->high_ns) &&
         costs_is_duration(estimate->usual_ns) && costs_is_duration(estimate->late_ns) && estimate->limit_ns >= 0.0 &&
         estimate->variance_ns2 >= 0.0f && isfinite(estimate->variance_ns2) && estimate->factor_more > -1.0 &&
         estimate->factor_more < 64.0 && factor_fit_is_possible(&estimate->fit);
}

void costs_learn_actions(cost_actions *actions, uint32_t released) {
  double more = (double)actions->begun - actions->per_update * released;
  actions->begun = 0;
  actions->per_update += more / ((double)released + WINDOW_LEAST);
  actions->per_update = fmin(fmax(actions->per_update, 0.0), 1.0);
}

/* How far a guess is off is not known: as far as it is large, say. */
static cost_estimate guess(double guess_ns) {
  return (cost_estimate){.mean_ns = guess_ns,
                         .high_ns = guess_ns,
                         .usual_ns = guess_ns,
                         .late_ns = guess_ns,
                         .variance_ns2 = (float)(guess_ns * guess_ns),
                         .predicted_ns = costs_whole_ns(guess_ns)};
}

void costs_guess(cost_table *costs, uint32_t type, uint64_t guess_ns) {
  costs->actions[type] = (cost_actions){.per_update = 1.0};
  for (uint32_t level = 0; level < MUSTER_LEVELS; level++) costs->estimates[type][level] = guess((double)guess_ns);
}

/* The percentile moves up by 19 steps for a sample above it and down by one for a sample below: it rests where 5 % are
 * above. The step follows the estimate, so that it finds any scale, up and down. */
static void track_high(cost_estimate *estimate, double cost_ns) {
  double scale = estimate->mean_ns > estimate->high_ns ? estimate->mean_ns : estimate->high_ns;
  double step = scale * (1.0 / 128.0) + 1.0;
  if (cost_ns > estimate->high_ns)
    estimate->high_ns += step * 19.0 < cost_ns - estimate->high_ns ? step * 19.0 : cost_ns - estimate->high_ns;
  else
    estimate->high_ns -= step < estimate->high_ns - cost_ns ? step : estimate->high_ns - cost_ns;
}

enum { LIMIT_OVER_HIGH = 8, LIMIT_DECAY = 256 };

/* What a sample counts for, when that is at most `part` of the limit. */
static double limited(cost_estimate *estimate, double cost_ns, double part) {
  static const double clock_ns = 1000.0; /* so that costs are learnt that a coarse clock measured as 0 before */
  double least_ns = LIMIT_OVER_HIGH * fmax(estimate->high_ns, estimate->mean_ns) + clock_ns;
  if (estimate->limit_ns < least_ns) estimate->limit_ns = least_ns;
  double limit_ns = estimate->limit_ns, most_ns = limit_ns * part;
  if (cost_ns <= most_ns) {
    estimate->limit_ns -= (limit_ns - least_ns) / LIMIT_DECAY;
    return cost_ns;
  }
  estimate->limit_ns = 2 * fmin(cost_ns / part, limit_ns);
  return most_ns;
}

/* Remembers for `samples` more samples that costs seemed to have changed. */
static void remember(uint16_t *lately, double samples) {
  double least = fmin(samples, UINT16_MAX);
  if (*lately < least) *lately = (uint16_t)least;
}

/* Whether what looks like a change looked like one in the other direction not long ago. Agents run in the order of
 * their deadlines, and important agents may cost several times what others of their type and level do: then the late
 * mean goes to and fro with the agents that have their turn. Following it would make periods, and with them the turns,
 * go to and fro as well. Once seen, this is expected for longer. */
static bool goes_to_and_fro(cost_estimate *estimate, double window) {
  static const double once = 8, again = 64; /* windows */
  remember(estimate->late_ns > estimate->usual_ns ? &estimate->rose : &estimate->fell, once * window);
  if (!estimate->rose || !estimate->fell) return false;
  remember(&estimate->rose, again * window);
  remember(&estimate->fell, again * window);
  return true;
}

/* A change of a quarter that noise does not explain is followed at once: all costs are taken to have changed by that
 * factor. */
static void notice_change(cost_estimate *estimate, double cost_ns, double window) {
  enum { LATE_LEAST = 16, LATE_PART = 16 };
  double capped_ns = fmin(cost_ns, 2.0 * estimate->usual_ns + 1.0);
  double late = fmin(fmax(window / LATE_PART, LATE_LEAST), window);
  estimate->usual_ns += (capped_ns - estimate->usual_ns) / window;
  estimate->late_ns += (capped_ns - estimate->late_ns) / late;
  if (estimate->rose) estimate->rose--;
  if (estimate->fell) estimate->fell--;
  double change_ns = fabs(estimate->late_ns - estimate->usual_ns);
  if (change_ns <= 0.25 * estimate->usual_ns || change_ns <= 0.5 * (estimate->high_ns - estimate->usual_ns)) return;
  if (goes_to_and_fro(estimate, window)) return;
  estimate->mean_ns *= estimate->late_ns / estimate->usual_ns;
  estimate->usual_ns = estimate->late_ns;
  estimate->window = WINDOW_CHANGED; /* until the frame ends: what was before the change says little */
}

/* Takes in a cost that counts for `counted_ns`, of an agent whose factor is `part` of the mean one, beside `before`
 * samples' worth of what is known. The mean is that over updates, of costs and of factors alike: so what updates are
 * believed to cost is right in the sum, however factors are scattered. */
static void costs_take_in(cost_estimate *estimate, double cost_ns, double counted_ns, double part, double window,
                          double before) {
  double off_ns = counted_ns / part - estimate->mean_ns, weight = 1.0 / (before + 1.0);
  if (estimate->mean_ns > 0.0)
    factor_fit_add(&estimate->fit, (float)(counted_ns / estimate->mean_ns) - 1.0f, (float)part - 1.0f);
  estimate->mean_ns += (counted_ns - estimate->mean_ns) * weight;
  estimate->factor_more += (part - 1.0) * (1.0 + estimate->factor_more) * weight;
  estimate->variance_ns2 += (float)((off_ns * off_ns - (double)estimate->variance_ns2) * weight);
  notice_change(estimate, cost_ns / part, window);
  estimate->predicted_ns = costs_whole_ns(estimate->mean_ns);
  track_high(estimate, cost_ns / part);
}

/* The same as estimate_add(), of an agent with this factor. */
static void add_by_factor(cost_estimate *estimate, double cost_ns, double factor, cost_source source) {
  bool known = source == COST_MODELLED ? estimate->samples > 0 : estimate->mean_ns > 0.0;
  if (!known) *estimate = guess(cost_ns);
  double part = factor / (1.0 + estimate->factor_more);
  estimate->samples++;
  uint64_t most = estimate->window ? estimate->window : WINDOW_LEAST;
  double window = (double)(estimate->samples < most ? estimate->samples : most);
  if (source == COST_MODELLED)
    costs_take_in(estimate, cost_ns, cost_ns, part, window, window - 1.0);
  else /* the guess counts as one */
    costs_take_in(estimate, cost_ns,
                  limited(estimate, cost_ns / part, source == COST_OVERRAN ? 1.0 / LIMIT_OVER_HIGH : 1.0) * part, part,
                  window, window);
}

void estimate_add(cost_estimate *estimate, double cost_ns, cost_source source) {
  add_by_factor(estimate, cost_ns, 1.0, source);
}

void estimate_add_clipped(cost_estimate *estimate, double cost_ns, double floor_ns) {
  double most_ns = 4.0 * estimate->mean_ns + floor_ns;
  estimate_add(estimate, estimate->samples < 8 || cost_ns < most_ns ? cost_ns : most_ns, COST_MODELLED);
}

void costs_turn(cost_table *costs, uint32_t types) {
  for (uint32_t type = 0; type < types; type++)
    for (uint32_t level = 0; level < MUSTER_LEVELS; level++) {
      cost_estimate *estimate = &costs->estimates[type][level];
      uint64_t window = 4 * (estimate->samples - estimate->samples_before);
      estimate->samples_before = estimate->samples;
      /* Wider at once, narrower little by little: a frame without samples says nothing. */
      if (window < estimate->window) window = estimate->window - estimate->window / 8;
      if (window < WINDOW_LEAST) window = WINDOW_LEAST;
      estimate->window = window < WINDOW_MOST ? (uint32_t)window : WINDOW_MOST;
    }
}

void costs_scale(cost_table *costs, uint32_t types, double factor) {
  ASSERT(factor > 0.0);
  for (uint32_t type = 0; type < types; type++)
    for (uint32_t level = 0; level < MUSTER_LEVELS; level++) {
      cost_estimate *estimate = &costs->estimates[type][level];
      double *const values[] = {&estimate->mean_ns, &estimate->high_ns, &estimate->usual_ns, &estimate->late_ns,
                                &estimate->limit_ns};
      for (size_t i = 0; i < sizeof values / sizeof *values; i++) *values[i] *= factor;
      estimate->variance_ns2 *= (float)(factor * factor);
      estimate->predicted_ns = costs_whole_ns(estimate->mean_ns);
    }
}

void costs_add(cost_table *costs, uint32_t type, uint32_t level, int32_t factor, uint64_t cost_ns, cost_source source) {
  ASSERT(level < MUSTER_LEVELS);
  add_by_factor(&costs->estimates[type][level], (double)cost_ns, (double)factor_units_of(factor) / FACTOR_ONE, source);
}
