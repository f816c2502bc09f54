#include "plan/costs.h"

#include "base/assert.h"

#include <math.h>

enum { WINDOW_LEAST = 64, WINDOW_MOST = 4096, WINDOW_CHANGED = 16 };
enum { EVIDENCE_MOST = 8192, EVIDENCE_LEAST = 32, EVIDENCE_UNLIMITED = 16, EVIDENCE_FRAMES = 8 };

void costs_create(cost_table *costs, uint32_t types_max, struct arena *arena) {
  ARENA_ARRAY(arena, costs->estimates, types_max);
  ARENA_ARRAY(arena, costs->actions, types_max);
}

static float unit_of(const cost_estimate *estimate) {
  return (float)(1.0 / (FACTOR_ONE * (1.0 + estimate->factor_more)));
}

static bool line_is_possible(const cost_estimate *estimate) {
  const float moments[] = {estimate->later2, estimate->later4, estimate->off2, estimate->frame_later2,
                           estimate->frames_off2};
  for (size_t i = 0; i < sizeof moments / sizeof *moments; i++)
    if (!(moments[i] >= 0.0f) || !isfinite(moments[i])) return false;
  return estimate->slope >= 0.0f && costs_is_duration((double)estimate->elapsed_ns) &&
         (double)estimate->slope * (double)estimate->elapsed_ns <= estimate->mean_ns && isfinite(estimate->later) &&
         isfinite(estimate->later_off) && isfinite(estimate->frame_off) && estimate->evidence <= EVIDENCE_MOST &&
         estimate->evidence_frames <= EVIDENCE_FRAMES;
}

/* Types that are not registered have estimates of nothing. */
static bool has_its_unit(const cost_estimate *estimate) {
  return estimate->unit == unit_of(estimate) || (estimate->unit == 0.0f && estimate->mean_ns == 0.0);
}

bool estimate_is_possible(const cost_estimate *estimate) {
  return costs_is_duration(estimate->mean_ns) && costs_is_duration(estimate->high_ns) &&
         costs_is_duration(estimate->usual_ns) && costs_is_duration(estimate->late_ns) && estimate->limit_ns >= 0.0 &&
         estimate->variance_ns2 >= 0.0f && isfinite(estimate->variance_ns2) && estimate->factor_more > -1.0 &&
         estimate->factor_more < 64.0 && has_its_unit(estimate) && factor_fit_is_possible(&estimate->fit) &&
         line_is_possible(estimate);
}

__attribute__((cold, noinline)) double costs_part_elapsed(const cost_estimate *estimate, double elapsed_ns) {
  return 1.0 + (double)estimate->slope * (elapsed_ns - (double)estimate->elapsed_ns) / estimate->mean_ns;
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
                         .predicted_ns = costs_whole_ns(guess_ns),
                         .unit = 1.0f / FACTOR_ONE};
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

/* ------------------------------------------------------------------------------------------- a line in elapsed time */

#define SLOPE_LEAST (1.0 / 32.0) /* of the mean cost: a smaller b, or a, is none */

/* How far a value counts that is so far from the mean of values with such a variance: as six standard deviations at
 * most. */
static inline float within_six(float value, float variance) {
  float square = value * value, most = 36.0f * variance;
  return square > most && variance > 0.0f ? sqrtf(most / square) : 1.0f;
}

/* Takes in that an update came so much later than is usual for its agent, and cost so much more than was believed. What
 * is far from usual in either counts for less in both, so that no single update shows a line. */
static void note_evidence(cost_estimate *estimate, float later, float off_ns, float window) {
  float weight = 1.0f / (float)(estimate->evidence + 1), part = 1.0f;
  later -= estimate->later;
  estimate->later += later * fmaxf(weight, 1.0f / window);
  if (estimate->evidence >= EVIDENCE_UNLIMITED)
    part = fminf(within_six(later, estimate->later2), within_six(off_ns, estimate->off2));
  if (estimate->evidence < EVIDENCE_MOST) estimate->evidence++;
  later *= part, off_ns *= part;
  float square = later * later;
  estimate->frame_samples++;
  estimate->frame_later2 += square;
  estimate->frame_off += later * off_ns;
  estimate->later2 += (square - estimate->later2) * weight;
  estimate->later4 += (square * square - estimate->later4) * weight;
  estimate->later_off += (later * off_ns - estimate->later_off) * weight;
  estimate->off2 += (off_ns * off_ns - estimate->off2) * weight;
}

/* a is no less than a small part of the mean: no update costs nothing. */
static float slope_most(const cost_estimate *estimate) {
  return (float)((1.0 - SLOPE_LEAST) * estimate->mean_ns / (double)estimate->elapsed_ns);
}

