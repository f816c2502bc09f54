/* muster top against a real musterd: on a terminal, and without one. */
#include "printed.h"
#include "terminal.h"

static struct terminal screen;

/* Paused: then the figures of the API and those of the screen are of the same frame. */
static void start(void) {
  serve_paused("--world main=wildlife --agents 300 --world other=wildlife --agents 60", 250);
  setenv("MUSTER_SOCKET", service.socket, 1);
}

TestSuite(top, .init = start, .fini = stop, .timeout = 120);

static void await_text(const char *text) {
  terminal_await(&screen, text);
}

static void type_keys(const char *keys) {
  terminal_type(&screen, keys);
}

static void press(const char *keys, const char *text) {
  type_keys(keys);
  await_text(text);
}

static const char *line_with(const char *text) {
  return terminal_line(&screen, text);
}

static void begin_in(bool unicode) {
  char *arguments[] = {"muster", "top", "--interval", "100ms", NULL};
  terminal_start(&screen, program_path(), arguments, 24, 100, unicode);
  EACH(await_text, "muster top - main", "q quit");
}

static void begin(void) {
  begin_in(true);
}

static void quit(void) {
  type_keys("q");
  cr_expect_eq(terminal_wait(&screen), 0);
}

/* Whether the figures of the API stand on the screen, with this text around them. */
static void await_figure(const char *format, const char *member) {
  await_text(formed(format, count_at(WORLD, member)));
}

static void await_row(int row, const char *text) {
  while (strncmp(screen.cells[row], text, strlen(text)) != 0) terminal_read(&screen);
}

Test(top, shows_the_figures_of_the_api, .init = begin, .fini = quit) {
  EACH_PAIR(await_figure, {"frame %lld ", "frames"}, {"released %lld ", "frame.released"},
            {"completed %lld ", "frame.completed"}, {"levels 0: %lld ", "levels.0"}, {"%lld agents,", "agents"});
  EACH(await_text, "of 10 ms", "PAUSED");
  const char *hares = line_with("hare ");
  cr_assert_not_null(hares);
  json_auto_t *types = get(WORLD "/types");
  long long agents = 0, shown = 0;
  for (size_t i = 0; i < 3; i++) agents += control_count(types, formed("types.0.levels.%zu.agents", i));
  cr_expect_str_eq(control_text(types, "types.0.type"), "hare");
  cr_expect(sscanf(hares, "hare %lld", &shown) == 1 && shown == agents, "%lld: %s", agents, hares);
  cr_expect_not_null(line_with("carried   @"), "no sparkline of blocks");
}

Test(top, pauses_goes_on_and_steps_by_keys) {
  begin_in(false);
  json_auto_t *before = get(WORLD);
  type_keys("s");
  await_count(WORLD, "frames", control_count(before, "frames") + 1);
  type_keys(" ");
  await_count(WORLD, "frames", control_count(before, "frames") + 4);
  while (line_with("PAUSED")) terminal_read(&screen);
  cr_expect_null(line_with("@"), "blocks on a terminal of ASCII");
  quit();
}

Test(top, changes_the_budget_by_keys_and_says_when_that_is_refused, .init = begin, .fini = quit) {
  press("+", "of 11 ms");
  cr_expect_eq(count_at(WORLD, "budget_ns"), 11000000);
  press("-", "of 10 ms");
  for (int i = 0; i < 12; i++) type_keys("+"); /* beyond what two worlds may have together */
  await_text("budget");
}

Test(top, sorts_by_keys, .init = begin, .fini = quit) {
  press("A", "sort (AGENTS)");
  await_row(12, "hare ");
  press("N", "sort (TYPE)");
  await_row(12, "bobcat ");
  type_keys("R");
  await_row(12, "javelina ");
}

Test(top, has_help_other_worlds_and_follows_the_window, .init = begin, .fini = quit) {
  EACH_PAIR(press, {"h", "any key   back"}, {"h", "AGENTS"}, {"w", "muster top - other"});
  terminal_resize(&screen, 18, 60);
  EACH(await_text, "muster top - other", "TYPE ");
}

Test(top, its_help_ends_with_any_key_and_q_is_one, .init = begin, .fini = quit) {
  EACH_PAIR(press, {"h", "any key   back"}, {"q", "AGENTS"}, {"A", "sort (AGENTS)"});
}

Test(top, shows_bands_of_importance_where_the_window_has_room, .init = begin, .fini = quit) {
  await_text(" up to 1 ");
  cr_expect_eq(strncmp(screen.cells[17], "Importance    agents  wanted by rule     got", 44), 0, "%s",
               screen.cells[17]);
  cr_expect_eq(strncmp(screen.cells[22], " 0 ", 3), 0, "%s", screen.cells[22]);
  terminal_resize(&screen, 18, 100);
  while (line_with("Importance")) terminal_read(&screen);
}

/* What does not fit is left out, and not put into the next line. */
Test(top, fits_a_narrow_terminal, .init = begin, .fini = quit) {
  terminal_resize(&screen, 24, 60);
  EACH(await_text, "muster top - main", "q quit");
  cr_expect_eq(strncmp(screen.cells[3], "Frame     [", 11), 0, "%s", screen.cells[3]);
  cr_expect_eq(strspn(screen.cells[16], " "), 60, "below the four types: %s", screen.cells[16]);
  cr_expect_not_null(line_with("PAUSED"));
  press("h", "Workers   CPU that periods need, and that updates");
  type_keys("h");
}

Test(top, says_when_the_daemon_is_gone, .init = begin, .fini = quit) {
  daemon_kill(&service);
  EACH(await_text, "no news for ", "trying again: no musterd answers");
  cr_expect_not_null(line_with("hare "), "the figures are gone");
  launch_ready("--world main=wildlife --agents 300");
  while (line_with("no news for ") || line_with("PAUSED")) terminal_read(&screen);
}

