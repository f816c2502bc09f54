#include "bench_law_report.h"

#include <math.h>
#include <stdio.h>

const double law_own_p50_most = 1.2, law_own_p99_most = 1.6, law_own_p99_most_of_leaps = 2.5, law_interval_most = 1.15,
             law_age_most = 1.5, law_age_frames = 2, law_order_noise = 0.02;

/* In the order of their bits. */
static const char *const promises[] = {"p50", "p99", "interval", "age", "order", "wait", "idle"};

enum { PROMISES = sizeof promises / sizeof *promises };

double law_age_allowed_s(const law_stay *stay) {
  return law_age_most * stay->lawful_p99_s + law_age_frames * LOAD_FRAME_S;
}

static bool age_holds(const law_stay *stay) {
  return stay->agents <= 0 || stay->p99_s <= law_age_allowed_s(stay);
}

/* The uncertainty of a mean of few intervals: three standard errors, with the standard deviation of one interval taken
 * as the mean, or `least` if that is more. */
static double noise_of(const law_stay *one, const law_stay *other, double least) {
  return fmax(least, least > 0 ? 3.0 * sqrt(1.0 / one->runs + 1.0 / other->runs) : 0.0);
}

/* Whether more important agents run at least as often, from each band to the next in which any agent ran; to within
 * noise, which is `least` or more, or without noise where `least` is 0. Where types with longer periods matter more,
 * the law itself makes them run less often: then by no more than that. */
static bool order_holds(const law_stay bands[MUSTER_BANDS], double least) {
  const law_stay *before = NULL;
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) {
    const law_stay *band = &bands[i];
    if (band->runs <= 0) continue;
    double most_s = before ? before->interval_s * fmax(1.0, band->period_s / before->period_s) : INFINITY;
    if (before && band->interval_s > most_s * (1.0 + noise_of(before, band, least))) return false;
    before = band;
  }
  return true;
}

static double interval_ratio(const load_band *band) {
  return band->interval_s / band->period_s;
}

/* Without important agents nothing is known of them: then their figures count as missed. */
uint32_t law_misses(const law_row *row) {
  const law_cell *cell = &row->cell;
  uint32_t misses = 0;
  if (!(cell->own_p50 <= law_own_p50_most)) misses |= LAW_MISS_OWN_P50;
  if (!(cell->own_p99 <= row->own_p99_most)) misses |= LAW_MISS_OWN_P99;
  if (!(interval_ratio(&cell->important) <= law_interval_most)) misses |= LAW_MISS_INTERVAL;
  for (uint32_t i = 0; i < MUSTER_BANDS; i++)
    if (!age_holds(&cell->stays[i])) misses |= LAW_MISS_AGE;
  if (!order_holds(cell->stays, law_order_noise)) misses |= LAW_MISS_ORDER;
  if (cell->waits_beyond) misses |= LAW_MISS_WAIT;
  if (cell->idle_frames || cell->idle_windows) misses |= LAW_MISS_IDLE;
  return misses;
}

/* ------------------------------------------------------------------------------------------------------- for people */

/* The band with ages that come nearest to the limit, or pass it. */
static double age_nearest(const law_cell *cell, uint32_t *band) {
  double nearest = 0;
  *band = 0;
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) {
    const law_stay *stay = &cell->stays[i];
    double part = stay->agents > 0 ? stay->p99_s / law_age_allowed_s(stay) : 0;
    if (part <= nearest) continue;
    nearest = part;
    *band = i;
  }
  return nearest;
}

void law_print_head(void) {
  printf("%-10s %5s %4s %8s %9s  %5s %5s  %9s %9s %5s  %-13s %8s %8s\n", "world", "load", "seed", "pressure",
         "important", "p50", "p99", "interval", "period", "ratio", "age of band", "waits", "bound");
  fflush(stdout);
}

static void list_misses(uint32_t misses, char *text, size_t bytes) {
  size_t length = 0;
  text[0] = '\0';
  for (uint32_t i = 0; i < PROMISES && length < bytes; i++)
    if (misses & 1u << i)
      length += (size_t)snprintf(text + length, bytes - length, "%s%s", length ? ", " : "", promises[i]);
}

void law_print_row(const law_row *row) {
  static const char *const bands[MUSTER_BANDS] = {"0", "to 1/4", "to 1/2", "to 3/4", "to 1"};
  const law_cell *cell = &row->cell;
  char misses[64];
  uint32_t band;
  double age = age_nearest(cell, &band);
  list_misses(law_misses(row), misses, sizeof misses);
  printf("%-10s %5g %4lu %8.2f %9.0f  %5.2f %5.2f  %6.0f ms %6.0f ms %5.2f  %5.2f %-7s %6.1f s %6.1f s%s%s\n",
         row->world, row->load, row->seed, cell->pressure, cell->important.agents, cell->own_p50, cell->own_p99,
         cell->important.interval_s * 1e3, cell->important.period_s * 1e3, interval_ratio(&cell->important), age,
         bands[band], cell->wait_s, cell->wait_bound_s, misses[0] ? "  MISSES " : "", misses);
  fflush(stdout);
}

