/* Land time, without brokers and without clocks: nodes whose machines' clocks differ, messages that take their time or
 * are lost, leaders that die. */
#include "room.h"
#include "service/zones/land_clock.h"

#include "base/random.h"

TestSuite(zones_clock, .timeout = 60);

enum { NODES = 4, MESSAGES = 256, NOBODY = NODES };

static const uint64_t ms_ns = 1000000, second_ns = 1000000000;

typedef struct lab_message {
  uint64_t arrives_ns; /* 0 = the place is free */
  uint32_t to;
  bool is_answer;
  char text[LAND_TEXT_BYTES];
} lab_message;

typedef struct lab_node {
  land_clock clock;
  bool runs;
  double rate;       /* of its machine's clock, */
  uint64_t begun_ns; /* which read this at the beginning of all */
  uint64_t next_ns;  /* turn */
  char boot[LAND_BOOT_BYTES];
  uint64_t last_land_ns, last_boot_ns; /* as it was looked at last */
} lab_node;

/* Times are of the world outside, from 0. */
static struct {
  lab_node nodes[NODES];
  lab_message messages[MESSAGES];
  uint32_t leader;
  uint64_t now_ns, random, slow_ns; /* the longest way of a message */
  uint32_t lost;                    /* of 100 */
  char note[LAND_TEXT_BYTES];
} lab;

static uint64_t draw(uint64_t below) {
  lab.random = muster_random_mix(lab.random + 1);
  return lab.random % below;
}

static uint64_t boot_of(const lab_node *node) {
  return node->begun_ns + (uint64_t)((double)lab.now_ns * node->rate);
}

static void begin_node(uint32_t number, double rate, uint64_t begun_ns) {
  lab_node *node = &lab.nodes[number];
  char name[] = {(char)('a' + number), '\0'};
  *node = (lab_node){.runs = true, .rate = rate, .begun_ns = begun_ns, .next_ns = lab.now_ns + draw(500 * ms_ns)};
  snprintf(node->boot, sizeof node->boot, "boot-of-%s-%lu", name, begun_ns);
  land_clock_open(&node->clock, name);
}

/* Machines that were started at different times, whose clocks differ by some hundred millionths. */
static void open_lab(uint64_t seed) {
  static const double rates[NODES] = {1, 1.0002, 0.9998, 1.00005};
  memset(&lab, 0, sizeof lab);
  lab.random = seed, lab.slow_ns = 20 * ms_ns, lab.lost = 20;
  for (uint32_t i = 0; i < NODES; i++) begin_node(i, rates[i], (1 + draw(1000000)) * second_ns);
}

static void send_to(uint32_t to, bool is_answer, const char *text) {
  if (draw(100) < lab.lost) return;
  for (uint32_t i = 0; i < MESSAGES; i++) {
    lab_message *message = &lab.messages[i];
    if (message->arrives_ns) continue;
    *message = (lab_message){lab.now_ns + ms_ns / 10 + draw(lab.slow_ns), to, is_answer, {0}};
    snprintf(message->text, sizeof message->text, "%s", text);
    return;
  }
  cr_assert(false, "too much is on its way");
}

static void take(const lab_message *message) {
  lab_node *node = &lab.nodes[message->to];
  bool leads = lab.leader == message->to;
  land_question ask;
  land_answer answer;
  char text[LAND_TEXT_BYTES];
  size_t count = strlen(message->text);
  if (!node->runs) return;
  if (message->is_answer) {
    cr_assert(land_answer_read(message->text, count, &answer));
    land_clock_answered(&node->clock, boot_of(node), leads, &answer);
    return;
  }
  cr_assert(land_question_read(message->text, count, &ask));
  if (!land_clock_asked(&node->clock, boot_of(node), leads, &ask, &answer)) return;
  land_answer_write(&answer, text);
  send_to((uint32_t)(*ask.node - 'a'), true, text);
}