/* As many samples as say something: few, where few came at another time than is usual. */
static double evidence_of(const cost_estimate *estimate) {
  double later2 = (double)estimate->later2, later4 = (double)estimate->later4;
  return later4 > 0.0 ? estimate->evidence * later2 * later2 / later4 : 0.0;
}

/* b is another one: what was more than believed is so no longer. */
static void set_slope(cost_estimate *estimate, float slope) {
  float more = (slope - estimate->slope) * 1e9f; /* ns for each second */
  estimate->slope = slope;
  estimate->off2 = fmaxf(estimate->off2 + more * (more * estimate->later2 - 2.0f * estimate->later_off), 0.0f);
  estimate->later_off -= more * estimate->later2;
}

/* The frame's samples may be off by the same, for reasons of their own: the more so, the less frames agree. */
static void end_evidence_of_frame(cost_estimate *estimate, float more) {
  float weight = estimate->evidence ? 1.0f / (float)estimate->evidence : 0.0f;
  float off = (estimate->frame_off - more * estimate->frame_later2) * weight;
  float kept = fmaxf(1.0f - (float)estimate->frame_samples * weight, 0.0f);
  estimate->frames_off2 = kept * kept * estimate->frames_off2 + off * off;
  if (estimate->frame_samples && estimate->evidence_frames < EVIDENCE_FRAMES) estimate->evidence_frames++;
  estimate->frame_samples = 0;
  estimate->frame_later2 = estimate->frame_off = 0.0f;
}

/* The square of the error of b: by samples, or by frames, whatever is more. */
static double error2_of(const cost_estimate *estimate, double more, double samples) {
  double later2 = (double)estimate->later2, by_samples = ((double)estimate->off2 / later2 - more * more) / samples;
  return fmax(by_samples, (double)estimate->frames_off2 / (later2 * later2));
}

/* b changes by what the evidence shows beyond its error, and of a cost that was not known to grow beyond all doubt: one
 * test in each frame must not find it by chance. A b that is a small part of the cost is left out. */
static void follow_evidence(cost_estimate *estimate) {
  static const double errors_first = 10.0, errors_more = 3.0, part_first = 1.0 / 8.0;
  double samples = evidence_of(estimate), elapsed_ns = (double)estimate->elapsed_ns;
  double more = samples > 0.0 ? (double)estimate->later_off / (double)estimate->later2 : 0.0;
  end_evidence_of_frame(estimate, (float)more);
  if (samples < EVIDENCE_LEAST || estimate->evidence_frames < EVIDENCE_FRAMES || !(elapsed_ns > 0.0)) return;
  bool grows = estimate->slope > 0.0f;
  double errors = grows ? errors_more : errors_first;
  if (more * more <= errors * errors * error2_of(estimate, more, samples)) return;
  float slope = fminf(estimate->slope + (float)(more * 1e-9), slope_most(estimate));
  if ((double)slope * elapsed_ns < estimate->mean_ns * (grows ? SLOPE_LEAST : part_first)) slope = 0.0f;
  if (slope == estimate->slope) return;
  set_slope(estimate, slope);
  if (!grows) estimate->evidence_frames = 0;
}

/* ------------------------------------------------------------------------------------------------------------ samples
 */

/* What is known of a sample beside what it cost. */
typedef struct cost_sampled {
  double factor;     /* of the agent, in parts of the mean one */
  double part;       /* what it is believed to cost, in parts of the mean over updates */
  double elapsed_ns; /* and what is usual for the agent */
  double usual_elapsed_ns;
} cost_sampled;

/* An agent that ran long ago says what a line is, and little of others: where the mean is concerned it counts as one of
 * eight times the mean elapsed time that cost as much beside what was believed. */
static double bound_elapsed(const cost_estimate *estimate, const cost_sampled *sample, double *counted_ns) {
  enum { KNOWN_SAMPLES = 64 };
  static const double most = 8.0;
  double most_ns = most * (double)estimate->elapsed_ns;
  if (estimate->samples < KNOWN_SAMPLES || sample->elapsed_ns <= most_ns) return sample->elapsed_ns;
  if (estimate->slope > 0.0f) *counted_ns *= sample->factor * costs_part_elapsed(estimate, most_ns) / sample->part;
  return most_ns;
}

/* Takes in a cost that counts for `counted_ns`, beside `before` samples' worth of what is known. The mean is that over
 * updates, of costs, of factors and of elapsed times alike: so what updates are believed to cost is right in the sum,
 * however these are scattered. */
