/* `muster ctl` and `muster top` with a daemon that says what it is told to: what they ask for, and all that they print.
 * The files in `told` are both at once: what is asked and answered, and what it must come to.
 *
 *     $ ctl --world w budget 10ms                          a command line; narrow: on 40 columns
 *     > PATCH /v1/worlds/w key 1 json {"budget_ns":...}    what it asks for: which key, of what type, which body
 *     < 200 {"budget_ns": 10000000}                        what it gets; [Retry-After: 1] is a header; cut: half
 *                                                          of it comes; closed: it
 *                                                          gets none; gone: nor does anybody after it
 *     | budget                     10 ms                   what it prints
 *     ! muster: ...                                        what it says on standard error
 *     * 3                                                  both as often
 *     ~ 2 pauses, 400 ms                                   how often and how long it waits, which takes no time here
 *     = 0                                                  how it ends
 */
#include "told_daemon.h"
#include "tools/program.h"

#include <stdint.h>

enum { TALK_BYTES = 1 << 16, LINE_BYTES = 1 << 14 };

static told_daemon told;
static char slept[96], token[96];

static void start(void) {
  told_start(&told);
  snprintf(slept, sizeof slept, "%s/slept", told.folder);
  snprintf(token, sizeof token, "%s/token", told.folder);
  FILE *file = fopen(token, "w");
  cr_assert_not_null(file);
  fputs("open sesame\r\n", file);
  fclose(file);
  setenv("MUSTER_TEST_SLEPT", slept, 1);
  setenv("TOKEN", token, 1);
  setenv("TZ", "UTC", 1);
  unsetenv("COLUMNS");
}

static void stop(void) {
  unlink(slept);
  unlink(token);
  told_stop(&told);
}

TestSuite(told, .init = start, .fini = stop, .timeout = 60);

/* One command line, and what came of it. */
typedef struct told_talk {
  char line[512], wanted[TALK_BYTES], is[TALK_BYTES];
  told_answer answers[TOLD_ANSWERS_MAX];
  size_t answer_count;
} told_talk;

static void add(char *text, const char *mark, const char *lines) {
  size_t length = strlen(text);
  while (*lines) {
    size_t bytes = strcspn(lines, "\n");
    length += (size_t)snprintf(text + length, TALK_BYTES - length, "%s%s%.*s\n", mark, bytes && *mark ? " " : "",
                               (int)bytes, lines);
    cr_assert_lt(length, TALK_BYTES);
    lines += bytes + (lines[bytes] == '\n');
  }
}

static void add_pauses(told_talk *talk) {
  char line[64];
  long count = 0, all_ms = 0, ms;
  FILE *file = fopen(slept, "r");
  if (!file) return;
  for (; fscanf(file, "%ld", &ms) == 1; count++) all_ms += ms;
  fclose(file);
  unlink(slept);
  snprintf(line, sizeof line, "%ld pauses, %ld ms", count, all_ms);
  add(talk->is, "~", line);
}

/* Starts the program without its sleep; a sanitizer need not be the first library then. */
static program_run *start_sleepless(const char *line) {
  const char *options = getenv("ASAN_OPTIONS");
  char more[512], words[512], *at;
  snprintf(more, sizeof more, "%s%sverify_asan_link_order=0", options ? options : "", options ? ":" : "");
  setenv("ASAN_OPTIONS", more, 1);
  bool narrow = strncmp(line, "narrow ", 7) == 0;
  snprintf(words, sizeof words, "%s", narrow ? line + 7 : line);
  if (narrow) setenv("COLUMNS", "40", 1);
  if ((at = strstr(words, "TOKEN")) != NULL)
    snprintf(at, sizeof words - (size_t)(at - words), "%s%s", token, strstr(line, "TOKEN") + 5);
  setenv("LD_PRELOAD", MUSTER_TEST_MODULES "/../sleepless.so", 1);
  program_run *run = program_start(words);
  unsetenv("LD_PRELOAD");
  unsetenv("COLUMNS");
  setenv("ASAN_OPTIONS", options ? options : "", 1);
  return run;
}