static void turn(uint32_t number) {
  lab_node *node = &lab.nodes[number];
  char text[LAND_TEXT_BYTES];
  land_note note;
  land_turn todo = land_clock_turn(&node->clock, boot_of(node), lab.leader == number, node->boot);
  node->next_ns = lab.now_ns + LAND_TURN_MS * ms_ns;
  if (todo.reads)
    land_clock_noted(&node->clock, boot_of(node), lab.leader == number, node->boot,
                     land_note_read(lab.note, &note) ? &note : NULL);
  if (todo.notes) land_note_write(&todo.note, lab.note);
  land_question_write(&todo.ask, text);
  for (uint32_t i = 0; todo.asks && i < NODES; i++) send_to(i, false, text);
}

/* Land time goes on at every look, and never faster or slower than by a thousandth; not where `steps`. */
static void look(uint32_t number, bool steps) {
  lab_node *node = &lab.nodes[number];
  if (!node->clock.known || !node->runs) return;
  uint64_t boot_ns = boot_of(node), land_ns = land_clock_at(&node->clock, boot_ns);
  if (node->last_boot_ns) {
    int64_t gone_ns = (int64_t)(boot_ns - node->last_boot_ns), passed_ns = (int64_t)(land_ns - node->last_land_ns);
    cr_assert_geq(land_ns, node->last_land_ns, "node %u: it goes back", number);
    int64_t slack_ns = gone_ns / 1000 + 2000; /* times of doubles are rounded */
    cr_assert(passed_ns >= gone_ns - slack_ns && (steps || passed_ns <= gone_ns + slack_ns), "node %u: %ld in %ld",
              number, passed_ns, gone_ns);
  }
  node->last_boot_ns = boot_ns;
  node->last_land_ns = land_ns;
}

static void run_lab(double until_s, bool steps) {
  for (; lab.now_ns < (uint64_t)(until_s * 1e9); lab.now_ns += ms_ns) {
    for (uint32_t i = 0; i < MESSAGES; i++) {
      if (!lab.messages[i].arrives_ns || lab.messages[i].arrives_ns > lab.now_ns) continue;
      lab_message message = lab.messages[i];
      lab.messages[i].arrives_ns = 0;
      take(&message);
    }
    for (uint32_t i = 0; i < NODES; i++) {
      if (lab.nodes[i].runs && lab.now_ns >= lab.nodes[i].next_ns) turn(i);
      look(i, steps);
    }
  }
}

/* The leader does. */
static void die(uint32_t number) {
  lab.leader = NOBODY;
  lab.nodes[number].runs = false;
}

/* A machine stands still, with its clock. */
static void stand_still(uint32_t number, uint64_t seconds) {
  lab_node *node = &lab.nodes[number];
  uint64_t boot_ns = boot_of(node);
  node->runs = false;
  run_lab((double)lab.now_ns * 1e-9 + (double)seconds, false);
  node->begun_ns -= boot_of(node) - boot_ns;
  node->runs = true;
}

static uint64_t spread(void) {
  uint64_t least_ns = UINT64_MAX, most_ns = 0;
  for (uint32_t i = 0; i < NODES; i++) {
    const lab_node *node = &lab.nodes[i];
    if (!node->runs) continue;
    cr_assert(node->clock.known);
    uint64_t land_ns = land_clock_at(&node->clock, boot_of(node));
    if (land_ns < least_ns) least_ns = land_ns;
    if (land_ns > most_ns) most_ns = land_ns;
  }
  return most_ns - least_ns;
}

static uint64_t land_of(uint32_t number) {
  return land_clock_at(&lab.nodes[number].clock, boot_of(&lab.nodes[number]));
}

Test(zones_clock, all_follow_the_leader_whatever_their_clocks_say) {
  for (uint64_t seed = 1; seed <= 6; seed++) {
    open_lab(seed);
    run_lab(60, false);
    for (uint32_t i = 0; i < 60; i++) {
      run_lab(60 + i, false);
      cr_assert_lt(spread(), 20 * ms_ns, "seed %lu: %lu ns apart", seed, spread());
    }
    cr_assert_lt(land_of(0), 120 * second_ns, "a land without a note begins at 0");
    cr_assert_gt(land_of(0), 117 * second_ns);
  }
}

