/* Parts that the programs are made of: results that are whole or not there, ranges and lists of what was typed, and
 * when a population is in. */
#include "host.h"
#include "options.h"
#include "output.h"
#include "parse.h"
#include "support/with.h"
#include "top.h"

#include <criterion/criterion.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------------------------- results */

static char folder[64], path[96], link_to_it[96];

static void make_folder(void) {
  strcpy(folder, "/tmp/muster-test-XXXXXX");
  cr_assert_not_null(mkdtemp(folder));
  cr_assert_eq(chdir(folder), 0);
  snprintf(path, sizeof path, "%s/result", folder);
  snprintf(link_to_it, sizeof link_to_it, "%s/link", folder);
}

static void remove_folder(void) {
  unlink(path);
  unlink(link_to_it);
  cr_expect_eq(rmdir(folder), 0, "something was left behind in %s", folder);
}

TestSuite(results, .init = make_folder, .fini = remove_folder);

/* Whether signals that end a program are held back, one by one. */
static void expect_held(bool held) {
  static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};
  sigset_t now;
  sigprocmask(SIG_BLOCK, NULL, &now);
  for (size_t i = 0; i < COUNT_OF(stopping); i++) cr_expect_eq(sigismember(&now, stopping[i]), held);
  cr_expect_eq(sigismember(&now, SIGUSR1), 1, "what was held before is not any more");
}

static void expect_text(const char *wanted) {
  char text[64] = "";
  FILE *file = fopen(path, "r");
  if (file) text[fread(text, 1, sizeof text - 1, file)] = '\0';
  if (file) fclose(file);
  cr_expect_str_eq(text, wanted);
}

static void hold_another_signal(void) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  sigprocmask(SIG_BLOCK, &one, NULL);
}

Test(results, are_whole_or_as_they_were) {
  struct output output;
  struct stat status;
  hold_another_signal();
  umask(027);
  for (int life = 0; life < 3; life++) {
    cr_assert(output_open(&output, life == 1 ? "result" : path));
    expect_held(false);
    cr_expect_eq(access(path, F_OK) == 0, life > 0, "before there is a result");
    cr_assert(output_write(&output, "one ", 4));
    expect_held(true);
    expect_text(life ? "one two" : "");
    cr_assert(output_commit(&output, "two", 3));
    expect_held(false);
    expect_text("one two");
    cr_assert_eq(stat(path, &status), 0);
    cr_expect_eq(status.st_mode & 0777, 0640);
    output_discard(&output); /* of what is closed: nothing */
    expect_text("one two");
  }
  cr_assert(output_open(&output, path) && output_write(&output, "three", 5));
  output_discard(&output);
  expect_held(false);
  expect_text("one two");
  cr_assert_eq(symlink("result", link_to_it), 0);
  cr_assert(output_open(&output, link_to_it) && output_commit(&output, "four", 4));
  expect_text("four");
  cr_expect(lstat(link_to_it, &status) == 0 && S_ISLNK(status.st_mode), "the link is followed, not replaced");
}

/* A folder has come to where the result belongs. */
Test(results, that_cannot_come_to_their_place_leave_nothing) {
  struct output output;
  hold_another_signal();
  cr_assert(output_open(&output, path) && output_write(&output, "one", 3));
  cr_assert_eq(mkdir(path, 0700), 0);
  cr_expect(!output_commit(&output, "", 0));
  expect_held(false);
  cr_expect(!output_open(&output, path), "a folder is no place for it");
  cr_expect(!output_open(&output, "none/result"));
  cr_expect_eq(rmdir(path), 0);
}

Test(results, are_known_by_their_places) {
  cr_assert_eq(symlink("result", link_to_it), 0);
  const struct {
    const char *one, *other;
    bool same;
  } pairs[] = {{path, "result", true},
               {path, "./result", true},
               {path, "result2", false},
               {"-", "-", true},
               {"-", "result", false},
               {"result", "-", false},
               {"/dev/null", "/dev/null", false},
               {"/muster-none", "//muster-none", true},
               {"/muster-none", "/muster-nona", false},
               {"none/a", "none/a", false},
               {"/muster-none", "muster-none", false}};
  for (size_t i = 0; i < COUNT_OF(pairs); i++)
    cr_expect_eq(output_is_same(pairs[i].one, pairs[i].other), pairs[i].same, "%s %s", pairs[i].one, pairs[i].other);
}

/* ------------------------------------------------------------------------------------------------- what was typed */

