#include "bench_scale.h"

#include "bench_scale_report.h"
#include "complaint.h"
#include "noise.h"
#include "output.h"
#include "plots.h"
#include "progress.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_BYTES_EACH = 1024, JSON_BYTES_BESIDE = 1 << 17 };

/* Where the bench is. On a terminal each step shows, elsewhere each row. */
typedef struct scale_progress {
  struct progress line;
  char row[128];
} scale_progress;

static void show_step(const char *doing, void *user) {
  scale_progress *progress = user;
  if (progress->line.terminal) progress_put(&progress->line, "%s: %s", progress->row, doing);
}

static void show_row(scale_progress *progress) {
  if (!progress->line.terminal) progress_put(&progress->line, "%s", progress->row);
}

static void note(bench_scale_results *results, const char *text) {
  if (results->note_count == BENCH_SCALE_NOTES_MAX) return;
  snprintf(results->notes[results->note_count++], BENCH_SCALE_NOTE_BYTES, "%s", text);
}

/* Whether the machine has the memory for so many agents; notes when not. */
static bool has_memory(bench_scale_results *results, uint32_t agents) {
  char count[TEXT_BYTES], need[TEXT_BYTES], left[TEXT_BYTES], text[BENCH_SCALE_NOTE_BYTES];
  uint64_t needed = scale_bytes_needed(agents), available = scale_bytes_available();
  if (needed <= available) return true;
  snprintf(text, sizeof text, "%s agents are left out: they need about %s of memory, %s are available",
           text_count(count, agents), text_bytes(need, (double)needed), text_bytes(left, (double)available));
  note(results, text);
  return false;
}

static scale_setup setup_of(const bench_scale_options *options, scale_progress *progress, uint32_t workers) {
  return (scale_setup){
      .workers = workers, .rounds = options->rounds, .quick = options->quick, .show = show_step, .user = progress};
}

static const char *measure_row(bench_scale_results *results, scale_progress *progress, uint32_t agents,
                               uint32_t observers, uint32_t workers) {
  scale_setup setup = setup_of(results->options, progress, workers);
  char agents_text[TEXT_BYTES], observers_text[TEXT_BYTES];
  setup.agents = agents;
  setup.observers = observers;
  snprintf(progress->row, sizeof progress->row, "%s agents, %s observer%s, %u worker%s",
           text_count(agents_text, agents), text_count(observers_text, observers), observers == 1 ? "" : "s", workers,
           workers == 1 ? "" : "s");
  show_row(progress);
  return scale_measure(&setup, &results->rows[results->row_count++]);
}

static const char *measure_rows(bench_scale_results *results, scale_progress *progress) {
  const bench_scale_options *options = results->options;
  const char *wrong = NULL;
  for (uint32_t i = 0; i < options->agents.count; i++) {
    if (!has_memory(results, options->agents.values[i])) continue;
    for (uint32_t j = 0; j < options->observers.count; j++)
      for (uint32_t k = 0; k < options->workers.count && !wrong; k++)
        wrong = measure_row(results, progress, options->agents.values[i], options->observers.values[j],
                            options->workers.values[k]);
  }
  return wrong;
}

static const char *measure_spawning(bench_scale_results *results, scale_progress *progress) {
  const bench_scale_options *options = results->options;
  const char *wrong = NULL;
  for (uint32_t i = 0; i < options->workers.count && !wrong; i++) {
    uint32_t workers = options->workers.values[i];
    scale_setup setup = setup_of(options, progress, workers);
    snprintf(progress->row, sizeof progress->row, "a crowd, %u worker%s", workers, workers == 1 ? "" : "s");
    show_row(progress);
    wrong = scale_measure_spawning(&setup, &results->spawnings[results->spawning_count++]);
  }
  return wrong;
}

static int measure(bench_scale_results *results) {
  scale_progress progress = {.line = progress_begin()};
  struct noise before = noise_begin();
  const char *wrong = measure_rows(results, &progress);
  if (!wrong) wrong = measure_spawning(results, &progress);
  progress_end(&progress.line);
  noise_end(&before, &results->others_share, &results->stolen_share);
  if (wrong) return complain_failure("%s: %s", progress.row, wrong);
  if (results->row_count == 0) return complain_failure("%s", results->notes[0]);
  return STATUS_OK;
}

static int write_json(const bench_scale_results *results, struct output *json) {
  json_writer writer;
  size_t bytes = JSON_BYTES_BESIDE + (size_t)results->row_count * JSON_BYTES_EACH;
  char *text = malloc(bytes);
  if (!text) return complain_failure("out of memory");
  json_start(&writer, text, bytes);
  bench_scale_write_json(results, &writer);
  int status = output_commit_json(json, &writer) ? STATUS_OK : STATUS_FAILED;
  free(text);
  return status;
}

static int deliver(const bench_scale_results *results, struct output *json) {
  const bench_scale_options *options = results->options;
  if (!options->json || strcmp(options->json, "-") != 0) bench_scale_print(results);
  int status = options->json ? write_json(results, json) : STATUS_OK;
  if (status == STATUS_OK && options->plots && !bench_scale_plot(results, options->plots)) status = STATUS_FAILED;
  return status;
}

static int run_bench(const void *user, struct output *json) {
  const bench_scale_options *options = user;
  size_t most = (size_t)options->agents.count * options->observers.count * options->workers.count;
  bench_scale_results *results = calloc(1, sizeof *results);
  int status = STATUS_FAILED;
  if (results) results->rows = calloc(most, sizeof *results->rows);
  if (!results || !results->rows) {
    complain_failure("out of memory");
  } else {
    results->options = options;
    status = measure(results);
    if (status == STATUS_OK) status = deliver(results, json);
  }
  if (results) free(results->rows);
  free(results);
  return status;
}

int bench_scale_command(int count, char **arguments) {
  bench_scale_options options;
  int status;
  if (!bench_scale_options_read(&options, count, arguments, &status)) return status;
  return output_of_work(options.plots, options.json, run_bench, &options);
}