/* One dies, and nobody leads for the time of its lease; then another does, and the dead one comes back. */
Test(zones_clock, a_new_leader_goes_on_from_what_it_has_heard) {
  for (uint64_t seed = 1; seed <= 6; seed++) {
    open_lab(seed);
    run_lab(30, false);
    uint64_t before_ns = land_of(1);
    die(0);
    run_lab(47, false);
    cr_assert_lt(spread(), 40 * ms_ns, "each goes on by its own machine's");
    lab.leader = 1 + (uint32_t)(seed % 3);
    run_lab(50, false);
    begin_node(0, 1, 77 * second_ns); /* its machine was started again */
    run_lab(110, false);
    cr_assert_lt(spread(), 20 * ms_ns);
    uint64_t passed_ns = land_of(1) - before_ns;
    cr_assert(passed_ns > 79 * second_ns + 900 * ms_ns && passed_ns < 80 * second_ns + 100 * ms_ns, "%lu", passed_ns);
  }
}

Test(zones_clock, who_begins_while_nobody_leads_asks_anybody) {
  open_lab(3);
  run_lab(30, false);
  die(0);
  begin_node(2, 1, 5 * second_ns);
  lab.now_ns += ms_ns;
  cr_expect(!lab.nodes[2].clock.known);
  run_lab(34, false);
  cr_expect_lt(spread(), 20 * ms_ns);
}

/* It is right to half a second, and no message brings it nearer. */
Test(zones_clock, who_hears_nobody_sees_by_the_note_how_late_it_is) {
  open_lab(5);
  run_lab(30, false);
  lab.lost = 100;
  begin_node(2, 1, 5 * second_ns);
  run_lab(40, false);
  cr_expect_lt(spread(), 600 * ms_ns, "%lu", spread());
  lab.lost = 0;
  run_lab(600, false);
  cr_expect_lt(spread(), 20 * ms_ns);
  for (uint32_t i = 0; i < NODES; i++) lab.nodes[i].runs = false; /* a note that stays says nothing of now */
  memset(lab.messages, 0, sizeof lab.messages);
  lab.leader = NOBODY;
  begin_node(2, 1, 5 * second_ns);
  run_lab(610, false);
  cr_expect(!lab.nodes[2].clock.known);
}

/* The brokers alone are left, and know how late it was. */
Test(zones_clock, a_land_that_stood_goes_on_from_its_note) {
  for (uint32_t same = 0; same < 2; same++) {
    open_lab(9);
    run_lab(100, false);
    uint64_t before_ns = land_of(0), at_ns = lab.now_ns;
    for (uint32_t i = 0; i < NODES; i++) lab.nodes[i].runs = false;
    lab.now_ns += 3600 * second_ns;
    begin_node(0, 1, same ? lab.nodes[0].begun_ns : 5 * second_ns);
    memset(lab.messages, 0, sizeof lab.messages);
    run_lab((double)lab.now_ns * 1e-9 + 1, false);
    uint64_t gone_ns = lab.now_ns - at_ns;
    if (same) { /* the daemon alone was started again */
      cr_expect_geq(land_of(0), before_ns + gone_ns - ms_ns);
      cr_expect_leq(land_of(0), before_ns + gone_ns + ms_ns);
    } else {
      cr_expect_geq(land_of(0) + 3 * second_ns, before_ns);
      cr_expect_leq(land_of(0), before_ns + second_ns);
    }
  }
}

/* A virtual machine that was stopped: its clock stood, too. */
Test(zones_clock, who_stood_still_goes_forward_at_once_and_never_back) {
  open_lab(11);
  run_lab(20, false);
  stand_still(3, 5);
  run_lab(29, true);
  cr_expect_lt(spread(), 30 * ms_ns);
  stand_still(0, 1); /* the leader: the others are early */
  run_lab(40, false);
  cr_expect_gt(spread(), 900 * ms_ns, "they do not go back,");
  uint64_t before_ns = spread();
  run_lab(50, false);
  cr_expect_lt(spread(), before_ns, "but slower");
  run_lab(1400, false);
  cr_expect_lt(spread(), 20 * ms_ns, "until they are level");
}