Test(typed, ranges_have_an_order_and_a_span) {
  static const struct {
    const char *text;
    bool good;
    uint64_t first, last;
  } rows[] = {{"1", true, 1, 1},     {"1-5", true, 1, 5},     {"5-5", true, 5, 5},    {"5-4", false, 0, 0},
              {"0-4", false, 0, 0},  {"20-20", true, 20, 20}, {"20-21", false, 0, 0}, {"2-13", false, 0, 0},
              {"2-12", true, 2, 12}, {"12-20", true, 12, 20}, {"-5", false, 0, 0},    {"1-", false, 0, 0},
              {"", false, 0, 0},     {"1-5x", false, 0, 0}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    uint64_t first = 0, last = 0;
    cr_expect_eq(parse_range("--range", rows[i].text, "-", 1, 20, 10, &first, &last), rows[i].good, "%s", rows[i].text);
    if (rows[i].good) cr_expect(first == rows[i].first && last == rows[i].last, "%s", rows[i].text);
  }
}

Test(typed, words_of_lists_are_taken_one_after_another) {
  char word[OPTION_WORD_BYTES];
  const char *list = "one,,three", *const wanted[] = {"one", "", "three"};
  for (size_t i = 0; i < 3; i++) {
    cr_assert(options_list_next(&list, word));
    cr_expect_str_eq(word, wanted[i]);
  }
  cr_expect(!options_list_next(&list, word));
  cr_expect(options_list_has("one,two", "two") && options_list_has("one,two", "one") && options_list_has(NULL, "any"));
  cr_expect(!options_list_has("one,two", "tw") && !options_list_has("one,two", "twoo") && !options_list_has("", "one"));
}

typedef struct typed {
  bool on, off;
  const char *text;
  uint64_t count, duration, rate;
  uint32_t count32, read;
} typed;

static bool read_own(void *options, const char *text) {
  ((typed *)options)->read = (uint32_t)strlen(text);
  return strcmp(text, "bad") != 0;
}

static const option_def known[] = {OPTION("on", ON, typed, on),
                                   OPTION("off", OFF, typed, off),
                                   OPTION("text", TEXT, typed, text),
                                   OPTION_WITHIN("count", COUNT, typed, count, 1, UINT64_MAX),
                                   OPTION_WITHIN("count32", COUNT32, typed, count32, 2, UINT32_MAX),
                                   OPTION_WITHIN("duration", DURATION, typed, duration, 1000, 5000),
                                   OPTION_WITHIN("rate", RATE, typed, rate, 1000, 5000),
                                   OPTION_BY("read", read_own),
                                   {0}};
static const option_reader reader = {"test", known, NULL};

Test(typed, options_are_kept_as_what_they_are) {
  char line[] =
      "muster a --on --off --text=x --text y -5,3 --count 18446744073709551615 --count32=4294967295 --duration 5us "
      "--rate 1 .5 --read four -9,1 -- --on";
  char *arguments[32];
  int count = 0, status;
  for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) arguments[count++] = word;
  arguments[count] = NULL;
  typed is = {.off = true};
  cr_assert(options_read_mixed(&reader, &is, &count, arguments, &status));
  cr_expect(is.on && !is.off && is.count == UINT64_MAX && is.count32 == UINT32_MAX && is.duration == 5000 &&
            is.rate == 1000 && is.read == 4);
  cr_expect_str_eq(is.text, "y");
  static const char *const kept[] = {"a", "-5,3", ".5", "-9,1", "--on"};
  cr_assert_eq(count, 5);
  for (int i = 0; i < count; i++) cr_expect_str_eq(arguments[i], kept[i]);
}

Test(typed, bounds_of_options_are_inclusive) {
  static const struct {
    const char *option, *value;
    bool good;
  } rows[] = {{"--count", "0", false},
              {"--count", "1", true},
              {"--count32", "1", false},
              {"--count32", "2", true},
              {"--count32", "4294967296", false},
              {"--duration", "0.9us", false},
              {"--duration", "1us", true},
              {"--duration", "5.1us", false},
              {"--rate", "0.999", false},
              {"--rate", "5", true},
              {"--rate", "5.001", false},
              {"--read", "bad", false}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    char *arguments[] = {(char[]){"muster"}, (char *)rows[i].option, (char *)rows[i].value, NULL};
    typed is = {0};
    int status = -1;
    cr_expect_eq(options_read(&reader, &is, 3, arguments, &status), rows[i].good, "%s %s", rows[i].option,
                 rows[i].value);
    if (!rows[i].good) cr_expect_eq(status, 2);
  }
}

/* ------------------------------------------------------------------------------------------------------- population */

