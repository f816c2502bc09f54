/* `muster top` on a terminal, with a daemon that says what it is told to: the whole screen after each key, and all that
 * was asked for. told/screen.txt is both at once: what is typed and answered, and what it must come to.
 *
 *     @ 30 100                     a terminal of so many lines and columns
 *     < /v1/worlds 200 {...}       what is answered to a path from now on
 *     k A\t                        keys; \t is tab, \s a blank, \e escape, \r enter, \b backspace, \d down, \u up
 *     | muster top - a (wildlife)  the screen then; empty lines at its end are left out
 *     > GET /v1/worlds             all that was asked for in a life, when it has ended
 */
#include "terminal.h"
#include "told_daemon.h"
#include "tools/program.h"

enum { LINE_BYTES = 1 << 14, PATIENCE_MS = 20000, QUIET_MS = 3000 };

static struct terminal screen;
static told_answer answers[TOLD_ANSWERS_MAX];
static size_t answer_count;

TestSuite(told_screen, .init = told_start, .fini = told_stop, .timeout = 120);

static void add(char *text, const char *mark, const char *line, size_t bytes) {
  while (bytes > 0 && line[bytes - 1] == ' ') bytes--;
  told_add(text, mark, line, bytes);
}

/* What stands on the screen now, behind `text`. */
static const char *with_screen(char *out, const char *text) {
  int last = screen.lines;
  snprintf(out, TOLD_TEXT_BYTES, "%s", text);
  while (last > 0 && strspn(screen.cells[last - 1], " ") == strlen(screen.cells[last - 1])) last--;
  for (int line = 0; line < last; line++) add(out, "|", screen.cells[line], strlen(screen.cells[line]));
  return out;
}

/* Reads until the screen is as wanted, or for as long as the program says something. */
static const char *await_screen(const char *before, const char *wanted, bool writes) {
  static char is[TOLD_TEXT_BYTES];
  struct pollfd there = {.fd = screen.descriptor, .events = POLLIN};
  while (writes || strcmp(with_screen(is, before), wanted) != 0) {
    if (poll(&there, 1, writes ? QUIET_MS : PATIENCE_MS) <= 0) break;
    terminal_read(&screen);
  }
  return with_screen(is, before);
}

static void type(const char *keys) {
  static const char *const named[][2] = {{"s", " "},    {"t", "\t"},     {"e", "\033"},  {"r", "\r"},
                                         {"b", "\177"}, {"d", "\033OB"}, {"u", "\033OA"}};
  for (; *keys; keys++) {
    char one[2] = {*keys, '\0'};
    const char *sent = one;
    if (*keys == '\\') {
      keys++;
      for (size_t i = 0; i < COUNT_OF(named); i++)
        if (*named[i][0] == *keys) sent = named[i][1];
    }
    terminal_type(&screen, sent);
  }
}

/* "/path 200 {...}" replaces the answer to that path. */
static void take_answer(const char *line) {
  size_t i = 0, length = strcspn(line, " ");
  while (i < answer_count && (strlen(answers[i].to) != length || strncmp(answers[i].to, line, length) != 0)) i++;
  if (i == answer_count) answers[answer_count++].to = strndup(line, length);
  const char *before = answers[i].text;
  answers[i].text = strdup(line + length + 1);
  pthread_mutex_lock(&told.lock);
  memcpy(told.answers, answers, sizeof answers);
  told.answer_count = answer_count;
  pthread_mutex_unlock(&told.lock);
  free((char *)(uintptr_t)before);
}

static void begin(const char *size) {
  char *arguments[] = {(char[]){"muster"}, (char[]){"top"}, (char[]){"--interval"}, (char[]){"3600s"}, NULL};
  char *rest;
  int lines = (int)strtol(size, &rest, 10);
  told_expect(answers, answer_count);
  terminal_start(&screen, program_path(), arguments, lines, (int)strtol(rest, NULL, 10), false);
}

/* A step: what it begins with, and the screen that it must come to. */
static bool hold_step(FILE *file, char *is_all, char *wanted_all) {
  static char line[LINE_BYTES], before[TOLD_TEXT_BYTES];
  bool writes = getenv("TOLD_WRITE") != NULL, any = false;
  *before = *wanted_all = '\0';
  while (fgets(line, sizeof line, file)) {
    size_t length = strcspn(line, "\n");
    line[length] = '\0';
    if (*line == '\0' && any) break;
    if (*line == '\0' || strchr("@<k|>=", *line) == NULL) continue;
    any = true;
    if (*line == '@') begin(line + 2);
    if (*line == '<') take_answer(line + 2);
    if (*line == 'k') type(line + 2);
    if (strchr("|>=", *line) == NULL) add(before, "", line, length);
    add(wanted_all, "", line, length);
  }
  if (!any) return false;
  if (strstr(before, "k q")) {
    snprintf(is_all, TOLD_TEXT_BYTES, "%s", before);
    int status = terminal_wait(&screen);
    pthread_mutex_lock(&told.lock);
    snprintf(is_all + strlen(is_all), TOLD_TEXT_BYTES - strlen(is_all), "%s= %d\n", told.asked, status);
    pthread_mutex_unlock(&told.lock);
  } else {
    snprintf(is_all, TOLD_TEXT_BYTES, "%s", await_screen(before, wanted_all, writes));
  }
  return true;
}

static void hold_all(const char *name) {
  static char is[TOLD_TEXT_BYTES], wanted[TOLD_TEXT_BYTES];
  size_t count = 0;
  FILE *file = told_open(name), *out = getenv("TOLD_WRITE") ? fopen(getenv("TOLD_WRITE"), "w") : NULL;
  for (; hold_step(file, is, wanted); count++) {
    if (out) fprintf(out, "%s\n", is);
    if (!out) cr_assert_str_eq(is, wanted);
  }
  if (out) fclose(out);
  fclose(file);
  cr_expect_gt(count, 0, "%s", name);
}

Test(told_screen, a_screen_shows_all_of_a_world_after_each_key) {
  hold_all("screen");
}

Test(told_screen, a_small_screen_shows_what_has_room) {
  hold_all("small_screen");
}
