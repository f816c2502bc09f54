/* The line that says how a world does. */
#include "room.h"
#include "service/verdict.h"

static verdict_facts facts; /* a world that is well, at first */
static struct verdict judged;

static void be_well(void) {
  facts = (verdict_facts){.failure = "",
                          .frame = 900,
                          .period_ns = 33333333,
                          .silent_ns = 10000000,
                          .frames = 300,
                          .judged = 300,
                          .agents = 1000,
                          .pressure = 0.1,
                          .important_load = 0.2,
                          .wants = 1.2,
                          .has = 2,
                          .best = {100000000, 100000000, 117000000},
                          .least = {1000000000, 1000000000, 1010000000},
                          .has_bands = true};
}

TestSuite(verdict, .init = be_well);

/* It is judged as that, in words that have this part. */
static void expect(verdict_code code, const char *part) {
  verdict_judge(&facts, &judged);
  cr_expect_str_eq(verdict_name(judged.code), verdict_name(code), "%s: %s", verdict_name(judged.code), judged.words);
  expect_in(judged.words, part);
}

Test(verdict, is_ok_when_all_have_what_they_want) {
  expect(VERDICT_OK,
         "wants 1.2 processors, has 2.0; the most important NPCs every 117 ms as wanted, the least important "
         "every 1.0 s as wanted");
  cr_expect_str_empty(judged.next);
  facts.wants = 2.1;
  expect(VERDICT_OK, "");
}

Test(verdict, tells_stretched_from_overloaded) {
  facts.wants = 5.8;
  facts.least.rule_ns = 12000000000;
  facts.least.got_ns = 13000000000;
  expect(VERDICT_STRETCHED,
         "wants 5.8 processors, has 2.0; the most important NPCs every 117 ms as wanted, the least important "
         "every 13 s (wanted: 1.0 s)");
  facts.beyond_wish = 9;
  expect(VERDICT_STRETCHED, "");
  facts.beyond_wish = 10.5;
  expect(VERDICT_OVERLOADED, "");
  cr_expect_str_not_empty(judged.next);
  facts.beyond_wish = 0;
  facts.pressure = 1.01;
  expect(VERDICT_OVERLOADED, "");
  facts.pressure = 0;
  facts.important_load = 1.5;
  expect(VERDICT_OVERLOADED, "");
  cr_expect(strstr(judged.next, "Even the important do not fit, they want 150 % of it") == judged.next, "%s",
            judged.next);
}

Test(verdict, says_that_no_period_can_help_and_whose_updates_these_are) {
  facts.elapsed_load = 0.9;
  facts.elapsed_type = "walker";
  expect(VERDICT_OK, "");
  facts.elapsed_load = 1.5;
  facts.put_off = 42;
  expect(VERDICT_OVERLOADED,
         "; no period can help: the time that passes costs 1.5 times the budget by itself, most of it for "
         "'walker'; 42 agents are put off");
  cr_expect(strstr(judged.next, "'walker'") != NULL, "%s", judged.next);
}

Test(verdict, does_not_call_it_ok_when_updates_wait_although_they_fit) {
  facts.best.got_ns = 190000000;
  expect(VERDICT_BEHIND, "the most important NPCs every 190 ms (wanted: 100 ms)");
  facts.best.got_ns = 180000000;
  expect(VERDICT_OK, "");
  facts.least.got_ns = 1600000000;
  expect(VERDICT_BEHIND, "");
}

Test(verdict, puts_what_is_worse_first) {
  facts.pressure = 2;
  facts.late = 14;
  expect(VERDICT_OVERLOADED, "");
  facts.late = 15;
  expect(VERDICT_LATE, "");
  facts.broken = 2;
  expect(VERDICT_LATE, "");
  facts.problem =
      &(module_problem){.places = 2, .agents = 7, .count = 312, .where = "village.lua:12", .what = "no hut"};
  expect(VERDICT_ERRORS,
         "village.lua:12 has failed 312 times, now in 7 NPCs: no hut; and 1 other place; wants 1.2 processors");
  facts.broken = 3;
  expect(VERDICT_BROKEN, "3 of 300 frames");
  facts.lost = "frames 3 to 9 are lost";
  expect(VERDICT_LOST, "frames 3 to 9 are lost; wants 1.2 processors");
  facts.silent_ns = 1500000000;
  expect(VERDICT_STUCK, "1.5 s ago; one is due every 33 ms");
  facts.frame = 0;
  expect(VERDICT_STARTING, "");
  facts.paused = true;
  facts.steps_left = 3;
  expect(VERDICT_PAUSED, "3 steps left");
  facts.failed = true;
  facts.failure = "no memory";
  expect(VERDICT_FAILED, "no memory");
}

