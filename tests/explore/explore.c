/* explore - runs the cases of the interleaving explorer; see explorer.h. */
#include "cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "usage: explore [--case NAME]... [--schedules N] [--seed S] [--replay S] [--until-caught SEEDS] [--list]\n"
    "\n"
    "Runs the pool's lock-free code under seeded schedules of its atomic operations. The interleavings are\n"
    "sequentially consistent ones: weaker orders are not explored.\n"
    "\n"
    "  --case NAME         this case, or all of a structure such as `lane`; may be repeated; default: all\n"
    "  --schedules N       of each case; default 500000, the tests run half of them; 10000000 for all take an hour\n"
    "  --seed S            of the first schedule; those that follow have S + 1, S + 2, ...; default 1\n"
    "  --replay S          runs the one schedule with this seed and prints every operation in it\n"
    "  --until-caught N    expects the case to fail: runs up to --schedules with each of N first seeds, 2^40 apart,\n"
    "                      and prints the median and the worst of how many it took; fails when one found nothing\n"
    "  --list              names the cases\n";

struct options {
  const char *names[64];
  uint32_t name_count;
  uint64_t schedules, seed, replay;
  uint32_t until_caught;
  bool replays, list;
};

static void refuse(const char *what, const char *argument) {
  fprintf(stderr, "explore: %s %s\n%s", what, argument, usage);
  exit(2);
}

static uint64_t read_number(const char *option, const char *text) {
  char *end;
  unsigned long long value = text ? strtoull(text, &end, 0) : 0;
  if (!text || !*text || *end || *text == '-') refuse("a number must follow", option);
  return value;
}

static struct options read_options(int count, char **arguments) {
  struct options options = {.schedules = 500000, .seed = 1};
  for (int i = 1; i < count; i++) {
    const char *option = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
    if (!strcmp(option, "--help")) {
      fputs(usage, stdout);
      exit(0);
    }
    if (!strcmp(option, "--list")) {
      options.list = true;
      continue;
    }
    i++;
    if (!strcmp(option, "--case") && value && options.name_count < 64)
      options.names[options.name_count++] = value;
    else if (!strcmp(option, "--schedules"))
      options.schedules = read_number(option, value);
    else if (!strcmp(option, "--seed"))
      options.seed = read_number(option, value);
    else if (!strcmp(option, "--until-caught"))
      options.until_caught = (uint32_t)read_number(option, value);
    else if (!strcmp(option, "--replay"))
      options.replay = read_number(option, value), options.replays = true;
    else
      refuse("cannot make sense of", option);
  }
  return options;
}

static bool is_named(const struct options *options, const explore_case *subject) {
  for (uint32_t i = 0; i < options->name_count; i++) {
    size_t length = strlen(options->names[i]);
    if (!strncmp(subject->name, options->names[i], length) &&
        (subject->name[length] == '\0' || subject->name[length] == '/'))
      return true;
  }
  return options->name_count == 0;
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool run_case(const struct options *options, const explore_case *subject) {
  double begin = seconds_now();
  explore_result result = explore_run(subject, options->seed, options->schedules);
  double seconds = seconds_now() - begin;
  printf("%-28s %9" PRIu64 " schedules  %7.0f /s  %4" PRIu64 " steps, at most %" PRIu64 "%s\n", subject->name,
         result.schedules, (double)result.schedules / (seconds + 1e-9),
         result.steps / (result.schedules ? result.schedules : 1), result.longest, result.failed ? "  FAILED" : "");
  if (!result.failed) return true;
  printf("%s\n", result.message);
  explore_result again = explore_replay(subject, result.seed, 200);
  if (strcmp(again.message, result.message) != 0) printf("BUT THE REPLAY SAYS: %s\n", again.message);
  printf("again, in full: explore --case %s --replay %" PRIu64 "\n", subject->name, result.seed);
  return false;
}

static bool replay_case(const struct options *options, const explore_case *subject) {
  explore_result result = explore_replay(subject, options->replay, UINT32_MAX);
  printf("%s: %s\n", subject->name, result.failed ? result.message : "nothing wrong");
  return !result.failed;
}

static int compare_numbers(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

/* One line: the case, the median and the worst number of schedules, and what was found first. */
static bool catch_case(const struct options *options, const explore_case *subject) {
  enum { SEEDS_MAX = 1000 };
  static uint64_t needed[SEEDS_MAX];
  explore_result first = {0};
  uint32_t seeds = options->until_caught < SEEDS_MAX ? options->until_caught : SEEDS_MAX;
  for (uint32_t i = 0; i < seeds; i++) {
    explore_result result = explore_run(subject, options->seed + ((uint64_t)i << 40), options->schedules);
    if (!result.failed) {
      printf("%s | nothing found in %" PRIu64 " schedules\n", subject->name, result.schedules);
      return false;
    }
    if (i == 0) first = result;
    needed[i] = result.schedules;
  }
  qsort(needed, seeds, sizeof *needed, compare_numbers);
  printf("%s | %" PRIu64 " | %" PRIu64 " | %s\n", subject->name, needed[seeds / 2], needed[seeds - 1], first.message);
  return true;
}

int main(int count, char **arguments) {
  struct options options = read_options(count, arguments);
  uint32_t cases = 0;
  bool fine = true;
  setvbuf(stdout, NULL, _IOLBF, 0);
  explore_catch_signals();
  for (const explore_case *const *table = all_cases; *table; table++)
    for (const explore_case *subject = *table; subject->name; subject++) {
      if (!is_named(&options, subject)) continue;
      cases++;
      if (options.list)
        printf("%s\n", subject->name);
      else if (options.until_caught)
        fine &= catch_case(&options, subject);
      else
        fine &= options.replays ? replay_case(&options, subject) : run_case(&options, subject);
    }
  if (!cases) refuse("there is no such case:", options.names[0]);
  return !fine;
}
