/* `muster bench scale`: what scheduling costs, from few agents to millions. */
#include "bench_scale.h"

#include "bench_pool.h"
#include "complaint.h"
#include "parse.h"
#include "text.h"

#include <muster/jobs.h>

#include <string.h>

enum { ROUNDS = 9, ROUNDS_QUICK = 2, OBSERVERS_MAX = 65536 };

static void show_options(FILE *stream) {
  fprintf(stream,
          "muster bench scale - measures what scheduling costs beside the updates, from few agents to millions\n"
          "\n"
          "usage: muster bench scale [OPTION]...\n"
          "\n"
          "  --agents N,...     from %d on (default 1000,10000,100000,1000000,4000000, as far as memory allows)\n"
          "  --observers K,...  (default 1,100,5000)\n"
          "  --workers W,...    the calling thread included; all = from 1 to one per processor (default)\n"
          "  --rounds R         that medians are of (default %d)\n"
          "  --quick            two rounds, few frames, at most 10,000 agents unless --agents says otherwise: shows "
          "that it works, not how fast\n"
          "  --plots DIR        draws the overhead against the number of agents\n"
          "  --json FILE        the rows for machines, all times in ns; - is standard output\n"
          "  --help\n",
          SCALE_AGENTS_MIN, ROUNDS);
}

static void show_method(FILE *stream) {
  fprintf(stream,
          "\n"
          "How it is measured\n"
          "  Agents stand all over a square of 10 km x 10 km, whatever their number; an update is a few floating-point "
          "operations on 8 bytes of state. Frames follow each other at once and bring 1/30 s of simulation each. "
          "Periods make %d updates due in a frame, or all agents where there are fewer. Periods may give way, but the "
          "budget is ample. Every agent has run once before anything is measured.\n"
          "  ns_per_update: CPU of all threads in 30 frames less that of a plain loop over the same callbacks, which "
          "takes as many states in random order, divided by the updates. The two alternate; the median of the "
          "rounds is shown, observers standing. ns_per_frame is that of all the updates of a frame.\n"
          "  walking_...: the same in 300 frames in which every observer walks at 1.4 m/s; the host's own calls that "
          "move them are not counted, what they lead to in the frame is. score_ns: mean of the report's score stage "
          "in these frames.\n"
          "  idle_frame_ns: wall time of a frame in which no agent is due and nothing has changed; median of 301, in a "
          "world whose periods are a day.\n"
          "  bytes_per_agent: what the world's statistics call scheduling. resident_per_agent: by how much the process "
          "grew by creating and populating the world and 20 frames, less the types' own states.\n"
          "  spawn_ns, remove_ns: CPU per agent of the calls and of all threads in the frames that carried them out, "
          "%d agents at once, removed in random order, %d observers, every round in a new world. A frame is "
          "over its budget of 10 ms when its own overrun exceeds its longest atom + 20 us (the promise).\n",
          SCALE_UPDATES_PER_FRAME, SCALE_SPAWNED, SCALE_OBSERVERS_OF_SPAWNING);
}

static void show_help(FILE *stream) {
  show_options(stream);
  show_method(stream);
}

static bool read_list(scale_list *list, const char *option, const char *text, uint32_t minimum, uint32_t maximum) {
  char number[OPTION_WORD_BYTES];
  while (options_list_next(&text, number)) {
    if (list->count == SCALE_LIST_MAX) {
      complain_usage("%s has more than %d numbers; give fewer", option, SCALE_LIST_MAX);
      return false;
    }
    if (!parse_count32(option, number, minimum, maximum, &list->values[list->count++])) return false;
  }
  return true;
}

/* The steps of every sweep over workers. */
static bool choose_all_workers(scale_list *list) {
  uint32_t processors = muster_available_processors();
  uint32_t last = processors < POOL_WORKERS_MAX ? processors : POOL_WORKERS_MAX;
  for (uint32_t workers = 1; workers <= last && list->count < SCALE_LIST_MAX;
       workers = pool_next_workers(workers, last))
    list->values[list->count++] = workers;
  return true;
}

