/* service/verdict.h - one line that says how a world does, and what to do next. Pure: facts in, words out.
 *
 * The first of these that holds, over the last VERDICT_SECONDS of frames:
 *
 *     failed           alarm     it could not be opened, or a frame failed
 *     paused           notice    it is paused
 *     starting         notice    no frame has ended yet
 *     stuck            alarm     the last frame ended more than a second and more than 10 periods ago
 *     frames lost      warning   frames of its journal are gone, and nobody has acknowledged that yet
 *     promise broken   alarm     of the judged frames 1 in 100 or more did not keep the promise
 *     errors           warning   code of its modules failed in the last PROBLEM_SECONDS of simulation, such as a script
 *     late             warning   1 in 20 frames or more began more than a period behind their time
 *     idle             warning   1 in 100 frames or more left budget though agents waited, for no known reason
 *     overloaded       warning   the important want more than there is (important_load above 1), or the pressure is
 *                                above 1, or more than 1 in 100 agents run less often than their type wishes, or the
 *                                time that passes costs more than there is by itself (elapsed_load above 1, as of now)
 *     behind           warning   the most important band, or the least important one, got more than 1.5 times the
 *                                interval that the load leaves it, and a frame
 *     stretched        notice    all together want more than 1.05 times what there is
 *     ok               good      every agent runs as often as its type wants
 *
 * Whatever holds, the words say what frames left of their budgets though agents waited, by the reason (muster_idle),
 * and that estimates were mended.
 *
 * A promise can be judged in worlds with audit or with the virtual clock only. */
#ifndef SERVICE_VERDICT_H
#define SERVICE_VERDICT_H

#include "base/json.h"
#include "service/service.h"

enum { VERDICT_SECONDS = 10 };

typedef enum verdict_code {
  VERDICT_FAILED = 0,
  VERDICT_PAUSED,
  VERDICT_STARTING,
  VERDICT_STUCK,
  VERDICT_LOST,
  VERDICT_BROKEN,
  VERDICT_ERRORS,
  VERDICT_LATE,
  VERDICT_IDLE,
  VERDICT_OVERLOADED,
  VERDICT_BEHIND,
  VERDICT_STRETCHED,
  VERDICT_OK,
  VERDICTS
} verdict_code;

/* Of a band of importance that has agents. */
typedef struct verdict_band {
  uint64_t wanted_ns, rule_ns, got_ns; /* by its types, by the load, and in fact; 0 = nothing was measured */
} verdict_band;

typedef struct verdict_facts {
  bool paused, failed;
  const char *failure;
  uint32_t steps_left;
  uint64_t frame, period_ns, silent_ns;                       /* silent: since the last frame's end */
  uint32_t frames, late, judged, broken, idle_faults, mended; /* as of history_second */
  uint64_t idle_ns[MUSTER_IDLES];
  uint32_t agents, quarantined, types_quarantined;
  const module_problem *problem;                            /* of its modules' code; null = none */
  const char *lost;                                         /* frames of its journal, in words; null = none */
  double beyond_wish, pressure, important_load, wants, has; /* means over these frames' seconds */
  double elapsed_load;                                      /* of the last frame, */
  const char *elapsed_type;                                 /* and the type with the largest part of it */
  uint32_t put_off;
  verdict_band best, least; /* the most important band that has agents, and the least important one */
  bool has_bands;           /* two different ones */
} verdict_facts;

struct verdict {
  verdict_code code;
  char words[512], next[256]; /* next: empty = nothing is to be done */
};

/* "ok", "promise broken"; and "good", "notice", "warning" or "alarm". */
const char *verdict_name(verdict_code code);
const char *verdict_severity(verdict_code code);

/* Whether frames left budget for no known reason often enough to say so. */
bool verdict_is_idle(const verdict_facts *facts);

enum { VERDICT_PROBLEM_BYTES = 384 };

/* What fails in the modules' code, in words: "village.lua:12 has failed 312 times, now in 7 NPCs: ...". Pure. */
const char *verdict_problem(const module_problem *problem, char words[VERDICT_PROBLEM_BYTES]);

/* Judges. */
void verdict_judge(const verdict_facts *facts, struct verdict *verdict);

/* The facts of a world: `published` and its newest `count` seconds, the oldest first. */
verdict_facts verdict_gather(const world_published *published, const history_second *seconds, uint32_t count,
                             uint64_t now_ns);

/* Those of a hosted world. Loop's thread. */
verdict_facts verdict_facts_of(hosted_world *world, const world_published *published);

/* Writes the member "verdict": {"code", "severity", "words", "next"}. Loop's thread. */
void verdict_json(json_writer *writer, hosted_world *world, const world_published *published);

#endif
