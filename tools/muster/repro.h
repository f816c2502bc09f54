/* repro.h - what the reproductions of the papers have in common. */
#ifndef TOOLS_REPRO_H
#define TOOLS_REPRO_H

#include "base/json.h"

#include <muster/muster.h>
#include <stdbool.h>

/* Adds a statement about the reproduction that runs, printf-style, and whether it holds for what was measured. */
void repro_check_that(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds one about how fast this machine is beside the paper's. It is printed and written, and no failure: it says
 * nothing of what was reproduced. */
void repro_compare_that(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A paper that can be reproduced. `reproduce` prints its tables beside ours unless `quiet`, writes the members of its
 * results into the open object, draws its figures into `plots` unless that is null, and adds its checks. False after a
 * complaint when it could not be run; with `quick`, it leaves out what takes long. `measure`, unless null, measures the
 * costs that the paper's scenario models anew, prints them beside the model unless `quiet` and writes them as a member
 * into the open object. */
typedef struct repro_paper {
  const char *name;
  const char *summary;
  bool (*reproduce)(json_writer *writer, const char *plots, bool quick, bool quiet);
  bool (*measure)(json_writer *writer, bool quiet);
} repro_paper;

/* A default world by the rules that the papers had: rates give way, an agent that waited longer comes first, and levels
 * follow importance. */
static inline muster_world_def repro_world_def(void) {
  muster_world_def def = muster_default_world_def();
  def.elastic = MUSTER_ELASTIC_RATE;
  def.order = MUSTER_ORDER_PRIORITY;
  def.level_pressure = 0.0f;
  return def;
}

/* Tan & Wong: effective load management for AI characters. */
extern const repro_paper repro_tan_wong;

/* Wright & Marshall: egocentric AI processing, a process manager. */
extern const repro_paper repro_wright;

/* Rankin, Acton & Katchabaw: scalable believable non-player characters. */
extern const repro_paper repro_rankin;

/* Osborne & Dickinson: grouped hierarchical level of detail. */
extern const repro_paper repro_osborne;

#endif