Test(verdict, calls_a_slow_world_stuck_only_after_ten_of_its_periods) {
  facts.period_ns = 2000000000;
  facts.silent_ns = 15000000000;
  expect(VERDICT_OK, "");
  facts.silent_ns = 20000000001;
  expect(VERDICT_STUCK, "");
}

Test(verdict, says_what_frames_left_though_agents_waited_by_the_reason) {
  facts.idle_ns[MUSTER_IDLE_X] = 1200000000;
  facts.idle_ns[MUSTER_IDLE_LONG] = 3400000;
  expect(VERDICT_OK,
         "; left while NPCs waited: 1.2 s by updates_per_frame, 3.4 ms too short for the updates that waited");
  cr_expect_null(strstr(judged.words, "mended"));
  facts.idle_ns[MUSTER_IDLE_FAULT] = 900000;
  facts.idle_faults = 2;
  facts.pressure = 2;
  expect(VERDICT_OVERLOADED, "0.9 ms for no known reason, 1.2 s by updates_per_frame");
  facts.idle_faults = 3;
  facts.mended = 1;
  expect(VERDICT_IDLE, "3 of 300 frames in 10 s left budget though NPCs waited; wants 1.2 processors");
  expect_in(judged.words, "; estimates were wrong and were mended: 1");
  cr_expect_str_not_empty(judged.next);
  facts.late = 15;
  expect(VERDICT_LATE, "");
}

Test(verdict, tells_of_quarantine_beside_everything_else) {
  facts.quarantined = 12;
  facts.types_quarantined = 1;
  expect(VERDICT_OK, "; 1 types are in quarantine; 12 agents are not run");
}

Test(verdict, says_so_when_there_is_one_band_or_nothing_ran_yet) {
  facts.has_bands = false;
  expect(VERDICT_OK, "; NPCs every 117 ms as wanted");
  facts.best.got_ns = 0;
  expect(VERDICT_OK, "NPCs not at all yet");
}

Test(verdict, cuts_off_words_that_are_too_long) {
  static char failure[FAILURE_BYTES * 4];
  memset(failure, 'x', sizeof failure - 1);
  facts.failed = true;
  facts.failure = failure;
  facts.quarantined = 5;
  verdict_judge(&facts, &judged);
  cr_expect_eq(strlen(judged.words), sizeof judged.words - 1);
}

Test(verdict, gathers_means_of_the_last_seconds_and_the_outer_bands) {
  static world_published published;
  static history_second seconds[2];
  published.report = muster_frame_report_default();
  published.report.frame = 60;
  published.report.pressure = 9;
  published.frame_end_ns = 1000;
  published.statistics = muster_statistics_default();
  published.statistics.bands[1] = (muster_band){.agents = 5, .wanted_ns = 70};
  published.statistics.bands[3] = (muster_band){.agents = 2, .wanted_ns = 50, .interval_ns = 60};
  seconds[0] = (history_second){
      .frames = 30, .late = 1, .pressure = 1, .wants = 2, .has = 1, .important_load = 1, .beyond_wish = 6};
  seconds[1] = (history_second){
      .frames = 20, .broken = 2, .pressure = 3, .wants = 4, .has = 2, .important_load = 4, .beyond_wish = 9};
  seconds[0].band_agent_s[3] = 10;
  seconds[1].band_agent_s[3] = 30;
  seconds[1].band_completed[3] = 4;
  facts = verdict_gather(&published, seconds, 2, 1500);
  cr_expect(facts.frames == 50 && facts.late == 1 && facts.broken == 2 && facts.silent_ns == 500);
  cr_expect_float_eq(facts.pressure, 2, 1e-9);
  cr_expect_float_eq(facts.wants, 3, 1e-9);
  cr_expect_float_eq(facts.has, 1.5, 1e-9);
  cr_expect_float_eq(facts.important_load, 2.5, 1e-9);
  cr_expect_float_eq(facts.beyond_wish, 7.5, 1e-9);
  cr_expect(facts.has_bands && facts.best.wanted_ns == 50 && facts.least.wanted_ns == 70);
  cr_expect_eq(facts.best.got_ns, 10000000000u);
  facts = verdict_gather(&published, seconds, 0, 1500);
  cr_expect_float_eq(facts.pressure, 9, 1e-9, "before the first second is over, the last frame counts");
  cr_expect_eq(facts.best.got_ns, 60);
}

