/* `muster bench lines`: how many cache lines the stages of a frame touch for an update, and of what they are. */
#include "benches.h"
#include "engine.h"

#include "complaint.h"
#include "lines.h"
#include "stages.h"
#include "text.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* Structures with less, outside run and in it, are summed up in one line of the table. */
static const double shown_from = 0.005;

typedef struct lines_work {
  bench_work common;
  uint32_t agents; /* 0 = the default */
  const char *only;
  uint32_t wanted;
  lines_measure_function *measure;
  lines_row rows[LINES_ROWS];
} lines_work;

/* By column. */
static const char *const columns[LINES_COLUMNS] = {
    [MUSTER_STAGE_INTAKE] = "intake", [MUSTER_STAGE_SCORE] = "score",     [MUSTER_STAGE_FOLD] = "fold",
    [MUSTER_STAGE_FIT] = "fit",       [MUSTER_STAGE_RELEASE] = "release", [MUSTER_STAGE_RANK] = "rank",
    [MUSTER_STAGE_RUN] = "run",       [MUSTER_STAGE_COMMIT] = "commit",   [LINES_AROUND] = "around",
    [LINES_SUM] = "all but run"};

static void show_method(FILE *stream) {
  fprintf(
      stream,
      "\n"
      "How it is counted\n"
      "  The module bench/lines.so beside the program has the library once more, compiled as the release is, but so "
      "that each read and each write calls a function, which notes the line of %d bytes. gcc builds it, without "
      "sanitizers.\n"
      "  A line counts once for each stage of a frame that touches it, and once for `all but run` if any stage but "
      "run does; divided by the updates that the frames completed. around: what a frame does before its first "
      "stage and behind its last. Lines that are only prefetched do not count, nor do those of the stack.\n"
      "  A structure is named by the file that reserves it, the name of the array or the last one in the size of an "
      "element, and, if the file does so for several functions, by the function. All arrays of a name are one "
      "structure. Those with less than %g lines are summed up.\n"
      "  Noting takes time, so the clocks of the module are slower: budgets and pressures are about those of `muster "
      "bench stages`.\n"
      "  Before the rows, accesses whose lines are known are counted; the bench fails when it does not find just "
      "these.\n",
      LINES_BYTES, shown_from);
}

static void show_help(FILE *stream) {
  fprintf(stream,
          "muster bench lines - counts the cache lines that the stages of a frame touch for an update\n"
          "\n"
          "usage: muster bench lines [OPTION]...\n"
          "\n"
          "  --agents N     of the large worlds, from %d on (default %d); the others have a part of it\n"
          "  --only ROW,... counts in these rows alone\n"
          "  --quick        few frames, %d agents unless --agents says otherwise: shows that it works\n"
          "  --json FILE    the rows for machines, with every structure; - is standard output\n"
          "  --help\n"
          "\n"
          "The rows: tenth-fits, all-fit, pressure-4 and backlog-4, as in `muster bench stages`, with one worker, back "
          "to back and with warm caches: what is touched does not depend on these.\n",
          STAGES_AGENTS_MIN, STAGES_AGENTS, STAGES_AGENTS_QUICK);
  show_method(stream);
}

static const char *row_name(uint32_t row) {
  return row < LINES_ROWS ? stages_name(row) : NULL;
}

/* A bit for each row whose name stands in the list; all rows without one. */
static int take_rows(const char *list, uint32_t *wanted) {
  char name[OPTION_WORD_BYTES];
  if (!list) *wanted = (1u << LINES_ROWS) - 1;
  while (options_list_next(&list, name)) {
    uint32_t row = 0;
    while (row_name(row) && strcmp(row_name(row), name) != 0) row++;
    if (!row_name(row)) return complain_usage("unknown row '%s'; muster bench lines --help names them all", name);
    *wanted |= 1u << row;
  }
  return STATUS_OK;
}

static int check(void *user) {
  lines_work *work = user;
  char folder[PATH_MAX], path[PATH_MAX + sizeof "/lines.so"];
  if (!work->agents) work->agents = work->common.quick ? STAGES_AGENTS_QUICK : STAGES_AGENTS;
  int status = take_rows(work->only, &work->wanted);
  if (status != STATUS_OK) return status;
  snprintf(path, sizeof path, "%s/lines.so", bench_own_folder(folder) ? folder : ".");
  void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *symbol = module ? dlsym(module, LINES_ENTRY) : NULL;
  if (!symbol) return complain_failure("%s; gcc builds it, without sanitizers", dlerror());
  memcpy(&work->measure, &symbol, sizeof work->measure);
  return STATUS_OK;
}