void law_print_end(const law_row *rows, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) kept += law_misses(&rows[i]) == 0;
  printf(
      "\npressure   the load as the world reports it: what agents cost differs with what they do\n"
      "important  agents of importance 0.9 and above; the next five are of these\n"
      "p50, p99   of what passes between two updates on the agent's own clock, in periods rounded up to frames: at "
      "most %.1f and %.1f (flashcrowd, where players leap: %.1f)\n"
      "interval   agents x window / completed updates\n"
      "period     by the law, mean of the rates; ratio: at most %.2f\n"
      "age        time since the last update, p99 of the band that comes nearest to what is allowed: %.1f times "
      "the law's and %.0f frames; 1 is that\n"
      "waits      the longest wait, for updates and actions, and its bound, where it came nearest to it\n"
      "order      no band of importance runs less often than one that matters less, as far as the law says so: of "
      "agents that stayed in the band since the update before; to within %.0f %%, or three standard errors of so "
      "few\n"
      "idle       no frame leaves time for the longest of all updates though agents wait, and none of them a tenth of "
      "it, over the time in which each has its turn, though periods are stretched\n\n"
      "%u of %u rows keep all of it\n",
      law_own_p50_most, law_own_p99_most, law_own_p99_most_of_leaps, law_interval_most, law_age_most, law_age_frames,
      law_order_noise * 100, kept, count);
}

void law_name_misses(const law_row *row, char *text, size_t bytes) {
  char misses[64];
  list_misses(law_misses(row), misses, sizeof misses);
  snprintf(text, bytes, "%s at load %g, seed %lu: %s", row->world, row->load, row->seed, misses);
}

/* ----------------------------------------------------------------------------------------------------- for machines */

static void write_band(const char *name, const load_band *band, const law_stay *stay, json_writer *writer) {
  json_begin_object(writer, name);
  json_print(writer, "agents=%g runs=%g interval_ns=%g period_ns=%g", band->agents, band->runs, band->interval_s * 1e9,
             band->period_s * 1e9);
  if (stay) {
    json_print(
        writer,
        "stayed{ agents=%g age_p99_ns=%g age_p99_lawful_ns=%g age_p99_most_ns=%g runs=%g interval_ns=%g period_ns=%g }",
        stay->agents, stay->p99_s * 1e9, stay->lawful_p99_s * 1e9, law_age_allowed_s(stay) * 1e9, stay->runs,
        stay->interval_s * 1e9, stay->period_s * 1e9);
  }
  json_end_object(writer);
}

static void write_misses(uint32_t misses, json_writer *writer) {
  json_begin_array(writer, "misses");
  for (uint32_t i = 0; i < PROMISES; i++)
    if (misses & 1u << i) json_string(writer, NULL, promises[i]);
  json_end_array(writer);
}

static void write_row(const law_row *row, json_writer *writer) {
  const law_cell *cell = &row->cell;
  json_print(writer,
             "{ world=%s load=%g seed=%lu agents=%g pressure=%g important_load=%g period_deviation_ns=%g "
             "warm_up_frames=%u frames=%u "
             "own_p50=%g own_p99=%g own_p99_most=%g own_exact_p50=%g own_exact_p99=%g",
             row->world, row->load, row->seed, cell->agents, cell->pressure, cell->important_load,
             cell->deviation_s * 1e9, cell->warm_up, cell->window, cell->own_p50, cell->own_p99, row->own_p99_most,
             cell->own_exact_p50, cell->own_exact_p99);
  write_band("important", &cell->important, NULL, writer);
  json_print(writer, "interval_over_period=%g bands[", interval_ratio(&cell->important));
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) write_band(NULL, &cell->bands[i], &cell->stays[i], writer);
  json_print(writer,
             "] wait_ns=%g wait_bound_ns=%g frames_beyond_wait_bound=%u order_without_noise=%d "
             "idle_frames=%lu idle_windows=%lu",
             cell->wait_s * 1e9, cell->wait_bound_s * 1e9, cell->waits_beyond, order_holds(cell->stays, 0),
             cell->idle_frames, cell->idle_windows);
  write_misses(law_misses(row), writer);
  json_end_object(writer);
}

void law_write_json(const law_row *rows, uint32_t count, json_writer *writer) {
  uint32_t missed = 0;
  json_print(writer, "frame_ns=%g own_p50_most=%g interval_most=%g age_most=%g age_frames=%g order_noise=%g rows[",
             LOAD_FRAME_S * 1e9, law_own_p50_most, law_interval_most, law_age_most, law_age_frames, law_order_noise);
  for (uint32_t i = 0; i < count; i++) {
    missed += law_misses(&rows[i]) != 0;
    write_row(&rows[i], writer);
  }
  json_print(writer, "] rows_missed=%u", missed);
}