/* Requests and answers take turns; the same ones again are counted. */
static void add_exchanges(told_talk *talk) {
  char line[LINE_BYTES], times[32];
  size_t i = 0, count = 1;
  for (const char *asked = told.asked; *asked; asked = strchr(asked, '\n') + 1, i++) {
    const char *answer = i < talk->answer_count ? talk->answers[i].text : "none was told";
    const char *next = strchr(asked, '\n') + 1, *next_answer = i + 1 < talk->answer_count ? answer : "";
    snprintf(line, sizeof line, "%.*s", (int)(next - 1 - asked), asked);
    if (*next_answer) next_answer = talk->answers[i + 1].text;
    if (strncmp(next, asked, (size_t)(next - asked)) == 0 && strcmp(answer, next_answer) == 0) {
      count++;
      continue;
    }
    add(talk->is, "", line);
    add(talk->is, "<", answer);
    snprintf(times, sizeof times, "%zu", count);
    if (count > 1) add(talk->is, "*", times);
    count = 1;
  }
  for (; i < talk->answer_count; i++) add(talk->is, "< never asked for:", talk->answers[i].text);
}

/* Where the daemon listens differs from test to test. */
static const char *without_place(char *text) {
  char *at = strstr(text, told.socket);
  if (at) {
    size_t length = strlen(told.socket);
    memmove(at + strlen("SOCKET"), at + length, strlen(at + length) + 1);
    memcpy(at, "SOCKET", strlen("SOCKET"));
  }
  return text;
}

static void hold(told_talk *talk) {
  char status[16];
  told_expect(&told, talk->answers, talk->answer_count);
  program_run *run = start_sleepless(talk->line);
  snprintf(talk->is, TALK_BYTES, "$ %s\n", talk->line);
  add_exchanges(talk);
  add_pauses(talk);
  add(talk->is, "|", run->output);
  add(talk->is, "!", without_place(run->errors));
  snprintf(status, sizeof status, "%d", run->status);
  add(talk->is, "=", status);
  if (getenv("TOLD_WRITE")) {
    FILE *file = fopen(getenv("TOLD_WRITE"), "a");
    fprintf(file, "%s\n", talk->is);
    fclose(file);
  }
  cr_expect_str_eq(talk->is, talk->wanted);
  free(run);
}

/* Reads a talk up to its last line; false at the end of the file. */
static bool read_talk(FILE *file, told_talk *talk) {
  static char line[LINE_BYTES];
  *talk->line = *talk->wanted = '\0';
  for (size_t i = 0; i < talk->answer_count; i++) free((char *)(uintptr_t)talk->answers[i].text);
  talk->answer_count = 0;
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    if (*line == '$') snprintf(talk->line, sizeof talk->line, "%s", line + 2);
    if (!*line || !*talk->line) continue;
    if (*line == '<') talk->answers[talk->answer_count++] = (told_answer){NULL, strdup(line + 2)};
    if (*line == '*')
      for (long times = strtol(line + 1, NULL, 10); times > 1; times--, talk->answer_count++)
        talk->answers[talk->answer_count] = (told_answer){NULL, strdup(talk->answers[talk->answer_count - 1].text)};
    add(talk->wanted, "", line);
    if (*line == '=') return true;
  }
  return false;
}

static void hold_all(const char *name) {
  static told_talk talk;
  char path[512];
  size_t count = 0;
  snprintf(path, sizeof path, "%s/tests/service/told/%s.txt", MUSTER_SOURCE_DIR, name);
  FILE *file = fopen(path, "r");
  cr_assert_not_null(file, "%s", path);
  for (; read_talk(file, &talk); count++) hold(&talk);
  fclose(file);
  cr_expect_gt(count, 0, "%s", path);
}

Test(told, ctl_sends_a_change_again_as_long_as_it_may_help) {
  hold_all("again");
}

Test(told, ctl_asks_and_shows_worlds) {
  hold_all("worlds");
}

Test(told, ctl_asks_and_shows_types_and_agents) {
  hold_all("agents");
}

Test(told, ctl_asks_and_shows_the_cluster) {
  hold_all("cluster");
}

Test(told, ctl_tells_modules_and_shows_what_they_say) {
  hold_all("modules");
}

Test(told, ctl_steps_until_the_frames_are_run) {
  hold_all("steps");
}

Test(told, top_asks_and_shows_all_of_a_world) {
  hold_all("top");
}