static void show_step(const char *row, const char *doing, void *user) {
  progress_step(user, "%s: %s", row, doing);
}

static const char *measure(void *user) {
  lines_work *work = user;
  lines_setup setup = {.size = sizeof *work->rows,
                       .agents = work->agents,
                       .wanted = work->wanted,
                       .quick = work->common.quick,
                       .show = show_step,
                       .user = &work->common.line};
  return work->measure(&setup, work->rows);
}

/* ---------------------------------------------------------------------------------------------------------- results */

/* A value that is none is a dot, so that the others are seen. */
static void print_lines(const char *name, const double lines[LINES_COLUMNS]) {
  printf("  %-48s", name);
  for (uint32_t i = 0; i < LINES_COLUMNS; i++) {
    int width = i == LINES_SUM ? 12 : 8;
    if (lines[i] > 0)
      printf(" %*.3f", width, lines[i]);
    else
      printf(" %*s", width, ".");
  }
  putchar('\n');
}

static void print_row(const lines_row *row) {
  lines_structure others = {0};
  uint32_t left_out = 0;
  printf("\n%s: %s agents, %s updates in a frame, %s carried, pressure %s, %u frames with a budget of %s\n", row->name,
         text_count(row->agents), text_count((uint64_t)llround(row->updates_per_frame)),
         text_count((uint64_t)llround(row->carried_per_frame)), text_pressure(row->pressure), row->frames,
         text_duration(row->budget_ns));
  printf("  %-48s", "lines per update");
  for (uint32_t i = 0; i < LINES_COLUMNS; i++) printf(" %*s", i == LINES_SUM ? 12 : 8, columns[i]);
  putchar('\n');
  for (const lines_structure *structure = row->structures; structure < row->structures + row->count; structure++)
    if (structure->lines[LINES_SUM] >= shown_from || structure->lines[MUSTER_STAGE_RUN] >= shown_from) {
      print_lines(structure->name, structure->lines);
    } else {
      for (uint32_t i = 0; i < LINES_COLUMNS; i++) others.lines[i] += structure->lines[i];
      left_out++;
    }
  if (left_out) print_lines(text_of("%u more", left_out), others.lines);
  print_lines("all", row->lines);
}

static void print(const void *user) {
  const lines_work *work = user;
  printf("muster bench lines: cache lines of %d bytes that a frame touches, per completed update; 1 worker%s\n",
         LINES_BYTES, work->common.quick ? "; quick: figures mean little" : "");
  for (uint32_t i = 0; i < LINES_ROWS; i++)
    if (work->rows[i].measured) print_row(&work->rows[i]);
}

static void write_lines(json_writer *writer, const double lines[LINES_COLUMNS]) {
  for (uint32_t i = 0; i < LINES_COLUMNS; i++)
    json_number(writer, i == LINES_SUM ? "all_but_run" : columns[i], lines[i]);
}

static void write(const void *user, json_writer *writer) {
  const lines_work *work = user;
  json_print(writer, "agents=%u quick=%d line_bytes=%u rows[", work->agents, work->common.quick, LINES_BYTES);
  for (const lines_row *row = work->rows; row < work->rows + LINES_ROWS; row++) {
    if (!row->measured) continue;
    json_print(writer,
               "{ name=%s agents=%u frames=%u updates_per_frame=%g carried_per_frame=%g pressure=%g budget_ns=%g "
               "lines_per_update{",
               row->name, row->agents, row->frames, row->updates_per_frame, row->carried_per_frame, row->pressure,
               row->budget_ns);
    write_lines(writer, row->lines);
    json_print(writer, "} structures[");
    for (uint32_t i = 0; i < row->count; i++) {
      json_print(writer, "{ name=%s", row->structures[i].name);
      write_lines(writer, row->structures[i].lines);
      json_end_object(writer);
    }
    json_print(writer, "] }");
  }
  json_end_array(writer);
}

static const option_def options[] = {
    OPTION_WITHIN("agents", COUNT32, lines_work, agents, STAGES_AGENTS_MIN, STAGES_AGENTS_MAX),
    OPTION("only", TEXT, lines_work, only),
    BENCH_QUICK,
    BENCH_JSON,
    {0}};

const bench_def bench_lines = {"lines",
                               "how many cache lines the stages of a frame touch for an update",
                               show_help,
                               options,
                               sizeof(lines_work),
                               .check = check,
                               .measure = measure,
                               .print = print,
                               .write = write};
