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
  size_t first, end; /* of the papers */
  const char *json, *plots;
  bool measure, quick, quiet;
} repro_options;

enum { CHECKS_MAX = 64, CHECK_BYTES = 160, CHECKED = 0, COMPARED, LISTS };

/* The statements about the reproduction that runs: those that must hold, and those about times of this machine. */
static struct checks {
  uint32_t count, failed;
  struct {
    char what[CHECK_BYTES];
    bool holds;
  } all[CHECKS_MAX];
} checks[LISTS];

static uint32_t failed; /* of all papers */

static void add_statement(struct checks *list, bool holds, const char *format, va_list arguments) {
  list->failed += !holds;
  if (list->count == CHECKS_MAX) return;
  list->all[list->count].holds = holds;
  vsnprintf(list->all[list->count++].what, CHECK_BYTES, format, arguments);
}

void repro_check_that(bool holds, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_statement(&checks[CHECKED], holds, format, arguments);
  va_end(arguments);
}

void repro_compare_that(bool holds, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_statement(&checks[COMPARED], holds, format, arguments);
  va_end(arguments);
}

bool repro_spawn(muster_world *world, const muster_type_def *type, uint32_t count, float importance) {
  muster_agent_def def = muster_agent_def_default();
  def.type = muster_type_register(world, type);
  def.importance_floor = importance;
  for (uint32_t i = 0; i < count; i++)
    if (!def.type.index || muster_agent_is_null(muster_agent_spawn(world, &def))) return false;
  return true;
}

void repro_print_row(const char *name, int columns, const char *format, double factor, const double *numbers,
                     uint32_t count) {
  printf("\n%-*s", columns, name);
  for (uint32_t i = 0; i < count; i++) printf(format, factor * numbers[i]);
}

void repro_write_numbers(json_writer *writer, const char *name, const double *numbers, uint32_t count) {
  json_begin_array(writer, name);
  for (uint32_t i = 0; i < count; i++) json_number(writer, NULL, numbers[i]);
  json_end_array(writer);
}

static void print_checks(void) {
  static const char *const titles[LISTS] = {"Holds?", "And in time on this machine? (told, not judged)"};
  for (uint32_t k = 0; k < LISTS; k++) {
    if (checks[k].count) printf("\n%s\n", titles[k]);
    for (uint32_t i = 0; i < checks[k].count; i++)
      printf("  %-4s %s\n", checks[k].all[i].holds ? "yes" : "NO", checks[k].all[i].what);
  }
}

static void write_checks(json_writer *writer) {
  for (uint32_t k = 0; k < LISTS; k++) {
    json_begin_array(writer, k == CHECKED ? "checks" : "compared");
    for (uint32_t i = 0; i < checks[k].count; i++)
      json_print(writer, "{ what=%s holds=%d }", checks[k].all[i].what, checks[k].all[i].holds);
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
        "and osborne large worlds: shows that it works, not how fast\n"
        "  --help\n"
        "\n"
        "Ends with status 1 when something that the reproduction must show does not hold. Comparisons of CPU time and "
        "of speed are shown apart as they were measured, and decide nothing: what else the machine does may turn "
        "them.\n",
        stream);
}

/* An option that the paper has no use for is refused: otherwise it would be ignored silently. */
static int choose_papers(repro_options *options, const char *name) {
  const char *names[PAPERS + 1] = {"all"};
  size_t chosen = 0;
  for (size_t i = 0; i < PAPERS; i++) names[i + 1] = papers[i]->name;
  while (chosen <= PAPERS && strcmp(name, names[chosen]) != 0) chosen++;
  if (chosen > PAPERS) return complain_unknown("paper", name, names, PAPERS + 1, "");
  options->first = chosen ? chosen - 1 : 0;
  options->end = chosen ? chosen : PAPERS;
  if (chosen && options->measure && !papers[chosen - 1]->has_costs)
    return complain_usage("%s has no costs to measure: leave out --measure", name);
  return STATUS_OK;
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
  if (count - optind == 1)
    *status = choose_papers(options, arguments[optind]);
  else if (count - optind > 1)
    *status = complain_usage("one paper at a time, or all: '%s' is too many", arguments[optind + 1]);
  else
    *status = complain_usage("give a paper, such as `muster repro tan-wong`, or all");
  options->quiet = options->json && strcmp(options->json, "-") == 0;
  return *status == STATUS_OK;
}

static bool draw(const repro_paper *paper, const repro_results *results) {
  for (const repro_figure *figure = paper->figures; results->plots && figure->name; figure++) {
    FILE *script = plot_begin(results->plots, figure->name, figure->width, figure->height);
    if (!script) return false;
    figure->draw(script, results);
    if (!plot_end(script)) return false;
  }
  return true;
}

static bool deliver(const repro_paper *paper, const repro_results *results, json_writer *writer, bool quiet) {
  paper->check(results);
  json_string(writer, "paper", paper->name);
  paper->write(results, writer);
  if (!quiet) paper->print(results);
  if (results->undrawn || !draw(paper, results)) return false;
  write_checks(writer);
  if (!quiet) print_checks();
  failed += checks[CHECKED].failed;
  return true;
}

/* Runs one paper into the open object. */
static bool reproduce(const repro_paper *paper, const repro_options *options, json_writer *writer) {
  repro_results *results = calloc(1, paper->bytes);
  if (!results) return complain_failure("out of memory") == STATUS_OK;
  memset(checks, 0, sizeof checks);
  *results = (repro_results){
      .quick = options->quick, .costs = options->measure, .plots = options->plots, .line = progress_begin()};
  bool done = paper->measure(results);
  progress_end(&results->line);
  if (done)
    done = deliver(paper, results, writer, options->quiet);
  else
    complain_failure("%s: %s", paper->name, muster_last_error());
  free(results);
  return done;
}

/* One paper is the document; all of them are a member each. */
static bool reproduce_chosen(const repro_options *options, json_writer *writer) {
  bool several = options->end - options->first > 1, done = true;
  json_begin_object(writer, NULL);
  for (size_t i = options->first; i < options->end && done; i++) {
    if (several) json_begin_object(writer, papers[i]->name);
    done = reproduce(papers[i], options, writer);
    if (several) json_end_object(writer);
  }
  json_end_object(writer);
  return done;
}

int repro_command(int count, char **arguments) {
  static char text[JSON_BYTES];
  repro_options options = {0};
  struct output json;
  json_writer writer;
  int status;
  if (!read_options(&options, count, arguments, &status)) return status;
  if (!output_begin(&json, options.plots, options.json)) return STATUS_FAILED;
  json_start(&writer, text, JSON_BYTES);
  bool done = reproduce_chosen(&options, &writer) && (!options.json || output_commit_json(&json, &writer));
  output_discard(&json);
  if (!done) return STATUS_FAILED;
  if (failed == 0) return STATUS_OK;
  return complain_failure("%u of the reproduction's checks do not hold; the list says which", failed);
}
