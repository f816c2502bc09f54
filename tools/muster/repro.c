/* `muster repro`: the tables and figures of the papers beside our own. */
#include "repro.h"

#include "commands.h"
#include "complaint.h"
#include "options.h"
#include "output.h"
#include "plots.h"

#include <stdarg.h>
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

enum { CHECKS_MAX = 64, CHECK_BYTES = 160, CHECKED = 0, COMPARED, LISTS };

/* The statements about the reproduction that runs: those that must hold, and those with figures of another machine:
 * what fails there, fails here only. */
static struct checks {
  uint32_t count, failed;
  struct {
    char what[CHECK_BYTES];
    bool holds;
  } list[CHECKS_MAX];
} checks[LISTS];

static void add(struct checks *to, bool holds, const char *format, va_list arguments) {
  to->failed += !holds;
  if (to->count == CHECKS_MAX) return;
  to->list[to->count].holds = holds;
  vsnprintf(to->list[to->count++].what, CHECK_BYTES, format, arguments);
}

void repro_check_that(bool holds, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add(&checks[CHECKED], holds, format, arguments);
  va_end(arguments);
}

void repro_compare_that(bool holds, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add(&checks[COMPARED], holds, format, arguments);
  va_end(arguments);
}

static void print_checks(void) {
  static const char *const titles[LISTS] = {"Holds?", "And on this machine, beside the paper's?"};
  for (uint32_t k = 0; k < LISTS; k++) {
    if (checks[k].count) printf("\n%s\n", titles[k]);
    for (uint32_t i = 0; i < checks[k].count; i++)
      printf("  %-4s %s\n", checks[k].list[i].holds ? "yes" : "NO", checks[k].list[i].what);
  }
}

static void write_checks(json_writer *writer) {
  for (uint32_t k = 0; k < LISTS; k++) {
    json_begin_array(writer, k == CHECKED ? "checks" : "compared");
    for (uint32_t i = 0; i < checks[k].count; i++)
      json_print(writer, "{ what=%s holds=%d }", checks[k].list[i].what, checks[k].list[i].holds);
    json_end_array(writer);
  }
  json_bool(writer, "holds", checks[CHECKED].failed == 0);
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
  memset(checks, 0, sizeof checks);
  if (options->measure && paper->measure && !paper->measure(writer, quiet)) return false;
  if (!paper->reproduce(writer, options->plots, options->quick, quiet)) return false;
  write_checks(writer);
  if (!quiet) print_checks();
  *failed += checks[CHECKED].failed;
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