/* Each fact has its own value, of the seconds, of the last frame or of the world; the type is that of the number. */
Test(verdict, gathers_each_fact_from_its_own_place) {
  static world_published published;
  static history_second seconds[3];
  published.report = muster_frame_report_default();
  published.statistics = muster_statistics_default();
  published.paused = true, published.steps_left = 2, published.period_ns = 3, published.frame_end_ns = 4000;
  published.report.frame = 5, published.report.agents = 6, published.report.agents_quarantined = 7;
  published.report.types_quarantined = 8, published.report.elapsed_load = 9, published.report.agents_put_off = 10;
  published.report.elapsed_type.index = 2;
  published.type_count = 3;
  strcpy(published.types[0].name, "first"), strcpy(published.types[1].name, "second");
  strcpy(published.types[2].name, "third");
  strcpy(published.failure, "why");
  strcpy(published.journal.lost.words, "what was lost");
  published.problem.places = 1;
  for (uint32_t i = 0; i < 3; i++) {
    seconds[i] = (history_second){.frames = 10 + i, .late = 20 + i, .judged = 30 + i, .broken = 40 + i};
    seconds[i].idle_faults = 50 + i, seconds[i].mended = 60 + i, seconds[i].beyond_wish = 70 + 3 * i;
    seconds[i].pressure = (float)(80 + 3 * i), seconds[i].important_load = (float)(90 + 3 * i);
    seconds[i].wants = (float)(100 + 3 * i), seconds[i].has = (float)(110 + 3 * i);
    for (uint32_t k = 0; k < MUSTER_IDLES; k++) seconds[i].idle_ns[k] = 1000 * (k + 1) + i;
  }
  facts = verdict_gather(&published, seconds, 3, 4600);
  cr_expect(facts.paused && !facts.failed && facts.steps_left == 2 && facts.period_ns == 3 && facts.silent_ns == 600);
  cr_expect(facts.frame == 5 && facts.agents == 6 && facts.quarantined == 7 && facts.types_quarantined == 8);
  cr_expect(facts.elapsed_load == 9 && facts.put_off == 10);
  cr_expect_str_eq(facts.elapsed_type, "second");
  cr_expect_str_eq(facts.failure, "why");
  cr_expect_str_eq(facts.lost, "what was lost");
  cr_expect(facts.problem == &published.problem && !facts.has_bands);
  cr_expect(facts.frames == 33 && facts.late == 63 && facts.judged == 93 && facts.broken == 123);
  cr_expect(facts.idle_faults == 153 && facts.mended == 183);
  for (uint32_t k = 0; k < MUSTER_IDLES; k++) cr_expect_eq(facts.idle_ns[k], 3000 * (k + 1) + 3);
  cr_expect(facts.beyond_wish == 73 && facts.pressure == 83 && facts.important_load == 93);
  cr_expect(facts.wants == 103 && facts.has == 113);
  published.report.elapsed_type.index = 4;
  *published.journal.lost.words = '\0';
  published.problem.places = 0;
  facts = verdict_gather(&published, seconds, 1, 3999);
  cr_expect_str_empty(facts.elapsed_type, "there is no such type");
  cr_expect(!facts.lost && !facts.problem && facts.silent_ns == 0 && facts.frames == 10 && facts.wants == 100);
}

/* Each number with the word that it has with one, and with more. */
Test(verdict, tells_a_problem_of_a_module_by_its_numbers) {
  static const struct {
    module_problem problem;
    const char *words;
  } all[] = {
      {{.count = 1, .places = 1}, "main.lua has failed 1 time: bad"},
      {{.count = 2, .agents = 1, .places = 1}, "main.lua has failed 2 times, now in 1 NPC: bad"},
      {{.count = 3, .agents = 2, .places = 2}, "main.lua has failed 3 times, now in 2 NPCs: bad; and 1 other place"},
      {{.count = 1, .agents = 3, .places = 3}, "main.lua has failed 1 time, now in 3 NPCs: bad; and 2 other places"},
      {{.count = 0, .places = 0}, "main.lua has failed 0 times: bad"}};
  char words[VERDICT_PROBLEM_BYTES];
  for (size_t i = 0; i < COUNT_OF(all); i++) {
    module_problem problem = all[i].problem;
    strcpy(problem.where, "main.lua"), strcpy(problem.what, "bad");
    cr_expect_str_eq(verdict_problem(&problem, words), all[i].words);
  }
}
