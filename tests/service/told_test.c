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

enum { LINE_BYTES = 1 << 14 };

static char slept[96], token[96];

static void start(void) {
  told_start();
  snprintf(slept, sizeof slept, "%s/slept", told.folder);
  snprintf(token, sizeof token, "%s/token", told.folder);
  FILE *file = fopen(token, "w");
  cr_assert(file && fputs("open sesame\r\n", file) >= 0 && fclose(file) == 0);
  setenv("MUSTER_TEST_SLEPT", slept, 1);
  setenv("TOKEN", token, 1);
}

static void stop(void) {
  unlink(slept), unlink(token);
  told_stop();
}

TestSuite(told, .init = start, .fini = stop, .timeout = 60);

/* One command line, and what came of it. */
typedef struct told_talk {
  char line[512], wanted[TOLD_TEXT_BYTES], is[TOLD_TEXT_BYTES];
  told_answer answers[TOLD_ANSWERS_MAX];
  size_t answer_count;
} told_talk;

/* Line by line. */
static void add(char *text, const char *mark, const char *lines) {
  for (size_t bytes; *lines; lines += bytes + (lines[bytes] == '\n')) {
    bytes = strcspn(lines, "\n");
    told_add(text, mark, lines, bytes);
  }
}

static void add_pauses(told_talk *talk) {
  long count = 0, all_ms = 0, ms;
  FILE *file = fopen(slept, "r");
  if (!file) return;
  for (; fscanf(file, "%ld", &ms) == 1; count++) all_ms += ms;
  fclose(file);
  unlink(slept);
  add(talk->is, "~", formed("%ld pauses, %ld ms", count, all_ms));
}

/* Starts the program without its sleep; a sanitizer need not be the first library then. */
static program_run *start_sleepless(const char *line) {
  const char *options = getenv("ASAN_OPTIONS");
  char words[512], *at;
  setenv("ASAN_OPTIONS", formed("%s%sverify_asan_link_order=0", options ? options : "", options ? ":" : ""), 1);
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
  size_t i = 0, count = 1;
  for (const char *asked = told.asked, *next; *asked; asked = next, i++) {
    const char *answer = i < talk->answer_count ? talk->answers[i].text : "none was told",
               *next_answer = i + 1 < talk->answer_count ? talk->answers[i + 1].text : "";
    next = strchr(asked, '\n') + 1;
    if (strncmp(next, asked, (size_t)(next - asked)) == 0 && strcmp(answer, next_answer) == 0) {
      count++;
      continue;
    }
    told_add(talk->is, "", asked, (size_t)(next - 1 - asked));
    add(talk->is, "<", answer);
    if (count > 1) add(talk->is, "*", formed("%zu", count));
    count = 1;
  }
  for (; i < talk->answer_count; i++) add(talk->is, "< never asked for:", talk->answers[i].text);
}

/* Where the daemon listens differs from test to test. */
static const char *without_place(char *text) {
  const size_t length = strlen(told.socket);
  char *at = strstr(text, told.socket);
  if (at) memmove(mempcpy(at, "SOCKET", strlen("SOCKET")), at + length, strlen(at + length) + 1);
  return text;
}

static void hold(told_talk *talk) {
  told_expect(talk->answers, talk->answer_count);
  SCOPED(free_memory) program_run *run = start_sleepless(talk->line);
  *talk->is = '\0';
  add(talk->is, "$", talk->line);
  add_exchanges(talk);
  add_pauses(talk);
  add(talk->is, "|", run->output);
  add(talk->is, "!", without_place(run->errors));
  add(talk->is, "=", formed("%d", run->status));
  if (getenv("TOLD_WRITE")) {
    FILE *file = fopen(getenv("TOLD_WRITE"), "a");
    fprintf(file, "%s\n", talk->is);
    fclose(file);
  }
  cr_expect_str_eq(talk->is, talk->wanted);
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
  size_t count = 0;
  FILE *file = told_open(name);
  for (; read_talk(file, &talk); count++) hold(&talk);
  fclose(file);
  cr_expect_gt(count, 0, "%s", name);
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