/* It is as old as half of its way there and back. */
Test(zones_clock, an_answer_is_of_the_middle_of_its_way) {
  land_clock clock;
  land_clock_open(&clock, "b");
  land_clock_answered(&clock, 10 * second_ns, false,
                      &(land_answer){"a", 10 * second_ns - 400 * ms_ns, 77 * second_ns, true});
  cr_expect_eq(land_clock_at(&clock, 10 * second_ns), 77 * second_ns + 200 * ms_ns);
  cr_expect_eq(land_clock_at(&clock, 12 * second_ns), 79 * second_ns + 200 * ms_ns);
}

/* However good the answers of the one before it were. */
Test(zones_clock, another_leader_is_believed_at_once) {
  land_clock clock;
  land_clock_open(&clock, "b");
  for (uint64_t now_s = 10; now_s < 14; now_s++)
    land_clock_answered(&clock, now_s * second_ns, false,
                        &(land_answer){"a", now_s * second_ns, (90 + now_s) * second_ns, true});
  cr_expect_eq(land_clock_at(&clock, 13 * second_ns), 103 * second_ns);
  land_clock_answered(&clock, 14 * second_ns, false,
                      &(land_answer){"c", 14 * second_ns - 400 * ms_ns, 204 * second_ns, true});
  cr_expect_eq(land_clock_at(&clock, 14 * second_ns), 204 * second_ns + 200 * ms_ns);
}

/* What a leader had answered before it was silent says nothing of now: its machine may have stood still. */
Test(zones_clock, answers_of_before_a_silence_count_no_more) {
  land_clock clock;
  land_clock_open(&clock, "b");
  land_clock_answered(&clock, 10 * second_ns, false, &(land_answer){"a", 10 * second_ns, 100 * second_ns, true});
  land_clock_turn(&clock, 20 * second_ns, false, "boot");
  cr_expect_eq(clock.sample_count, 0);
  land_clock_answered(&clock, 20 * second_ns, false,
                      &(land_answer){"a", 20 * second_ns - 10 * ms_ns, 110 * second_ns + 95 * ms_ns, true});
  cr_expect_eq(clock.reading.slew, LAND_SLEW_MOST, "%ld", clock.reading.slew);
  land_clock_turn(&clock, 21 * second_ns, true, "boot"); /* it leads meanwhile */
  cr_expect(clock.sample_count == 0 && clock.reading.slew == 0);
}

Test(zones_clock, what_is_no_message_of_these_is_passed_over) {
  static const char *const bad[] = {
      "", "a", "a 1", "a b 1", "a 1 1 1 1 1", "a;b 1 1", "a123456789012345678901234567890123456789 1 1"};
  land_question ask;
  land_answer answer;
  land_note note;
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    cr_expect(!land_question_read(bad[i], strlen(bad[i]), &ask), "%s", bad[i]);
    cr_expect(!land_answer_read(bad[i], strlen(bad[i]), &answer), "%s", bad[i]);
    cr_expect(!land_note_read(bad[i], &note), "%s", bad[i]);
  }
  cr_expect(!land_answer_read("a 1 9999999999999999999 1", 25, &answer), "no land is so old");
  cr_expect(land_question_read("a-b_1 17 1", 10, &ask) && ask.sent_ns == 17 && ask.knows);

  open_lab(1); /* an answer to no question, one that was long on its way, and one of a question to come */
  land_clock *clock = &lab.nodes[1].clock;
  land_clock_answered(clock, 5 * second_ns, false, &(land_answer){"a", 1 * second_ns, 7, true});
  land_clock_answered(clock, 5 * second_ns, false, &(land_answer){"a", 6 * second_ns, 7, true});
  cr_expect(!clock->known);
}
