/* bench.h - what every bench is: a row of one registry, with a table of its options, what it measures and what it makes
 * of that. bench_run() reads the options, opens the results, measures, prints, draws, writes and judges, for all of
 * them alike, and for `muster stress`. */
#ifndef TOOLS_BENCH_H
#define TOOLS_BENCH_H

#include "base/json.h"
#include "options.h"
#include "progress.h"

/* What was asked for and what was found begins with this in every bench. */
typedef struct bench_work {
  const char *json, *plots; /* null = not wanted; "-" = standard output, and then nothing is printed beside it */
  const char *spawns;       /* a spawn file; null = none */
  uint64_t seed;
  double sigma; /* of the logarithms of what updates cost beside their models; 0: they cost what these say */
  uint32_t rounds;
  bool quick, quiet;
  char **rest; /* of the command line, behind the options; ends with a null */
  struct progress line;
  double others_share, stolen_share; /* of all processors, taken meanwhile by other processes and by the host */
} bench_work;

/* Rows of option tables that several benches have. */
#define BENCH_JSON         OPTION("json", TEXT, bench_work, json)
#define BENCH_PLOTS        OPTION("plots", TEXT, bench_work, plots)
#define BENCH_SPAWNS       OPTION("spawns", TEXT, bench_work, spawns)
#define BENCH_SEED         OPTION_WITHIN("seed", COUNT, bench_work, seed, 0, UINT64_MAX)
#define BENCH_COSTS        OPTION_BY("costs", bench_read_costs)
#define BENCH_QUICK        OPTION("quick", ON, bench_work, quick)
#define BENCH_ROUNDS(most) OPTION_WITHIN("rounds", COUNT32, bench_work, rounds, 1, most)

/* The functions get the bench's own work; what is null is left out. */
typedef struct bench_def {
  const char *name, *summary; /* without a name, that of a suite stands behind the options: `check` reads it */
  void (*show_help)(FILE *stream);
  const option_def *options;
  size_t bytes;                       /* of its work, which begins as zeros, with seed 1 */
  uint32_t rounds[2];                 /* by default; and with --quick */
  bool noisy;                         /* on the wall clock: what the machine did meanwhile is told, too */
  int (*check)(void *work);           /* completes the options. Returns the exit status */
  const char *(*measure)(void *work); /* returns what went wrong, or null */
  void (*print)(const void *work);
  bool (*plot)(const void *work, const char *folder);   /* false after a complaint */
  void (*write)(const void *work, json_writer *writer); /* the members behind the bench's name */
  int (*judge)(const void *work);                       /* returns the exit status, after a complaint */
} bench_def;

/* Of --costs, and back. */
bool bench_read_costs(void *work, const char *text);
const char *bench_costs_name(const bench_work *work);

/* Runs one: `command` is what it is called by, as in `muster COMMAND --help`. Returns the exit status. */
int bench_run(const char *command, const bench_def *bench, int count, char **arguments);

#endif
