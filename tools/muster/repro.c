/* `muster repro`: the tables and figures of the papers beside our own. */
#include "repro.h"

#include "commands.h"
#include "complaint.h"
#include "options.h"
#include "output.h"
#include "plots.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_BYTES = 1 << 18 };

static const repro_paper *const papers[] = {&repro_tan_wong, &repro_wright, &repro_rankin, &repro_osborne};

enum { PAPERS = sizeof papers / sizeof *papers };

typedef struct repro_options {
  const char *paper; /* or "all" */
  const char *json;
  const char *plots;
  bool measure, quick;
} repro_options;

void repro_check_that(repro_checks *checks, bool holds, const char *format, ...) {
  va_list arguments;
  if (!holds) checks->failed++;
  if (checks->count == REPRO_CHECKS_MAX) return;
  repro_check *check = &checks->list[checks->count++];
  check->holds = holds;
  va_start(arguments, format);
  vsnprintf(check->what, sizeof check->what, format, arguments);
  va_end(arguments);
}

void repro_compare_that(repro_checks *checks, bool holds, const char *format, ...) {
  va_list arguments;
  if (checks->compared_count == REPRO_COMPARED_MAX) return;
  repro_check *check = &checks->compared[checks->compared_count++];
  check->holds = holds;
  va_start(arguments, format);
  vsnprintf(check->what, sizeof check->what, format, arguments);
  va_end(arguments);
}

static void print_list(const char *title, const repro_check *list, uint32_t count) {
  if (count) printf("\n%s\n", title);
  for (uint32_t i = 0; i < count; i++) printf("  %-4s %s\n", list[i].holds ? "yes" : "NO", list[i].what);
}

void repro_print_checks(const repro_checks *checks) {
  print_list("Holds?", checks->list, checks->count);
  print_list("And on this machine, beside the paper's?", checks->compared, checks->compared_count);
}

static void write_list(json_writer *writer, const char *name, const repro_check *list, uint32_t count) {
  json_begin_array(writer, name);
  for (uint32_t i = 0; i < count; i++) {
    json_print(writer, "{ what=%s holds=%d }", list[i].what, list[i].holds);
  }
  json_end_array(writer);
}

void repro_write_checks(json_writer *writer, const repro_checks *checks) {
  write_list(writer, "checks", checks->list, checks->count);
  write_list(writer, "compared", checks->compared, checks->compared_count);
  json_bool(writer, "holds", checks->failed == 0);
}

static void show_help(FILE *stream) {
  fputs("muster repro - reproduces a paper's tables and figures beside our measurement\n"
        "\n"
        "usage: muster repro PAPER|all [OPTION]...\n"
        "\n"
        "Papers:\n",
        stream);
  for (size_t i = 0; i < PAPERS; i++) fprintf(stream, "  %-12s %s\n", papers[i]->name, papers[i]->summary);
  fputs("\n"
        "  --json FILE   the results for machines; - is standard output\n"
        "  --plots DIR   draw the figures as PNG into this folder (needs gnuplot)\n"
        "  --measure     wright: measure what the modelled costs are taken from, too, and show both\n"
        "  --quick       leave out what takes long: tan-wong its overhead, wright the search for populations, rankin "
        "and\n"
        "                osborne large worlds: shows that it works, not how fast\n"
        "  --help\n"
        "\n"
        "Ends with status 1 when something that the reproduction must show does not hold. Speed beside the paper's\n"
        "machine is shown apart, and no failure.\n",
        stream);
}

/* An option that the paper has no use for is refused: otherwise it would be ignored silently. */
static int check_ways(const repro_options *options) {
  for (size_t i = 0; i < PAPERS; i++) {
    if (strcmp(options->paper, papers[i]->name) != 0) continue;
    if (options->measure && !papers[i]->measure)
      return complain_usage("%s has no costs to measure: leave out --measure", options->paper);
  }
  return STATUS_OK;
}

static int check_paper(const char *name) {
  const char *names[PAPERS + 1] = {"all"};
  bool known = strcmp(name, "all") == 0;
  for (size_t i = 0; i < PAPERS; i++) known |= strcmp(name, names[i + 1] = papers[i]->name) == 0;
  return known ? STATUS_OK : complain_unknown("paper", name, names, PAPERS + 1, "");
}

static const option_def known[] = {OPTION("json", TEXT, repro_options, json),
                                   OPTION("plots", TEXT, repro_options, plots),
                                   OPTION("measure", ON, repro_options, measure),
                                   OPTION("quick", ON, repro_options, quick),
                                   {0}};

/* True: go on; false: `status` is the exit status. */
static bool read_options(repro_options *options, int count, char **arguments, int *status) {
  static const option_reader reader = {"repro", known, show_help};
  if (!options_read(&reader, options, count, arguments, status)) return false;
  if (count - optind == 1) {
    options->paper = arguments[optind];
    *status = check_paper(options->paper);
    if (*status == STATUS_OK) *status = check_ways(options);
  } else if (count - optind > 1) {
    *status = complain_usage("one paper at a time, or all: '%s' is too many", arguments[optind + 1]);
  } else {
    *status = complain_usage("give a paper, such as `muster repro tan-wong`, or all");
  }
  return *status == STATUS_OK;
}

/* Runs one paper into the open object. */
static bool reproduce(const repro_paper *paper, const repro_options *options, json_writer *writer, bool quiet,
                      uint32_t *failed) {
  repro_checks checks = {0};
  if (options->measure && paper->measure && !paper->measure(writer, quiet)) return false;
  if (!paper->reproduce(writer, options->plots, options->quick, quiet, &checks)) return false;
  repro_write_checks(writer, &checks);
  if (!quiet) repro_print_checks(&checks);
  *failed += checks.failed;
  return true;
}

/* One paper is the document; all of them are a member each. */
static bool reproduce_wanted(const repro_options *options, json_writer *writer, bool quiet, uint32_t *failed) {
  bool all = strcmp(options->paper, "all") == 0, done = true;
  json_begin_object(writer, NULL);
  for (size_t i = 0; i < PAPERS && done; i++) {
    if (!all && strcmp(options->paper, papers[i]->name) != 0) continue;
    if (all) json_begin_object(writer, papers[i]->name);
    done = reproduce(papers[i], options, writer, quiet, failed);
    if (all) json_end_object(writer);
  }
  json_end_object(writer);
  return done;
}

static int run_papers(const repro_options *options, struct output *json, char *text) {
  json_writer writer;
  uint32_t failed = 0;
  bool quiet = options->json && strcmp(options->json, "-") == 0;
  json_start(&writer, text, JSON_BYTES);
  if (!reproduce_wanted(options, &writer, quiet, &failed)) return STATUS_FAILED;
  if (options->json && !output_commit_json(json, &writer)) return STATUS_FAILED;
  if (failed == 0) return STATUS_OK;
  return complain_failure("%u of the reproduction's checks do not hold; the list says which", failed);
}

int repro_command(int count, char **arguments) {
  repro_options options = {0};
  struct output json;
  int status;
  if (!read_options(&options, count, arguments, &status)) return status;
  if (!output_begin(&json, options.plots, options.json)) return STATUS_FAILED;
  char *text = malloc(JSON_BYTES);
  status = text ? run_papers(&options, &json, text) : complain_failure("out of memory");
  free(text);
  output_discard(&json);
  return status;
}
