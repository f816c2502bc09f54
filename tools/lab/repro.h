/* repro.h - what the reproductions of the papers have in common: repro.c runs each by the functions of its row. */
#ifndef TOOLS_REPRO_H
#define TOOLS_REPRO_H

#include "base/json.h"
#include "progress.h"

#include <muster/module.h>
#include <stdio.h>

/* Adds a statement about the reproduction that runs, printf-style, and whether it holds for what was measured. One that
 * does not hold fails the command. */
void repro_check_that(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same about the time that something took on this machine, of the CPU or by the wall clock. It is printed and
 * written as it was measured, and decides nothing: whatever else the machine does may turn it. */
void repro_compare_that(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The results of every paper begin with this. */
typedef struct repro_results {
  bool quick;        /* without what takes long */
  bool costs;        /* with the costs that the paper's scenario models, measured anew */
  bool undrawn;      /* a figure could not be drawn while it was measured, after a complaint */
  const char *plots; /* the folder of the figures; null = none is wanted */
  struct progress line;
} repro_results;

/* A figure: a gnuplot script, without its head. */
typedef struct repro_figure {
  const char *name;
  int width, height; /* in pixels */
  void (*draw)(FILE *script, const void *results);
} repro_figure;

/* A paper that can be reproduced. */
typedef struct repro_paper {
  const char *name, *summary;
  size_t bytes;                                            /* of its results, which begin as zeros */
  bool has_costs;                                          /* that can be measured */
  bool (*measure)(void *results);                          /* false with the reason in muster_last_error() */
  void (*check)(const void *results);                      /* adds what the reproduction must show */
  void (*write)(const void *results, json_writer *writer); /* the members of the open object */
  void (*print)(const void *results);                      /* ours beside the paper's */
  repro_figure figures[3];                                 /* up to the first without a name */
} repro_paper;

/* A default world by the rules that the papers had: rates give way, an agent that waited longer comes first, and levels
 * follow importance. */
static inline muster_world_def repro_world_def(void) {
  muster_world_def def = muster_world_def_default();
  def.elastic = MUSTER_ELASTIC_RATE;
  def.order = MUSTER_ORDER_PRIORITY;
  def.levels.pressure = 0.0f;
  return def;
}

/* Registers a type and spawns so many agents of it. False with the reason in muster_last_error(). */
bool repro_spawn(muster_world *world, const muster_type_def *type, uint32_t count, float importance);

/* Begins a line of a table: its name in so many columns, and numbers times a factor, each by a format for one double.
 */
void repro_print_row(const char *name, int columns, const char *format, double factor, const double *numbers,
                     uint32_t count);

/* Writes an array of numbers. */
void repro_write_numbers(json_writer *writer, const char *name, const double *numbers, uint32_t count);

/* Tan & Wong: effective load management for AI characters. */
extern const repro_paper repro_tan_wong;

/* Wright & Marshall: egocentric AI processing, a process manager. */
extern const repro_paper repro_wright;

/* Rankin, Acton & Katchabaw: scalable believable non-player characters. */
extern const repro_paper repro_rankin;

/* Osborne & Dickinson: grouped hierarchical level of detail. */
extern const repro_paper repro_osborne;

#endif
