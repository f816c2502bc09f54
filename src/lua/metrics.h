/* lua/metrics.h - what operators see of scripts: numbers for the host's metrics system, and for the report of a run. */
#ifndef LUA_METRICS_H
#define LUA_METRICS_H

#include "lua/scripts.h"

/* A table as module.h has it. */
extern const muster_module_metric metrics_table[];

/* The module's callbacks of these names. */
void metrics_read(void *instance, const muster_world *world, double *values);
void metrics_report(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user);

#endif
