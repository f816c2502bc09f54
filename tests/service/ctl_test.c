/* muster ctl and muster explain against a real musterd. */
#include "printed.h"

#include <ctype.h>

static void start(void) {
  serve_paused("--world main=wildlife --agents 300", 250);
  setenv("MUSTER_SOCKET", service.socket, 1);
}

TestSuite(ctl, .init = start, .fini = stop, .timeout = 120);

static void expect(const char *line, const char *text) {
  expect_printed(line, 0, text);
}

Test(ctl, shows_what_there_is) {
  EACH_PAIR(expect, {"ctl worlds", "wildlife"}, {"ctl world", "\nbudget                     10 ms\n"},
            {"ctl world", "\nsimulated time  "}, {"ctl world", "\nlevels                     0: "},
            {"ctl worlds", "levels\n"}, {"ctl types", "bobcat"},
            {"ctl agents limit=2 cursor=1 type=hare", "(muster ctl agents limit=2 type=hare cursor="},
            {"ctl observers", "near"}, {"ctl observers", " 20 m "},
            {"ctl world", "\nrate                       30 Hz\n"}, {"ctl world", " processor"},
            {"ctl world", "\nImportance    agents "}, {"ctl worlds", "30 Hz"}, {"ctl snapshot", "never"},
            {"ctl levels", "agents shed"}, {"ctl weights", "weight_importance"}, /* by the name by which it is set */
            {"ctl weights", "\nguarantee                  500 ms\n"}, {"ctl modules", "wildlife"},
            {"ctl snapshot", "enabled"}, {"ctl get /v1", "\"requests\""}, {"ctl get /metrics", "# HELP muster_"},
            {"ctl --help", "muster ctl"}, {"ctl -h", "muster ctl"},
            {"ctl -h abc=d", "muster ctl"}, /* what stands behind the two letters in memory is no part of them */
            {"explain --help", "--socket PATH"}, {"explain --socket /nowhere -h", "INDEX.GENERATION"});
}

enum { CELLS_MAX = 16 };

/* Where the cells of a line begin and end: two blanks or more stand between them. Returns how many there are. */
static size_t find_cells(const char *line, size_t begins[CELLS_MAX], size_t ends[CELLS_MAX]) {
  size_t count = 0, length = strcspn(line, "\n");
  for (size_t at = strspn(line, " "); at < length && count < CELLS_MAX; count++) {
    begins[count] = at;
    while (at < length && !(line[at] == ' ' && line[at + 1] == ' ')) at++;
    ends[count] = at;
    at += strspn(line + at, " ");
  }
  return count;
}

/* Each cell begins below its title, as texts do, or ends there, as numbers do. */
static void expect_columns(const char *line, size_t least) {
  size_t begins[CELLS_MAX], ends[CELLS_MAX], begin[CELLS_MAX], end[CELLS_MAX], rows = 0;
  SCOPED(free_memory) program_run *run = program_start(line);
  size_t count = find_cells(run->output, begins, ends);
  cr_assert_geq(count, least, "muster %s prints:\n%s", line, run->output);
  for (const char *row = strchr(run->output, '\n'); row && row[1] && row[1] != '\n'; row = strchr(row + 1, '\n')) {
    if (strncmp(row + 1, "more: ", 6) == 0) break;
    cr_assert_eq(find_cells(row + 1, begin, end), count, "muster %s prints:\n%s", line, run->output);
    for (size_t i = 0; i < count; i++)
      cr_expect(begin[i] == begins[i] || end[i] == ends[i], "column %zu of muster %s:\n%s", i, line, run->output);
    rows++;
  }
  cr_expect_gt(rows, 0, "muster %s prints:\n%s", line, run->output);
}

Test(ctl, cells_of_tables_stand_below_their_titles) {
  expect_columns("ctl worlds", 5);
  expect_columns("ctl types", 4);
  expect_columns("ctl agents limit=20", 5);
  expect_columns("ctl observers", 4);
}

Test(ctl, changes_what_it_is_told_to) {
  EACH_PAIR(expect, {"ctl budget 4ms", "4 ms"}, {"ctl hz 20", "50 ms"}, {"ctl workers 1", "workers"},
            {"ctl weights weight_wait=0.5 guarantee=250ms", "main"}, {"ctl step 2", "steps left                 0\n"},
            {"ctl weights", "\nguarantee                  250 ms\n"});
  json_auto_t *weights = program_json("ctl weights --json");
  control_expect(weights, "{'weight_wait': 0.5, 'workers': 1}");
  EACH_PAIR(expect, {"ctl policy balanced", "main"}, {"ctl reinstate hare", "reinstated"}, {"ctl resume", "no"},
            {"ctl pause", "yes"});
}

Test(ctl, an_agent_lives_from_spawn_to_removal) {
  char id[64];
  SCOPED(free_memory) program_run *spawned = program_start("ctl spawn hare -5,6.5 importance_floor=0.75");
  cr_assert(sscanf(spawned->output, "%63s", id) == 1, "%s", spawned->errors);
  step(1);
  EACH_PAIR(expect, {formed("ctl agent %s", id), "hare"}, {formed("ctl move %s -7,8", id), id},
            {formed("ctl wake %s", id), id}, {formed("ctl tune %s bulk=0.5", id), id},
            {formed("explain --socket %s --agent %s", service.socket, id), "hare"},
            {formed("explain --agent %s", id), "hare"}, /* by MUSTER_SOCKET, as all of ctl */
            {formed("explain %s --world main", id), "hare"}, {formed("ctl explain %s --json", id), "\"words\""},
            {formed("ctl remove %s", id), id});
}

