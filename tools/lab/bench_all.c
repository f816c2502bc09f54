#include "bench_all.h"

#include "commands.h"
#include "complaint.h"
#include "options.h"
#include "plots.h"
#include "whole.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void show_help(FILE *stream) {
  fputs("muster bench all - measures the figures of documents, and writes them there\n"
        "\n"
        "usage: muster bench all --report FOLDER [OPTION]...\n"
        "\n"
        "  --report FOLDER    writes report.md (tables, machine, date, conditions), figures.json and the plots there\n"
        "  --documents FILE,...\n"
        "                     also writes the tables between the marks of these documents: README.md and the book\n"
        "  --spawns FILE.csv  a population of your own, for the rows of a real spawn file\n"
        "  --only STEP,...    measures these steps alone anew, and keeps the other figures of the folder\n"
        "  --again            measures nothing: writes the tables from the figures.json of the folder\n"
        "  --quick            a short run of everything: shows that it works, not how fast\n"
        "  --help\n"
        "\n"
        "Runs the other benches, and `muster run`, each in a process of its own; about a quarter of an hour. A "
        "figure is the lowest and the highest of all runs of its step. Steps of promises run with real-time "
        "priority where that is allowed (root, or RLIMIT_RTPRIO), and the report says which did. Job systems that are "
        "not installed are left out: see tools/setup --peers.\n"
        "\n"
        "In a document, a place begins with the line <!-- figures: SECTION --> and ends with <!-- end of figures -->. "
        "Sections:\n",
        stream);
  for (const all_section *section = all_sections; section->name; section++)
    fprintf(stream, "  %-12s %s\n", section->name, section->title);
}

/* Each name of a list with commas, or of none, is a step's. */
static int check_steps(const char *list) {
  char name[OPTION_WORD_BYTES];
  while (options_list_next(&list, name)) {
    const all_step *step = all_steps;
    while (step->name && strcmp(step->name, name) != 0) step++;
    if (!step->name) return complain_usage("unknown step '%s'; report.md names them all", name);
  }
  return STATUS_OK;
}

/* `extra` is what stands behind the options. */
static int check(const all_options *options, const char *extra) {
  if (extra) return complain_usage("one bench at a time: '%s' is too many", extra);
  if (!options->report) return complain_usage("say where the report goes: --report FOLDER");
  if (options->quick && options->documents)
    return complain_usage("the figures of --quick mean little: leave out --documents");
  if (options->again && (options->quick || options->spawns || options->only))
    return complain_usage("--again measures nothing: leave out --quick, --spawns and --only");
  if (options->quick && options->only)
    return complain_usage("the figures of --quick mean little beside others: leave out --only");
  return check_steps(options->only);
}

/* The figures of an earlier run, or null: that was complained of. */
static json_t *load(const char *path) {
  json_error_t error;
  char *text = whole_read(path);
  json_t *document = text ? json_loads(text, JSON_REJECT_DUPLICATES, &error) : NULL;
  if (text && !document) complain_failure("'%s', line %d: %s", path, error.line, error.text);
  free(text);
  return document;
}

static int keep(const char *path, json_t *document) {
  char *text = json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
  bool written = text && whole_write(path, text, strlen(text));
  free(text);
  return written ? STATUS_OK : STATUS_FAILED;
}

int bench_all_command(int count, char **arguments) {
  static const option_def known[] = {OPTION("report", TEXT, all_options, report),
                                     OPTION("documents", TEXT, all_options, documents),
                                     OPTION("spawns", TEXT, all_options, spawns),
                                     OPTION("only", TEXT, all_options, only),
                                     OPTION("again", ON, all_options, again),
                                     OPTION("quick", ON, all_options, quick),
                                     {0}};
  static const option_reader reader = {"bench all", known, show_help};
  all_options options = {0};
  char path[PATH_MAX];
  int status;
  if (!options_read(&reader, &options, count, arguments, &status)) return status;
  status = check(&options, arguments[optind]);
  if (status) return status;
  if (!plots_prepare(options.report)) return STATUS_FAILED;
  snprintf(path, sizeof path, "%s/figures.json", options.report);
  json_t *document = options.again || options.only ? load(path) : json_object();
  if (!document) return STATUS_FAILED;
  if (!options.again) {
    status = all_measure(&options, document);
    if (status == STATUS_OK) status = keep(path, document);
  }
  if (status == STATUS_OK) status = all_write(&options, document);
  json_decref(document);
  return status;
}
