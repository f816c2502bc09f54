/* bench.c - the one way in which each bench is run, and `muster stress`. */
#include "bench.h"

#include "complaint.h"
#include "noise.h"
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JSON_BYTES = 1 << 26 /* of address space: pages that no document reaches are never used */ };

bool bench_read_costs(void *user, const char *text) {
  bench_work *work = user;
  if (strcmp(text, "constant") != 0 && strcmp(text, "log-normal") != 0) {
    complain_usage("--costs is '%s': constant or log-normal", text);
    return false;
  }
  work->sigma = strcmp(text, "constant") ? 1.0 : 0.0;
  return true;
}

const char *bench_costs_name(const bench_work *work) {
  return work->sigma > 0 ? "log-normal" : "constant";
}

static int write_document(const bench_def *bench, const bench_work *work, struct output *json) {
  json_writer writer;
  char *text = malloc(JSON_BYTES);
  if (!text) return complain_failure("out of memory");
  json_start(&writer, text, JSON_BYTES);
  json_begin_object(&writer, NULL);
  if (bench->name) json_string(&writer, "bench", bench->name);
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
  /* The document first: it is there then, whatever becomes of the plots. */
  int status = work->json ? write_document(bench, work, json) : STATUS_OK;
  if (work->plots && !bench->plot(work, work->plots)) return STATUS_FAILED;
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
  if (bench->name && *work->rest) return complain_usage("one bench at a time: '%s' is too many", *work->rest);
  if (work->rounds == 0) work->rounds = bench->rounds[work->quick];
  work->quiet = work->json && strcmp(work->json, "-") == 0;
  int status = bench->check ? bench->check(work) : STATUS_OK;
  if (status != STATUS_OK || !work->spawns || access(work->spawns, R_OK) == 0) return status;
  return complain_failure("cannot read '%s': %s", work->spawns, strerror(errno));
}

static int read_and_run(const char *command, const bench_def *bench, bench_work *work, int count, char **arguments) {
  struct output json;
  int status;
  option_reader reader = {command, bench->options, bench->show_help};
  if (!options_read(&reader, work, count, arguments, &status)) return status;
  work->rest = arguments + optind;
  status = check(bench, work);
  if (status != STATUS_OK || !output_begin(&json, work->plots, work->json)) return status ? status : STATUS_FAILED;
  status = measure(bench, work, &json);
  output_discard(&json);
  return status;
}

int bench_run(const char *command, const bench_def *bench, int count, char **arguments) {
  bench_work *work = calloc(1, bench->bytes);
  if (!work) return complain_failure("out of memory");
  work->seed = 1;
  int status = read_and_run(command, bench, work, count, arguments);
  free(work);
  return status;
}