static int check(void *user) {
  scale_work *work = user;
  const char *agents = work->agents_given, *observers = work->observers_given, *workers = work->workers_given;
  if (!agents) agents = work->common.quick ? "1000,10000" : "1000,10000,100000,1000000,4000000";
  bool read =
      read_list(&work->agents, "--agents", agents, SCALE_AGENTS_MIN, SCALE_AGENTS_MAX) &&
      read_list(&work->observers, "--observers", observers ? observers : "1,100,5000", 0, OBSERVERS_MAX) &&
      (!workers || strcmp(workers, "all") == 0 ? choose_all_workers(&work->workers)
                                               : read_list(&work->workers, "--workers", workers, 1, POOL_WORKERS_MAX));
  return read ? STATUS_OK : STATUS_USAGE;
}

/* -------------------------------------------------------------------------------------------------------- measuring */

/* Where the bench is. On a terminal each step shows, elsewhere each row. */
typedef struct scale_place {
  struct progress *line;
  const char *row;
} scale_place;

static void show_step(const char *doing, void *user) {
  const scale_place *place = user;
  if (place->line->terminal) progress_put(place->line, "%s: %s", place->row, doing);
}

/* Whether the machine has the memory for so many agents; notes when not. */
static bool has_memory(scale_work *work, uint32_t agents) {
  uint64_t needed = scale_bytes_needed(agents), available = scale_bytes_available();
  if (needed <= available) return true;
  if (work->note_count < SCALE_LIST_MAX)
    snprintf(work->notes[work->note_count++], SCALE_NOTE_BYTES,
             "%s agents are left out: they need about %s of memory, %s are available", text_count(agents),
             text_bytes((double)needed), text_bytes((double)available));
  return false;
}

/* What a row is of: agents and observers, or, without agents, a crowd that comes and goes. */
static const char *measure_row(scale_work *work, uint32_t agents, uint32_t observers, uint32_t workers) {
  const char *who =
      agents ? text_of("%s agents, %s observer%s", text_count(agents), text_count(observers), observers == 1 ? "" : "s")
             : "a crowd";
  char row[TEXT_BYTES];
  scale_place place = {.line = &work->common.line, .row = row};
  scale_setup setup = {.agents = agents,
                       .observers = observers,
                       .workers = workers,
                       .rounds = work->common.rounds,
                       .quick = work->common.quick,
                       .show = show_step,
                       .user = &place};
  snprintf(row, sizeof row, "%s, %u worker%s", who, workers, workers == 1 ? "" : "s");
  if (!place.line->terminal) progress_put(place.line, "%s", row);
  const char *wrong = agents ? scale_measure(&setup, &work->rows[work->row_count++])
                             : scale_measure_spawning(&setup, &work->spawnings[work->spawning_count++]);
  if (!wrong) return NULL;
  snprintf(work->wrong, sizeof work->wrong, "%s: %s", row, wrong); /* longer than what text_of() keeps */
  return work->wrong;
}

static const char *measure(void *user) {
  scale_work *work = user;
  const scale_list *agents = &work->agents, *observers = &work->observers, *workers = &work->workers;
  const char *wrong = NULL;
  for (uint32_t i = 0; i < agents->count; i++) {
    if (!has_memory(work, agents->values[i])) continue;
    for (uint32_t j = 0; j < observers->count; j++)
      for (uint32_t k = 0; k < workers->count && !wrong; k++)
        wrong = measure_row(work, agents->values[i], observers->values[j], workers->values[k]);
  }
  for (uint32_t k = 0; k < workers->count && !wrong; k++) wrong = measure_row(work, 0, 0, workers->values[k]);
  return wrong || work->row_count ? wrong : work->notes[0];
}

static const option_def options[] = {OPTION("agents", TEXT, scale_work, agents_given),
                                     OPTION("observers", TEXT, scale_work, observers_given),
                                     OPTION("workers", TEXT, scale_work, workers_given),
                                     BENCH_ROUNDS(SCALE_ROUNDS_MAX),
                                     BENCH_QUICK,
                                     BENCH_PLOTS,
                                     BENCH_JSON,
                                     {0}};

const bench_def bench_scale = {"scale",
                               "what scheduling costs, from few agents to millions",
                               show_help,
                               options,
                               sizeof(scale_work),
                               .rounds = {ROUNDS, ROUNDS_QUICK},
                               .noisy = true,
                               .check = check,
                               .measure = measure,
                               .print = scale_print,
                               .plot = scale_plot,
                               .write = scale_write};