/* Of herds thirty frames in a row with few changes; of others, when all that was asked for is there. */
Test(population, is_in_when_nothing_more_comes) {
  static const struct {
    uint32_t agents, spawns_waiting, herds, changes_waiting, unfolds, folds, leaves, calm;
    bool in;
    uint32_t calm_then;
  } rows[] = {{100, 0, 0, 0, 0, 0, 0, 0, true, 1},   {99, 1, 0, 0, 0, 0, 0, 0, false, 1},
              {100, 1, 0, 0, 0, 0, 0, 0, true, 1},   {5, 0, 0, 9, 0, 0, 0, 7, true, 0},
              {5, 0, 1, 0, 0, 0, 0, 28, false, 29},  {5, 0, 1, 0, 0, 0, 0, 29, true, 30},
              {5, 0, 1, 6, 2, 3, 199, 29, true, 30}, {5, 0, 1, 7, 2, 3, 199, 29, false, 0},
              {99, 1, 1, 0, 0, 0, 0, 50, false, 51}};
  const struct host host = {.needs = {.agents = 100}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    muster_frame_report report =
        WITH(muster_frame_report, it.agents = rows[i].agents, it.spawns_waiting = rows[i].spawns_waiting,
             it.herds_folded = rows[i].herds, it.changes_waiting = rows[i].changes_waiting,
             it.unfolds = rows[i].unfolds, it.folds = rows[i].folds, it.leaves = rows[i].leaves);
    uint32_t calm = rows[i].calm;
    cr_expect_eq(host_is_in(&host, &report, &calm), rows[i].in, "row %zu", i);
    cr_expect_eq(calm, rows[i].calm_then, "row %zu", i);
    report.herds_folded = 0, report.herds_unfolded = rows[i].herds;
    calm = rows[i].calm;
    cr_expect_eq(host_is_in(&host, &report, &calm), rows[i].in, "row %zu of those that are unfolded", i);
  }
}

Test(population, figures_are_found_by_their_whole_names) {
  const host_figures figures = {.count = 3, .names = {"hares", "hares_born", "hare"}, .values = {1, 2, 3}};
  cr_expect(host_figure(&figures, "hare") == 3 && host_figure(&figures, "hares_born") == 2);
  cr_expect(!(host_figure(&figures, "ha") == 1) && host_figure(&figures, "har") != host_figure(&figures, "har"));
}

/* -------------------------------------------------------------------------------------------------------- drawings */

Test(drawings, bars_have_a_mark_within_them) {
  static const struct {
    int cells;
    double value, mark, full;
    const char *bar;
  } rows[] = {{10, 4, 8, 10, "||||    # "},
              {10, 9, 8, 10, "||||||||# "},
              {10, 0, 0, 10, "#         "},
              {10, 20, 10, 10, "|||||||||#"},
              {10, 5, -1, 10, "|||||     "},
              {10, 5, 2, 0, "#         "},
              {0, 5, 2, 10, ""},
              {1, 5, 2, 10, "#"}};
  char out[TOP_DRAWING_BYTES];
  for (size_t i = 0; i < COUNT_OF(rows); i++)
    cr_expect_str_eq(top_bar(out, rows[i].cells, rows[i].value, rows[i].mark, rows[i].full), rows[i].bar);
}

Test(drawings, lines_of_columns_show_the_latest_and_are_as_high_as_the_highest_of_them) {
  static top_history history = {.values = {100, 0, 1, 2, 4, 7}, .count = 6};
  char out[TOP_DRAWING_BYTES];
  cr_expect_str_eq(top_sparkline(out, 5, &history, 1, false), "_.:=#");
  cr_expect_str_eq(top_sparkline(out, 2, &history, 1, false), "=#");
  cr_expect_str_eq(top_sparkline(out, 5, &history, 14, false), "_..:=");
  cr_expect_str_eq(top_sparkline(out, 99, &history, 1, false), "#_____");
  cr_expect_str_eq(top_sparkline(out, 2, &history, 1, true), "\u2585\u2588");
  cr_expect_str_eq(top_sparkline(out, 0, &history, 1, true), "");
  history.count = 0;
  cr_expect_str_eq(top_sparkline(out, 5, &history, 1, false), "");
}

Test(drawings, times_have_hours_without_end) {
  char out[TOP_DRAWING_BYTES];
  cr_expect_str_eq(top_time(out, 59999999999), "0:00:59");
  cr_expect_str_eq(top_time(out, 3600000000000), "1:00:00");
  cr_expect_str_eq(top_time(out, 360000000000000 + 754000000000), "100:12:34");
}
