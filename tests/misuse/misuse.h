/* tests/misuse/misuse.h - what hosts that make mistakes use: every public header, callbacks that take what comes. */
#ifndef MISUSE_H
#define MISUSE_H

#include "support/little_world.h"
#include "support/with.h"

#include <muster/bulk.h>
#include <muster/explain.h>
#include <muster/flight.h>
#include <muster/herd.h>
#include <muster/journal.h>
#include <muster/module.h>
#include <muster/overruns.h>
#include <muster/planner.h>
#include <muster/record.h>
#include <muster/replicate.h>
#include <muster/sets.h>
#include <muster/snapshot.h>
#include <muster/trace.h>
#include <muster/tune.h>
#include <muster/view.h>
#include <muster/zone.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static inline bool take_bytes(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count, (void)user;
  return true;
}

static inline bool take_text(const char *text, size_t length, void *user) {
  (void)text, (void)length, (void)user;
  return true;
}

/* The default with the virtual clock, for WITH(). */
typedef muster_world_def virtual_world_def;

static inline virtual_world_def virtual_world_def_default(void) {
  return WITH(muster_world_def, it.clock.kind = MUSTER_CLOCK_VIRTUAL);
}

static inline muster_world *virtual_world(void) {
  muster_world_def def = virtual_world_def_default();
  return muster_world_create(&def);
}

/* A world with one type, which is destroyed when its block ends. */
#define SCOPED_WORLD SCOPED(little_world_destroy) little_world

static inline little_world world_of(uint32_t workers, muster_type_def type) {
  return typed_world(workers, virtual_world_def_default(), type);
}

static inline void expect_error(const char *words) {
  cr_assert_not_null(strstr(muster_last_error(), words), "'%s' should name '%s'", muster_last_error(), words);
}

static inline muster_pool *pool_of(uint32_t workers) {
  muster_pool_def def = WITH(muster_pool_def, it.workers = workers);
  return muster_pool_create(&def);
}

/* Submits a job, and waits for it. */
static inline muster_result run_job(muster_pool *pool, muster_job_function job, void *argument) {
  muster_group group;
  muster_group_init(&group, pool);
  muster_job_submit(pool, MUSTER_URGENCY_NORMAL, job, argument, &group);
  return muster_group_wait(&group);
}

#endif