/* Taller windows show more: the agents that stand out, and observers. */
Test(top, fills_a_tall_window_with_lists, .init = begin, .fini = quit) {
  cr_expect_null(line_with("OBSERVER "), "lists where there is no room");
  terminal_resize(&screen, 50, 100);
  EACH(await_text, "DELAYED ", "EXPENSIVE ", "OBSERVER ", "20 m      160 m", "Importance ");
  json_auto_t *ranking = get(WORLD "/ranking?limit=1");
  await_text(control_text(ranking, "expensive.0.agent"));
}

Test(top, shows_each_list_in_the_table, .init = begin, .fini = quit) {
  static const char *const heads[] = {"DELAYED ", "EXPENSIVE ", "IMPORTANT ", "OBSERVER ", "TYPE "};
  for (size_t i = 0; i < COUNT_OF(heads); i++) {
    type_keys("\t");
    await_row(11, heads[i]);
  }
}

Test(top, searches_types_and_ids, .init = begin, .fini = quit) {
  press("/bob\r", "/ search: bob");
  await_row(12, "bobcat ");
  cr_expect_null(line_with("hare "));
  type_keys("\t\t");
  await_row(11, "EXPENSIVE ");
  while (strncmp(screen.cells[12] + 13, "bobcat ", 7) != 0) terminal_read(&screen);
  type_keys("/\177\177\177"
            "1\r");
  await_row(11, "FOUND ");
  while (strncmp(screen.cells[12], "1.1 ", 4) != 0 || strncmp(screen.cells[13], "10.1 ", 5) != 0)
    terminal_read(&screen);
  EACH_PAIR(press, {"/\177zzz\r", "(nothing of that name)"}, {"\033", "/ search  tab"});
  await_text("hare ");
}

/* Whether an agent's last update was before this frame, and its next is not due yet. */
static bool is_between(const char *id) {
  json_auto_t *agent = get(formed(WORLD "/agents/%s", id)), *world = get(WORLD);
  long long now_ns = control_count(world, "sim_now_ns"), last_ns = control_count(agent, "last_update_ns");
  return last_ns < now_ns && now_ns < last_ns + control_count(agent, "period_ns");
}

/* Of agents that are searched the screen finds out itself how late they are. */
Test(top, shows_none_of_the_searched_as_late_that_is_on_time) {
  enum { ROW = 12, LEVEL = 79 /* the column in which a row ends */ };
  static const char *const ids[] = {"1.1", "10.1"};
  for (int steps = 0; !is_between(ids[0]) || !is_between(ids[1]); steps++) {
    cr_assert_lt(steps, 100, "they are never on time together");
    step(1);
  }
  begin();
  type_keys("/1\r");
  for (int i = 0; i < 2; i++) {
    char id[32] = "", type[32], late[32];
    const char *row = screen.cells[ROW + i];
    while (sscanf(row, "%31s %31s %31s", id, type, late) < 3 || strcmp(id, ids[i]) != 0 || row[LEVEL] == ' ')
      terminal_read(&screen);
    cr_expect_str_eq(late, "-", "%s is late: %s", id, late);
  }
  quit();
}

Test(top, says_how_the_world_does, .init = begin, .fini = quit) {
  EACH(await_text, "paused", "Resume it, or step frame by frame.");
}

Test(top, works_in_a_small_window) {
  begin_in(false);
  terminal_resize(&screen, 24, 80);
  EACH(await_text, "Importance ", "space pause  s step");
  cr_expect_not_null(line_with("hare "));
  cr_expect_not_null(line_with("bobcat "));
  press("?", "any key   back");
  type_keys("?");
  terminal_resize(&screen, 8, 30);
  await_text("muster top - main");
  terminal_resize(&screen, 24, 80);
  await_text("Importance ");
  quit();
}

Test(top, prints_plain_text_where_there_is_no_terminal) {
  SCOPED(free_memory) program_run *run = program_start("top");
  cr_expect_eq(run->status, 0, "%s", run->errors);
  cr_expect(strstr(run->output, "world main (wildlife)") && strstr(run->output, "paused"));
  cr_expect(strstr(run->output, "\nhare ") && !strchr(run->output, 27));
  cr_expect(strstr(run->output, "\nImportance ") && strstr(run->output, "\n up to 1 ") && strstr(run->output, "\n 0 "));
  SCOPED(free_memory) program_run *twice = program_start("top --world other --looks 2 --interval 100ms");
  cr_expect(twice->status == 0 && count_in(twice->output, "world other") == 2, "%s", twice->output);
}

Test(top, prints_one_object_for_machines) {
  json_auto_t *top = program_json("top --json"), *world = get(WORLD);
  cr_expect_eq(control_count(top, "frames"), control_count(world, "frames"));
  cr_expect_eq(control_count(top, "agents"), control_count(world, "agents"));
  cr_expect_eq(control_size(top, "types"), 4);
  double share = 0;
  CONTROL_EACH(type, top, "types") share += control_number(type, "cost_share");
  cr_expect(share > 0.999 && share < 1.001);
  cr_expect(
      json_equal(control_member(top, "staleness_by_importance"), control_member(world, "staleness_by_importance")));
  cr_expect_eq(control_size(top, "staleness_by_importance"), 5);
}

Test(top, refuses_what_it_does_not_understand) {
  PROGRAM_EXPECT_REFUSALS({"top --intervall 1s", 2, "--intervall"}, {"top --interval 1ms", 2, "--interval"},
                          {"top now", 2, "'now' is no option"}, {"top --world none", 1, "there is no world 'none'"},
                          {"top --socket /nonexistent/socket", 1, "no musterd answers"});
}