/* The commands are taken out of the help, so that a new one without its own help fails. */
Test(ctl, each_command_has_help_of_its_own) {
  SCOPED(free_memory) program_run *help = program_start("ctl --help");
  char name[32];
  int commands = 0;
  for (const char *at = strstr(help->output, "\n\n  "); at && (at = strstr(at, "\n  ")) != NULL; at++) {
    if (!islower(at[3]) || sscanf(at, "\n  %31[a-z]", name) != 1) continue;
    expect(formed("ctl --world main %s --help", name), formed("\nusage: muster ctl [OPTION]... %s", name));
    expect(formed("ctl help %s", name), "\nExample: muster ctl ");
    commands++;
  }
  cr_expect(commands > 25, "%d commands", commands);
}

/* Else the command after it would take the frames away. */
Test(ctl, step_ends_when_its_frames_are_run) {
  json_auto_t *before = get(WORLD), *stepped = program_json("ctl step 10 --json");
  cr_expect_eq(control_count(stepped, "frames"), control_count(before, "frames") + 10);
  control_expect(stepped, "{'steps_left': 0, 'paused': true}");
}

/* For longer than it has patience with a world that runs none. */
Test(ctl, step_waits_for_as_long_as_frames_come) {
  json_t *stepped = program_json("ctl step 340 --json"); /* at 30 Hz */
  cr_expect_eq(control_count(stepped, "steps_left"), 0);
  json_decref(stepped);
}

/* The world, paused when no hare waits to come in: some that it began with may, and who was just born. */
static json_t *quiet_world(void) {
  for (int tries = 0; tries < 100; tries++) {
    json_decref(program_json("ctl step 1 --json"));
    json_t *world = get(WORLD);
    if (control_count(world, "spawns_waiting") == 0) return world;
    json_decref(world);
  }
  cr_assert_fail("hares are born in every frame");
  return NULL;
}

/* Ids are set aside for what updates may spawn, so that fewer agents than agents_max find none free. */
Test(ctl, a_refused_spawn_tells_how_many_agents_there_are) {
  json_auto_t *world = quiet_world();
  long long there = control_count(world, "agents"), most = 300 + 300 / 2 + 64;
  const char *line = formed("ctl spawn hare 1,1 count=%lld", most - there);
  PROGRAM_EXPECT_REFUSALS({line, 1, formed("; %lld agents are there and 0 wait to come in: spawn fewer", there)},
                          {line, 1, "an agent's or set aside for spawns from updates"});
}

Test(ctl, tables_become_blocks_where_the_terminal_is_too_narrow) {
  unsetenv("COLUMNS");
  expect("ctl agents type=hare limit=1", "agent  type");
  setenv("COLUMNS", "60", 1);
  expect("ctl agents type=hare limit=1", "\ntype         hare\n");
  unsetenv("COLUMNS");
}

/* As wide as the longest of its lines: with so many columns it is a table, with one less it is none. */
Test(ctl, tables_are_there_wherever_they_have_room) {
  static const char line[] = "ctl agents type=hare limit=3";
  char columns[16];
  unsetenv("COLUMNS");
  program_run *run = program_start(line);
  cr_assert_eq(run->status, 0, "%s", run->errors);
  cr_assert(strncmp(run->output, "agent  type", 11) == 0, "%s", run->output);
  size_t width = 0;
  for (const char *next = run->output; *next && *next != '('; next += strcspn(next, "\n"), next += *next == '\n')
    if (strcspn(next, "\n") > width) width = strcspn(next, "\n");
  for (size_t less = 0; less < 2; less++) {
    snprintf(columns, sizeof columns, "%zu", width - less);
    setenv("COLUMNS", columns, 1);
    expect(line, less ? "\ntype         hare\n" : "agent  type");
  }
  unsetenv("COLUMNS");
  free(run);
}

Test(ctl, complaints_are_one_line_and_say_what_to_do) {
  PROGRAM_EXPECT_REFUSALS(
      {"ctl", 2, "say what to do"}, {"ctl agentz", 2, "did you mean 'agents'"},
      {"ctl help agentz", 2, "did you mean 'agents'"}, {"ctl wake", 2, "muster ctl wake ID"},
      {"ctl levels x", 2, "an argument too many; write it so: muster ctl levels\n"},
      {"ctl get worlds", 2, "'worlds' is no path; it begins with /"}, {"ctl get /v1/none", 1, "`muster ctl get /v1`"},
      {"ctl agents typ=hare", 1, "there are: type level partition"},
      {"ctl agents type=hair", 1, "did you mean 'hare'?"}, {"ctl agents type=unicorn", 1, "there are: hare, javelina"},
      {"ctl tune 1.1 bulck=1", 1, "there is no field 'bulck'; there are: "}, {"ctl move 1.1 zz", 2, "is no place"},
      {"ctl move 1.1 inf,0", 2, "is no place"}, {"ctl policy \xff", 2, "is no UTF-8"}, {"ctl budget 10", 2, "budget"},
      {"ctl --sockett x worlds", 2, "unknown option --sockett; did you mean '--socket'?"},
      {"ctl wake 1", 1, "INDEX.GENERATION"}, {"ctl agent 1.2", 1, "is gone; `muster ctl agents`"},
      {"ctl --world other world", 1, "no world 'other'; there are: main"}, {"ctl hz 20000", 2, "hz"},
      {"ctl --socket /nowhere worlds", 1, "no musterd answers at /nowhere"},
      {"ctl --token-file /dev/null worlds", 1, "--token-file /dev/null: it is empty"},
      {"ctl --token-file /nowhere worlds", 1, "--token-file /nowhere: No such file"},
      {"explain --agent=4294967.1", 1, "is gone"},
      {"explain --world main", 2, "name one agent of the daemon: --agent INDEX.GENERATION"},
      {"explain --sockt x --agent 1.1", 2, "did you mean '--socket'? See `muster explain --help`"});
}
