/* muster top against a real musterd: on a terminal, and without one. */
#include "control.h"
#include "terminal.h"
#include "tools/program.h"

#include <criterion/criterion.h>

#define WORLD "/v1/worlds/main"

static musterd service;
static struct terminal screen;

/* Paused: then the figures of the API and those of the screen are of the same frame. */
static void start(void) {
  daemon_start(&service, "--world main=wildlife --agents 300 --world other=wildlife --agents 60");
  setenv("MUSTER_SOCKET", service.socket, 1);
  control_await_count(&service, WORLD, "agents", 250);
  json_decref(control_ask(&service, "PATCH", WORLD, "{\"paused\": true}", 200));
}

static void stop(void) {
  daemon_stop(&service);
}

TestSuite(top, .init = start, .fini = stop, .timeout = 120);

static void begin(bool unicode) {
  char *arguments[] = {"muster", "top", "--interval", "100ms", NULL};
  terminal_start(&screen, program_path(), arguments, 24, 100, unicode);
  terminal_await(&screen, "muster top - main");
  terminal_await(&screen, "q quit");
}

static void quit(void) {
  terminal_type(&screen, "q");
  cr_expect_eq(terminal_wait(&screen), 0);
}

/* Whether the figures of the API stand on the screen, with this text around them. */
static void await_count(const char *format, const char *path, const char *member) {
  char text[96];
  json_t *document = control_ask(&service, "GET", path, NULL, 200);
  snprintf(text, sizeof text, format, control_count(document, member));
  terminal_await(&screen, text);
  json_decref(document);
}

Test(top, shows_the_figures_of_the_api) {
  begin(true);
  await_count("frame %lld ", WORLD, "frames");
  await_count("released %lld ", WORLD, "frame.released");
  await_count("completed %lld ", WORLD, "frame.completed");
  await_count("levels 0: %lld ", WORLD, "levels.0");
  await_count("%lld agents,", WORLD, "agents");
  terminal_await(&screen, "of 10 ms");
  terminal_await(&screen, "PAUSED");
  const char *hares = terminal_line(&screen, "hare ");
  cr_assert_not_null(hares);
  json_t *types = control_ask(&service, "GET", WORLD "/types", NULL, 200);
  long long agents = 0, shown = 0;
  for (size_t i = 0; i < 3; i++) {
    char path[64];
    snprintf(path, sizeof path, "types.0.levels.%zu.agents", i);
    agents += control_count(types, path);
  }
  cr_expect_str_eq(control_text(types, "types.0.type"), "hare");
  cr_expect(sscanf(hares, "hare %lld", &shown) == 1 && shown == agents, "%lld: %s", agents, hares);
  cr_expect_not_null(terminal_line(&screen, "carried   @"), "no sparkline of blocks");
  json_decref(types);
  quit();
}

Test(top, pauses_goes_on_and_steps_by_keys) {
  begin(false);
  json_t *before = control_ask(&service, "GET", WORLD, NULL, 200);
  terminal_type(&screen, "s");
  control_await_count(&service, WORLD, "frames", control_count(before, "frames") + 1);
  terminal_type(&screen, " ");
  control_await_count(&service, WORLD, "frames", control_count(before, "frames") + 4);
  while (terminal_line(&screen, "PAUSED")) terminal_read(&screen);
  json_decref(before);
  cr_expect_null(terminal_line(&screen, "@"), "blocks on a terminal of ASCII");
  quit();
}

Test(top, changes_the_budget_by_keys_and_says_when_that_is_refused) {
  begin(true);
  terminal_type(&screen, "+");
  terminal_await(&screen, "of 11 ms");
  json_t *world = control_ask(&service, "GET", WORLD, NULL, 200);
  cr_expect_eq(control_count(world, "budget_ns"), 11000000);
  json_decref(world);
  terminal_type(&screen, "-");
  terminal_await(&screen, "of 10 ms");
  for (int i = 0; i < 12; i++) terminal_type(&screen, "+"); /* beyond what two worlds may have together */
  terminal_await(&screen, "budget");
  quit();
}

Test(top, sorts_by_keys) {
  begin(true);
  terminal_type(&screen, "A");
  terminal_await(&screen, "sort (AGENTS)");
  while (strncmp(screen.cells[12], "hare ", 5) != 0) terminal_read(&screen);
  terminal_type(&screen, "N");
  terminal_await(&screen, "sort (TYPE)");
  while (strncmp(screen.cells[12], "bobcat ", 7) != 0) terminal_read(&screen);
  terminal_type(&screen, "R");
  while (strncmp(screen.cells[12], "javelina ", 9) != 0) terminal_read(&screen);
  quit();
}

