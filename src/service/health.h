/* service/health.h - whether musterd lives, and whether its worlds run.
 *
 *     GET /healthz    200 while the loop answers at all
 *     GET /readyz     200 while every world runs its frames or is paused, and the last attempt to save them, if there
 *                     was one, was well; else 503 with the reasons:
 *                     {"ready": false, "reasons": [{"world": "main", "code": "late", "message": "..."}]}
 *
 * Codes: starting, stopping, unsaved (of the service, without a world); recovering (the world's frames are run again,
 * and how many were); failed, no_frame, late; and some with which it stays 200: lost (frames of its journal are gone,
 * and nobody has acknowledged that yet), degraded (the world runs, but has its snapshots only where it should have a
 * journal), errors (code of its modules fails), and idle (its frames left budget though agents waited, for no known
 * reason, as the verdict judges it, or estimates had to be mended). A supervisor adds worlds that do not run, with the
 * state of their process, and no_answer (service/supervise/joins.h); not those that another node of the cluster runs.
 */
#ifndef SERVICE_HEALTH_H
#define SERVICE_HEALTH_H

#include "service/http.h"
#include "service/service.h"

/* A world is late when its last frame ended more than this many periods plus one second ago. */
enum { HEALTH_PERIODS = 10 };

/* The facts about a world that are checked. */
typedef struct health_world {
  const char *name;
  bool paused, failed;
  journal_progress recovery;
  const char *failure;              /* why */
  uint64_t period_ns, frame_end_ns; /* CLOCK_MONOTONIC; 0 = no frame yet */
  const char *degraded;             /* what it has lost beside that; null = nothing */
  const char *errors;               /* what fails in its modules\' code, in words; null = nothing */
  const char *lost;                 /* frames that it has lost, in words; null = none */
  bool idle;                        /* as the verdict judges it */
  uint32_t idle_faults, mended;     /* of the verdict's seconds: as of history_second */
} health_world;

enum { HEALTH_BYTES = 65536 }; /* 5 * WORLDS_MAX + 2 reasons */

/* Writes the answer of /readyz to `text` (HEALTH_BYTES), and its length; returns whether all is well. `unsaved` is the
 * reason why the last snapshot failed; null = it did not fail. */
bool health_write(char *text, size_t *bytes, service_stage stage, const char *unsaved, const health_world *worlds,
                  uint32_t count, uint64_t now_ns);

extern const http_route health_routes[];

#endif
