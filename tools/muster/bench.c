/* `muster bench`: all benches, and the one way in which each is run. */
#include "bench.h"

#include "commands.h"
#include "complaint.h"
#include "noise.h"
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JSON_BYTES = 1 << 26 /* of address space: pages that no document reaches are never used */ };

const bench_def *const benches[] = {&bench_activation, &bench_control, &bench_law,
                                    &bench_machine,    &bench_quality, &bench_scale,
                                    &bench_sets,       &bench_sweep,   NULL};

static int write_document(const bench_def *bench, const bench_work *work, struct output *json) {
  json_writer writer;
  char *text = malloc(JSON_BYTES);
  if (!text) return complain_failure("out of memory");
  json_start(&writer, text, JSON_BYTES);
  json_begin_object(&writer, NULL);
  if (!bench->named) json_string(&writer, "bench", bench->name);
  bench->write(work, &writer);
  if (bench->noisy)
    json_print(&writer, "others_cpu_share=%g stolen_cpu_share=%g", work->others_share, work->stolen_share);
  json_end_object(&writer);
  bool written = output_commit_json(json, &writer);
  free(text);
  return written ? STATUS_OK : STATUS_FAILED;
}

static int deliver(const bench_def *bench, const bench_work *work, struct output *json) {
  if (!work->quiet) bench->print(work);
  if (!work->quiet && bench->noisy) noise_print(work->others_share, work->stolen_share);
  if (work->plots && !bench->plot(work, work->plots)) return STATUS_FAILED;
  int status = work->json ? write_document(bench, work, json) : STATUS_OK;
  return status == STATUS_OK && bench->judge ? bench->judge(work) : status;
}

static int measure(const bench_def *bench, bench_work *work, struct output *json) {
  struct noise before = noise_begin();
  work->line = progress_begin();
  const char *wrong = bench->measure(work);
  progress_end(&work->line);
  noise_end(&before, &work->others_share, &work->stolen_share);
  return wrong ? complain_failure("%s", wrong) : deliver(bench, work, json);
}

/* Completes and checks what was asked for. Returns the exit status. */
static int check(const bench_def *bench, bench_work *work) {
  if (!bench->named && *work->rest) return complain_usage("one bench at a time: '%s' is too many", *work->rest);
  if (work->rounds == 0) work->rounds = bench->rounds[work->quick];
  work->quiet = work->json && strcmp(work->json, "-") == 0;
  int status = bench->check ? bench->check(work) : STATUS_OK;
  if (status != STATUS_OK || !work->spawns || access(work->spawns, R_OK) == 0) return status;
  return complain_failure("cannot read '%s': %s", work->spawns, strerror(errno));
}

static int read_and_run(const bench_def *bench, bench_work *work, int count, char **arguments) {
  char command[64] = "bench";
  struct output json;
  int status;
  if (!bench->named) snprintf(command, sizeof command, "bench %s", bench->name);
  option_reader reader = {command, bench->options, bench->show_help};
  if (!options_read(&reader, work, count, arguments, &status)) return status;
  work->rest = arguments + optind;
  status = check(bench, work);
  if (status != STATUS_OK || !output_begin(&json, work->plots, work->json)) return status ? status : STATUS_FAILED;
  status = measure(bench, work, &json);
  output_discard(&json);
  return status;
}

static int run(const bench_def *bench, int count, char **arguments) {
  bench_work *work = calloc(1, bench->bytes);
  if (!work) return complain_failure("out of memory");
  work->seed = 1;
  int status = read_and_run(bench, work, count, arguments);
  if (bench->release) bench->release(work);
  free(work);
  return status;
}

int bench_command(int count, char **arguments) {
#ifdef MUSTER_HAS_CTL
  if (count > 1 && strcmp(arguments[1], "all") == 0) return bench_all_command(count - 1, arguments + 1);
#endif
  for (size_t i = 0; count > 1 && benches[i]; i++)
    if (strcmp(arguments[1], benches[i]->name) == 0) return run(benches[i], count - 1, arguments + 1);
  return run(&bench_pool, count, arguments);
}