Test(top, has_help_other_worlds_and_follows_the_window) {
  begin(true);
  terminal_type(&screen, "h");
  terminal_await(&screen, "any key   back");
  terminal_type(&screen, "h");
  terminal_await(&screen, "AGENTS");
  terminal_type(&screen, "w");
  terminal_await(&screen, "muster top - other");
  terminal_resize(&screen, 18, 60);
  terminal_await(&screen, "muster top - other");
  terminal_await(&screen, "TYPE ");
  quit();
}

Test(top, its_help_ends_with_any_key_and_q_is_one) {
  begin(true);
  terminal_type(&screen, "h");
  terminal_await(&screen, "any key   back");
  terminal_type(&screen, "q");
  terminal_await(&screen, "AGENTS");
  terminal_type(&screen, "A");
  terminal_await(&screen, "sort (AGENTS)");
  quit();
}

Test(top, shows_bands_of_importance_where_the_window_has_room) {
  begin(true);
  terminal_await(&screen, " up to 1 ");
  cr_expect_eq(strncmp(screen.cells[17], "Importance    agents  wanted by rule     got", 44), 0, "%s",
               screen.cells[17]);
  cr_expect_eq(strncmp(screen.cells[22], " 0 ", 3), 0, "%s", screen.cells[22]);
  terminal_resize(&screen, 18, 100);
  while (terminal_line(&screen, "Importance")) terminal_read(&screen);
  quit();
}

/* What does not fit is left out, and not put into the next line. */
Test(top, fits_a_narrow_terminal) {
  begin(true);
  terminal_resize(&screen, 24, 60);
  terminal_await(&screen, "muster top - main");
  terminal_await(&screen, "q quit");
  cr_expect_eq(strncmp(screen.cells[3], "Frame     [", 11), 0, "%s", screen.cells[3]);
  cr_expect_eq(strspn(screen.cells[16], " "), 60, "below the four types: %s", screen.cells[16]);
  cr_expect_not_null(terminal_line(&screen, "PAUSED"));
  terminal_type(&screen, "h");
  terminal_await(&screen, "Workers   CPU that periods need, and that updates");
  terminal_type(&screen, "h");
  quit();
}

Test(top, says_when_the_daemon_is_gone) {
  begin(true);
  daemon_kill(&service);
  terminal_await(&screen, "no news for ");
  terminal_await(&screen, "trying again: no musterd answers");
  cr_expect_not_null(terminal_line(&screen, "hare "), "the figures are gone");
  daemon_launch(&service, "--world main=wildlife --agents 300");
  cr_assert(daemon_await(&service, "READY=1"));
  while (terminal_line(&screen, "no news for ") || terminal_line(&screen, "PAUSED")) terminal_read(&screen);
  quit();
}

/* Taller windows show more: the agents that stand out, and observers. */
Test(top, fills_a_tall_window_with_lists) {
  begin(true);
  cr_expect_null(terminal_line(&screen, "OBSERVER "), "lists where there is no room");
  terminal_resize(&screen, 50, 100);
  terminal_await(&screen, "DELAYED ");
  terminal_await(&screen, "EXPENSIVE ");
  terminal_await(&screen, "OBSERVER ");
  terminal_await(&screen, "20 m      160 m");
  terminal_await(&screen, "Importance ");
  json_t *ranking = control_ask(&service, "GET", WORLD "/ranking?limit=1", NULL, 200);
  terminal_await(&screen, control_text(ranking, "expensive.0.agent"));
  json_decref(ranking);
  quit();
}

Test(top, shows_each_list_in_the_table) {
  static const char *const heads[] = {"DELAYED ", "EXPENSIVE ", "IMPORTANT ", "OBSERVER ", "TYPE "};
  begin(true);
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
    terminal_type(&screen, "\t");
    while (strncmp(screen.cells[11], heads[i], strlen(heads[i])) != 0) terminal_read(&screen);
  }
  quit();
}

Test(top, searches_types_and_ids) {
  begin(true);
  terminal_type(&screen, "/bob\r");
  terminal_await(&screen, "/ search: bob");
  while (strncmp(screen.cells[12], "bobcat ", 7) != 0) terminal_read(&screen);
  cr_expect_null(terminal_line(&screen, "hare "));
  terminal_type(&screen, "\t\t");
  while (strncmp(screen.cells[11], "EXPENSIVE ", 10) != 0) terminal_read(&screen);
  while (strncmp(screen.cells[12] + 13, "bobcat ", 7) != 0) terminal_read(&screen);
  terminal_type(&screen, "/\177\177\177"
                         "1\r");
  while (strncmp(screen.cells[11], "FOUND ", 6) != 0) terminal_read(&screen);
  while (strncmp(screen.cells[12], "1.1 ", 4) != 0 || strncmp(screen.cells[13], "10.1 ", 5) != 0)
    terminal_read(&screen);
  terminal_type(&screen, "/\177zzz\r");
  terminal_await(&screen, "(nothing of that name)");
  terminal_type(&screen, "\033");
  terminal_await(&screen, "/ search  tab");
  terminal_await(&screen, "hare ");
  quit();
}

