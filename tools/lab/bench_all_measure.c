/* Runs the steps of `muster bench all`, each as a command of `muster` in a process of its own. */
#include "bench_all.h"

#include "complaint.h"
#include "noise.h"
#include "options.h"
#include "processor.h"
#include "program.h"

#include <errno.h>
#include <muster/jobs.h>
#include <sched.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { WORDS_MAX = 48, COMMAND_BYTES = 1024, REAL_TIME_PRIORITY = 10, DATE_BYTES = 16 };

/* The conditions of a step's runs. */
typedef struct all_conditions {
  bool real_time, held;              /* held: the step's own checks held */
  double others_share, stolen_share; /* of the run with the most disturbance */
} all_conditions;

/* ------------------------------------------------------------------------------------------------------------ a run */

static const char *word_for(const all_options *options, const char *word) {
  if (strcmp(word, "FILE.csv") == 0) return options->spawns;
  return strcmp(word, "DIR") == 0 ? options->report : word;
}

/* Splits the command into arguments; `words` keeps them. */
static void split(const all_options *options, const all_step *step, char words[COMMAND_BYTES],
                  char *arguments[WORDS_MAX]) {
  size_t count = 0;
  char *rest = words;
  snprintf(words, COMMAND_BYTES, "muster %s %s --json -", step->command, options->quick ? step->quick : "");
  for (char *word; count < WORDS_MAX - 1 && (word = strsep(&rest, " ")) != NULL;)
    if (*word) arguments[count++] = (char *)word_for(options, word);
  arguments[count] = NULL;
}

/* With real-time priority where that is asked for and allowed. Returns an error number. */
static int start(char *arguments[], int output, bool *real_time, pid_t *child) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  struct sched_param priority = {.sched_priority = REAL_TIME_PRIORITY};
  char path[PATH_MAX];
  const char *muster = program_beside("muster", path);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setschedpolicy(&attributes, SCHED_FIFO);
  posix_spawnattr_setschedparam(&attributes, &priority);
  if (*real_time) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSCHEDULER);
  int refused = posix_spawnp(child, muster, &actions, &attributes, arguments, environ);
  if (refused == EPERM && *real_time) {
    *real_time = false;
    refused = posix_spawnp(child, muster, &actions, NULL, arguments, environ);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return refused;
}

/* The exit status; STATUS_USAGE for any other end. */
static int wait_for(pid_t child) {
  int status;
  pid_t ended;
  do ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  return ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_USAGE;
}

/* What a step printed; null after a complaint. A step with failed checks has still printed its figures. */
static json_t *run(const all_options *options, const all_step *step, all_conditions *conditions) {
  char words[COMMAND_BYTES], *arguments[WORDS_MAX];
  json_t *printed = NULL;
  json_error_t error;
  pid_t child;
  double others, stolen;
  int ended = STATUS_OK, output = memfd_create("printed", MFD_CLOEXEC);
  split(options, step, words, arguments);
  struct noise before = noise_begin();
  int refused = output < 0 ? errno : start(arguments, output, &conditions->real_time, &child);
  if (refused)
    complain_failure("`muster %s` cannot be run: %s", step->command, strerror(refused));
  else if ((ended = wait_for(child)) > STATUS_FAILED || lseek(output, 0, SEEK_SET) != 0 ||
           !(printed = json_loadfd(output, JSON_REJECT_DUPLICATES, &error)))
    complain_failure("`muster %s` failed", step->command);
  conditions->held &= ended == STATUS_OK;
  noise_end(&before, &others, &stolen);
  if (others > conditions->others_share) conditions->others_share = others;
  if (stolen > conditions->stolen_share) conditions->stolen_share = stolen;
  if (output >= 0) close(output);
  return printed;
}

/* -------------------------------------------------------------------------------------------------------- all steps */

/* How many runs are done, of how many. */
typedef struct all_progress {
  uint32_t done, count;
  time_t begin;
} all_progress;

static bool is_left_out(const all_options *options, const all_step *step) {
  return !options->spawns && strstr(step->command, "FILE.csv");
}

static uint32_t runs_of(const all_options *options, const all_step *step) {
  if (is_left_out(options, step) || !options_list_has(options->only, step->name)) return 0;
  return options->quick ? 1 : step->runs;
}

static const char *today(char out[DATE_BYTES]) {
  time_t now = time(NULL);
  strftime(out, DATE_BYTES, "%Y-%m-%d", gmtime(&now));
  return out;
}

static json_t *describe(const all_step *step, uint32_t runs, const all_conditions *conditions) {
  char model[PROCESSOR_BYTES], date[DATE_BYTES];
  processor_model(model);
  return json_pack("{s:s, s:s, s:s, s:I, s:b, s:b, s:f, s:f}", "command", step->command, "date", today(date),
                   "processor", model, "runs", (json_int_t)runs, "real_time", conditions->real_time, "held",
                   conditions->held, "others_cpu_share", conditions->others_share, "stolen_cpu_share",
                   conditions->stolen_share);
}

static bool measure_step(const all_options *options, const all_step *step, json_t *document, all_progress *progress) {
  all_conditions conditions = {.real_time = step->real_time && !options->quick, .held = true};
  json_t *figures = json_object_get(document, "figures");
  uint32_t runs = runs_of(options, step);
  bool good = true;
  all_figures_forget(figures, step);
  for (uint32_t i = 0; i < runs && good; i++) {
    fprintf(stderr, "%2u of %u, after %3d s: muster %s\n", ++progress->done, progress->count,
            (int)(time(NULL) - progress->begin), step->command);
    json_t *printed = run(options, step, &conditions);
    good = printed && all_figures_take(figures, step, printed);
    json_decref(printed);
  }
  if (runs == 0) good = all_figures_take(figures, step, NULL);
  json_object_set_new(json_object_get(document, "steps"), step->name, describe(step, runs, &conditions));
  return good;
}

static json_t *describe_machine(const all_options *options) {
  char model[PROCESSOR_BYTES], date[DATE_BYTES];
  struct utsname system;
  processor_model(model);
  uname(&system);
  return json_pack("{s:s, s:s, s:I, s:s, s:s, s:b}", "date", today(date), "processor", model, "processors",
                   (json_int_t)muster_available_processors(), "kernel", system.release, "version", muster_version(),
                   "quick", options->quick);
}

int all_measure(const all_options *options, json_t *document) {
  all_progress progress = {.begin = time(NULL)};
  for (const all_step *step = all_steps; step->name; step++) progress.count += runs_of(options, step);
  if (!options->only) {
    json_object_set_new(document, "machine", describe_machine(options));
    json_object_set_new(document, "steps", json_object());
    json_object_set_new(document, "figures", json_object());
  }
  for (const all_step *step = all_steps; step->name; step++) {
    if (!options_list_has(options->only, step->name)) continue;
    if (options->only && is_left_out(options, step))
      return complain_failure("`muster %s` needs --spawns FILE.csv", step->command);
    if (!measure_step(options, step, document, &progress)) return STATUS_FAILED;
  }
  all_figures_finish(json_object_get(document, "figures"));
  return STATUS_OK;
}