static void costs_take_in(cost_estimate *estimate, double cost_ns, double counted_ns, const cost_sampled *sample,
                          double window, double before) {
  double part = sample->part, factor = sample->factor;
  double off_ns = counted_ns / part - estimate->mean_ns, weight = 1.0 / (before + 1.0);
  if (sample->usual_elapsed_ns > 0.0)
    note_evidence(estimate, (float)((sample->elapsed_ns - sample->usual_elapsed_ns) * 1e-9),
                  (float)(off_ns * part / factor), (float)window);
  double elapsed_ns = bound_elapsed(estimate, sample, &counted_ns);
  if (estimate->mean_ns > 0.0)
    factor_fit_add(&estimate->fit, (float)(counted_ns * factor / (part * estimate->mean_ns)) - 1.0f,
                   (float)factor - 1.0f);
  estimate->mean_ns += (counted_ns - estimate->mean_ns) * weight;
  estimate->factor_more += (factor - 1.0) * (1.0 + estimate->factor_more) * weight;
  estimate->unit = unit_of(estimate);
  estimate->elapsed_ns += (float)((elapsed_ns * factor - (double)estimate->elapsed_ns) * weight);
  estimate->variance_ns2 += (float)((off_ns * off_ns - (double)estimate->variance_ns2) * weight);
  notice_change(estimate, cost_ns / part, window);
  if (estimate->slope > 0.0f) estimate->slope = fminf(estimate->slope, slope_most(estimate));
  estimate->predicted_ns = costs_whole_ns(estimate->mean_ns);
  track_high(estimate, cost_ns / part);
}

static void add_known(cost_estimate *estimate, const cost_known *update) {
  double cost_ns = update->cost_ns;
  bool modelled = update->source == COST_MODELLED;
  bool known = modelled ? estimate->samples > 0 : estimate->mean_ns > 0.0;
  if (!known) *estimate = guess(cost_ns);
  cost_sampled sample = {.factor = (double)factor_units_of(update->factor) / FACTOR_ONE / (1.0 + estimate->factor_more),
                         .elapsed_ns = (double)update->elapsed_ns,
                         .usual_elapsed_ns = (double)update->usual_elapsed_ns};
  sample.part = sample.factor;
  if (estimate->slope > 0.0f) sample.part *= costs_part_elapsed(estimate, sample.elapsed_ns);
  estimate->samples++;
  uint64_t most = estimate->window ? estimate->window : WINDOW_LEAST;
  double window = (double)(estimate->samples < most ? estimate->samples : most);
  if (modelled) {
    costs_take_in(estimate, cost_ns, cost_ns, &sample, window, window - 1.0);
    return;
  }
  double most_part = update->source == COST_OVERRAN ? 1.0 / LIMIT_OVER_HIGH : 1.0;
  double counted_ns = limited(estimate, cost_ns / sample.part, most_part) * sample.part;
  costs_take_in(estimate, cost_ns, counted_ns, &sample, window, window); /* the guess counts as one */
}

void estimate_add(cost_estimate *estimate, double cost_ns, cost_source source) {
  add_known(estimate, &(cost_known){.cost_ns = cost_ns, .source = source});
}

void estimate_add_clipped(cost_estimate *estimate, double cost_ns, double floor_ns) {
  double most_ns = 4.0 * estimate->mean_ns + floor_ns;
  estimate_add(estimate, estimate->samples < 8 || cost_ns < most_ns ? cost_ns : most_ns, COST_MODELLED);
}

bool costs_turn(cost_table *costs, uint32_t types) {
  bool grow_newly = false;
  for (uint32_t type = 0; type < types; type++)
    for (uint32_t level = 0; level < MUSTER_LEVELS; level++) {
      cost_estimate *estimate = &costs->estimates[type][level];
      uint64_t window = 4 * (estimate->samples - estimate->samples_before);
      if (window) follow_evidence(estimate);
      grow_newly |= window && costs_grow_newly(estimate);
      estimate->samples_before = estimate->samples;
      /* Wider at once, narrower little by little: a frame without samples says nothing. */
      if (window < estimate->window) window = estimate->window - estimate->window / 8;
      if (window < WINDOW_LEAST) window = WINDOW_LEAST;
      estimate->window = window < WINDOW_MOST ? (uint32_t)window : WINDOW_MOST;
    }
  return grow_newly;
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
      estimate->slope *= (float)factor;
      estimate->later_off *= (float)factor;
      estimate->frames_off2 *= (float)(factor * factor);
      estimate->off2 *= (float)(factor * factor);
      estimate->predicted_ns = costs_whole_ns(estimate->mean_ns);
    }
}

void costs_add(cost_table *costs, uint32_t type, uint32_t level, const cost_known *update) {
  ASSERT(level < MUSTER_LEVELS && update->cost_ns >= 0.0);
  add_known(&costs->estimates[type][level], update);
}