/* Whether an agent's last update was before this frame, and its next is not due yet. */
static bool is_between(const char *id) {
  char path[96];
  snprintf(path, sizeof path, WORLD "/agents/%s", id);
  json_t *agent = control_ask(&service, "GET", path, NULL, 200),
         *world = control_ask(&service, "GET", WORLD, NULL, 200);
  long long now_ns = control_count(world, "sim_now_ns"), last_ns = control_count(agent, "last_update_ns");
  bool between = last_ns < now_ns && now_ns < last_ns + control_count(agent, "period_ns");
  json_decref(agent);
  json_decref(world);
  return between;
}

/* Of agents that are searched the screen finds out itself how late they are. */
Test(top, shows_none_of_the_searched_as_late_that_is_on_time) {
  enum { ROW = 12, LEVEL = 79 /* the column in which a row ends */ };
  static const char *const ids[] = {"1.1", "10.1"};
  for (int steps = 0; !is_between(ids[0]) || !is_between(ids[1]); steps++) {
    cr_assert_lt(steps, 100, "they are never on time together");
    control_step(&service, 1);
  }
  begin(true);
  terminal_type(&screen, "/1\r");
  for (int i = 0; i < 2; i++) {
    char id[32] = "", type[32], late[32];
    const char *row = screen.cells[ROW + i];
    while (sscanf(row, "%31s %31s %31s", id, type, late) < 3 || strcmp(id, ids[i]) != 0 || row[LEVEL] == ' ')
      terminal_read(&screen);
    cr_expect_str_eq(late, "-", "%s is late: %s", id, late);
  }
  quit();
}

Test(top, says_how_the_world_does) {
  begin(true);
  terminal_await(&screen, "paused");
  terminal_await(&screen, "Resume it, or step frame by frame.");
  quit();
}

Test(top, works_in_a_small_window) {
  begin(false);
  terminal_resize(&screen, 24, 80);
  terminal_await(&screen, "Importance ");
  terminal_await(&screen, "space pause  s step");
  cr_expect_not_null(terminal_line(&screen, "hare "));
  cr_expect_not_null(terminal_line(&screen, "bobcat "));
  terminal_type(&screen, "?");
  terminal_await(&screen, "any key   back");
  terminal_type(&screen, "?");
  terminal_resize(&screen, 8, 30);
  terminal_await(&screen, "muster top - main");
  terminal_resize(&screen, 24, 80);
  terminal_await(&screen, "Importance ");
  quit();
}

Test(top, prints_plain_text_where_there_is_no_terminal) {
  program_run *run = program_start("top");
  cr_expect_eq(run->status, 0, "%s", run->errors);
  cr_expect(strstr(run->output, "world main (wildlife)") && strstr(run->output, "paused"));
  cr_expect(strstr(run->output, "\nhare ") && !strchr(run->output, 27));
  cr_expect(strstr(run->output, "\nImportance ") && strstr(run->output, "\n up to 1 ") && strstr(run->output, "\n 0 "));
  free(run);
  run = program_start("top --world other --looks 2 --interval 100ms");
  const char *first = strstr(run->output, "world other"), *second = first ? strstr(first + 1, "world other") : NULL;
  cr_expect(run->status == 0 && second && !strstr(second + 1, "world other"), "%s", run->output);
  free(run);
}

Test(top, prints_one_object_for_machines) {
  json_t *top = program_json("top --json"), *world = control_ask(&service, "GET", WORLD, NULL, 200);
  cr_expect_eq(control_count(top, "frames"), control_count(world, "frames"));
  cr_expect_eq(control_count(top, "agents"), control_count(world, "agents"));
  cr_expect_eq(json_array_size(control_member(top, "types")), 4);
  double share = 0;
  for (size_t i = 0; i < 4; i++)
    share += json_number_value(json_object_get(json_array_get(control_member(top, "types"), i), "cost_share"));
  cr_expect(share > 0.999 && share < 1.001);
  cr_expect(
      json_equal(control_member(top, "staleness_by_importance"), control_member(world, "staleness_by_importance")));
  cr_expect_eq(json_array_size(control_member(top, "staleness_by_importance")), 5);
  json_decref(top);
  json_decref(world);
}

Test(top, refuses_what_it_does_not_understand) {
  PROGRAM_EXPECT_REFUSALS({"top --intervall 1s", 2, "--intervall"}, {"top --interval 1ms", 2, "--interval"},
                          {"top now", 2, "'now' is no option"}, {"top --world none", 1, "there is no world 'none'"},
                          {"top --socket /nonexistent/socket", 1, "no musterd answers"});
}
