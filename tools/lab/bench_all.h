/* bench_all.h - `muster bench all`: every figure of README.md and of the book comes from one command. It runs the
 * steps, keeps the figures that the sections name, and writes the sections with them into a report and between the
 * marks of documents.
 *
 * A section is Markdown with figures in braces: {STEP PATH}, where PATH leads through the step's JSON, as in
 * {scale rows[agents=1000].ns_per_update}. Several elements may fit a filter in brackets; a figure is the range of all
 * of them in all runs. {=STEP PATH} is virtual: the same on any machine. Behind the path may follow |*FACTOR,
 * |.DECIMALS, |verdict, which says better or worse of a ratio, and |large, of what neither a short run reaches nor a
 * machine with little memory. */
#ifndef TOOLS_BENCH_ALL_H
#define TOOLS_BENCH_ALL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct all_options {
  const char *report;    /* folder */
  const char *documents; /* those with marks, separated by commas, or null */
  const char *spawns;    /* a population file, or null */
  const char *only;      /* the steps that are measured anew, separated by commas; null: all */
  bool quick, again;
} all_options;

typedef struct all_step {
  const char *name;
  const char *command; /* of `muster`; FILE.csv and DIR stand for what the options say */
  const char *quick;   /* what follows the command with --quick */
  uint32_t runs;
  bool real_time; /* with real-time priority, where that is allowed */
} all_step;

typedef struct all_section {
  const char *name, *title;
  const char *const *parts; /* of its text, ended by a null */
  const char *plot;         /* a plot that a step draws, for the report; or null */
} all_section;

extern const all_step all_steps[];       /* up to an empty one */
extern const all_section all_sections[]; /* up to an empty one */

enum { ALL_PART_BYTES = 8192 };

/* Where a section is read; begins with its parts. */
typedef struct all_reader {
  const char *const *next;
  const char *pattern;
  char line[ALL_PART_BYTES];
} all_reader;

/* The next part of a section, made by its pattern where there is one; null behind the last. */
const char *all_read(all_reader *reader);

/* A figure's place in a section. */
typedef struct all_place {
  const char *begin, *end; /* from one brace to behind the other */
  char step[32], path[160];
  char name[200]; /* that it has in the file of figures: as it stands in the section, without what follows the path */
  bool exact, verdict, large;
  double factor;
  int decimals; /* negative: three significant digits */
} all_place;

/* The next place from `text` on. False: there is none. */
bool all_place_next(const char *text, all_place *place);

/* Takes the figures of a step's sections out of what it printed, and adds them to the others. False: a path leads
 * nowhere, and that was complained of. */
bool all_figures_take(json_t *figures, const all_step *step, json_t *printed);

/* Forgets the figures of a step. */
void all_figures_forget(json_t *figures, const all_step *step);

/* Leaves of each figure that is not exact the lowest and the highest. */
void all_figures_finish(json_t *figures);

/* Runs the steps and fills `document`: machine, steps, figures. Where only some are wanted it keeps what it has of the
 * others. Returns the exit status. */
int all_measure(const all_options *options, json_t *document);

/* Writes report.md, and the sections into the marked places of the documents. Returns the exit status. */
int all_write(const all_options *options, json_t *document);

#endif
