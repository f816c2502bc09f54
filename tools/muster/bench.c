/* `muster bench`: the worker pool beside other job systems, in interleaved rounds of one run; benches of another kind
 * have a file of their own. */
#include "bench_activation.h"
#include "bench_control.h"
#include "bench_law.h"
#include "bench_machine.h"
#include "bench_options.h"
#include "bench_quality.h"
#include "bench_report.h"
#include "bench_scale.h"
#include "bench_sets.h"
#include "bench_sweep.h"
#include "commands.h"
#include "complaint.h"
#include "noise.h"
#include "output.h"
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_BYTES = 1 << 20 };

/* Where the bench is. On a terminal each step shows, elsewhere each round. */
typedef struct bench_progress {
  struct progress line;
  const bench_options *options;
  uint32_t round;
} bench_progress;

static void show_step(bench_progress *progress, const bench_system *system, const bench_measure *measure) {
  if (progress->line.terminal)
    progress_put(&progress->line, "round %u of %u: %s, %s", progress->round + 1, progress->options->rounds,
                 measure->series[0].key, system->name);
}

static void show_round(bench_progress *progress) {
  if (!progress->line.terminal)
    progress_put(&progress->line, "round %u of %u", progress->round + 1, progress->options->rounds);
}

/* One measure of one system, once. */
static bool take(bench_results *results, const bench_measure *measure, const bench_system *system, uint32_t workers,
                 bench_samples *samples) {
  bench_context context = {.system = system, .workers = workers, .quick = results->options->quick, .samples = samples};
  const char *wrong = bench_take(measure, &context);
  if (wrong) {
    char note[256];
    snprintf(note, sizeof note, "%s %s in %s with %u workers", system->name, wrong, measure->series[0].key, workers);
    bench_rows_note(&results->rows, note);
    return true;
  }
  for (uint32_t i = 0; i < measure->series_count; i++)
    if (!bench_rows_add(&results->rows, system, &measure->series[i], workers, &samples[i])) return false;
  return true;
}

/* One measure of all systems, beginning with another one in each round. */
static bool take_of_all(bench_results *results, bench_progress *progress, const bench_measure *measure,
                        bench_samples *samples) {
  const bench_options *options = results->options;
  const bench_systems *systems = results->systems;
  for (uint32_t i = 0; i < systems->present_count; i++) {
    const bench_system *system = systems->present[(i + progress->round) % systems->present_count];
    if (!bench_options_want_system(options, system)) continue;
    for (uint32_t workers = options->workers_first; workers <= options->workers_last;
         workers = bench_options_next_workers(options, workers)) {
      if (!bench_takes_part(system, measure, workers)) continue;
      show_step(progress, system, measure);
      if (!take(results, measure, system, workers, samples)) return false;
    }
  }
  return true;
}

static bool run_rounds(bench_results *results, bench_samples *samples) {
  const bench_options *options = results->options;
  bench_progress progress = {.line = progress_begin(), .options = options};
  struct noise before = noise_begin();
  bool room = true;
  for (progress.round = 0; progress.round < options->rounds && room; progress.round++) {
    show_round(&progress);
    for (const bench_measure *const *measure = options->suite->measures; *measure && room; measure++)
      if (bench_options_want_measure(options, *measure)) room = take_of_all(results, &progress, *measure, samples);
  }
  progress_end(&progress.line);
  noise_end(&before, &results->others_share, &results->stolen_share);
  return room;
}

static int deliver(const bench_results *results, struct output *json, char *text) {
  json_writer writer;
  bool quiet = results->options->json && strcmp(results->options->json, "-") == 0;
  if (!quiet) bench_print(results);
  if (results->options->json) {
    json_start(&writer, text, JSON_BYTES);
    bench_write_json(results, &writer);
    if (!output_commit_json(json, &writer)) return STATUS_FAILED;
  }
  if (results->rows.note_count > 0) return complain_failure("%s", results->rows.notes[0]);
  if (results->rows.count == 0)
    return complain_failure("there is nothing to measure: none of the systems that --only names takes part");
  return STATUS_OK;
}

/* A peer that was named but is not installed is an error; if it were left out silently it would seem measured. */
static int check_presence(const bench_options *options, const bench_systems *systems) {
  for (uint32_t i = 0; i < systems->absent_count && options->systems; i++) {
    const bench_absence *absence = &systems->absent[i];
    bench_system named = {.key = absence->key}, best = {.key = absence->best};
    if (bench_options_want_system(options, &named) || bench_options_want_system(options, &best))
      return complain_failure("%s is absent: %s; run tools/setup --peers, then configure and build anew", absence->key,
                              absence->reason);
  }
  return STATUS_OK;
}

static int run_bench(const bench_options *options, const bench_systems *systems, struct output *json) {
  bench_results results = {.options = options, .systems = systems};
  bench_samples *samples = bench_samples_create();
  char *text = malloc(JSON_BYTES);
  int status = STATUS_FAILED;
  results.rows.rows = calloc(BENCH_ROWS_MAX, sizeof *results.rows.rows);
  if (!samples || !text || !results.rows.rows) {
    complain_failure("out of memory");
  } else if (!run_rounds(&results, samples)) {
    complain_failure("more than %d rows; ask for fewer numbers of workers", BENCH_ROWS_MAX);
  } else {
    bench_rows_finish(&results.rows);
    status = deliver(&results, json, text);
  }
  free(results.rows.rows);
  free(text);
  return status;
}

int bench_command(int count, char **arguments) {
  bench_options options;
  bench_systems systems;
  struct output json = {.descriptor = -1};
  int status;
  if (count > 1 && strcmp(arguments[1], "activation") == 0) return bench_activation_command(count - 1, arguments + 1);
#ifdef MUSTER_HAS_CTL
  if (count > 1 && strcmp(arguments[1], "all") == 0) return bench_all_command(count - 1, arguments + 1);
#endif
  if (count > 1 && strcmp(arguments[1], "control") == 0) return bench_control_command(count - 1, arguments + 1);
  if (count > 1 && strcmp(arguments[1], "law") == 0) return bench_law_command(count - 1, arguments + 1);
  if (count > 1 && strcmp(arguments[1], "machine") == 0) return bench_machine_command(count - 1, arguments + 1);
  if (count > 1 && strcmp(arguments[1], "quality") == 0) return bench_quality_command(count - 1, arguments + 1);
  if (count > 1 && strcmp(arguments[1], "scale") == 0) return bench_scale_command(count - 1, arguments + 1);
  if (count > 1 && strcmp(arguments[1], "sets") == 0) return bench_sets_command(count - 1, arguments + 1);
  if (count > 1 && strcmp(arguments[1], "sweep") == 0) return bench_sweep_command(count - 1, arguments + 1);
  if (!bench_options_read(&options, count, arguments, &status)) return status;
  if (options.json && !output_open(&json, options.json)) return STATUS_FAILED;
  bench_systems_find(&systems, options.peers);
  status = check_presence(&options, &systems);
  if (status == STATUS_OK) {
    bench_prepare();
    status = run_bench(&options, &systems, &json);
  }
  output_discard(&json);
  return status;
}
