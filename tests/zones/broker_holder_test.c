/* What a holder that this test has made up does with what real servers have of its zone, or have lost. */
#include "broker_here.h"

#include "service/log.h"
#include "service/settings_cluster.h"
#include "service/zones/balancer.h"
#include "service/zones/parts.h"
#include "service/zones/told_settings.h"
#include "support/log_lines.h"

#include <fcntl.h>
#include <inttypes.h>

enum { OWN = 7, OTHER = 5, POSITIONS = 2 * NEIGHBOURS_MAX, CROSSINGS = 3 };

static struct processes processes;
static struct holder *holder;
static struct holding *holding;
static struct told_settings *told_all;
static char folder[64] = "/tmp/muster-holder-test-XXXXXX";

/* A zone that this node has, and whose files it is about to bring. */
static struct broker *begin(uint32_t answer_ms) {
  start_here(1, 1);
  broker_settings settings = lab_settings(&here, "a");
  settings.answer_ms = answer_ms;
  cr_assert(mkdtemp(folder) && (holder = calloc(1, sizeof *holder)));
  cr_assert_not_null(holder->balancer = calloc(1, sizeof *holder->balancer));
  settings_default(&holder->settings);
  strcpy(holder->settings.cluster, "large"), strcpy(holder->settings.node, "a");
  holder->loop = &here.loop;
  holder->processes = &processes;
  holder->balancer->holder = holder;
  holder->broker = lab_open(&here, 0, &settings, true);
  holder->count = 1;
  processes.stopping = true; /* no process begins */
  holding = &holder->holdings[0];
  *holding = (struct holding){.holder = holder,
                              .process = &processes.worlds[0],
                              .socket = -1,
                              .other = -1,
                              .journal_descriptor = -1,
                              .ground = {.number = OWN, .neighbour_count = 1, .neighbours = {{.number = OTHER}}},
                              .lease.epoch = 2,
                              .leased = true,
                              .stage = HOLDING_FETCHING};
  holding->process->all = &processes;
  strcpy(holding->process->name, "w"), strcpy(holding->name, "zone-7"), strcpy(holding->lease.last_owner, "b");
  snprintf(holding->path, sizeof holding->path, "%s/w", folder);
  cr_assert(uv_timer_init(&here.loop, &holding->timer) == 0 && uv_timer_init(&here.loop, &holding->follow_timer) == 0);
  holding->timer.data = holding->follow_timer.data = holding;
  return holder->broker;
}

static void close_handle(uv_handle_t *handle, void *user) {
  (void)user;
  if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

static void end(void) {
  if (!here.servers) return;
  holder->closing = true;
  holding_end(holding);
  for (uint32_t place = 0; place < LAB_BROKERS_MAX; place++) lab_close(&here, place);
  uv_walk(&here.loop, close_handle, NULL);
  lab_end(&here);
  told_settings_free(told_all);
  cr_expect_eq(system(formed("rm -r %s", folder)), 0);
  free(holder->balancer);
  free(holder);
}

TestSuite(broker_holder, .fini = end, .timeout = 300);

static muster_result note(const broker_lease *lease, const void *bytes, size_t count) {
  return CALL_HERE(broker_note_stored, holder->broker, lease, bytes, count, NULL, 0).result;
}

/* All calls of the broker have their answers, and those that these led to. */
static void await_calls(const struct broker *broker) {
  LAB_AWAIT(&here, broker->calls == 0);
}

static void expect_told(const char *told, const char *words) {
  cr_expect(strstr(told, words), "no \"%s\" in: %s", words, told);
}

typedef struct stored_object {
  lab_answer answer; /* first: see lab_done() */
  broker_object object;
} stored_object;

static void note_object(muster_result result, const broker_object *object, void *user) {
  stored_object *of = user;
  of->object = *object;
  lab_done(result, &of->answer);
}

/* ----------------------------------------------------------------------------------------------------------- lease */

/* Asks for the lease, until there is an answer; what the log says of it. */
static const char *ask(void) {
  errors_begin();
  log_line(MUSTER_LOG_INFO, "begin");
  holding->leased = false;
  holding_ask_again(holding);
  cr_assert(holding->asks);
  LAB_AWAIT(&here, !holding->asks);
  return errors_end();
}

Test(broker_holder, whose_zone_it_is_is_told_once_and_shown_for_as_long_as_it_is) {
  struct broker *other = NULL;
  begin(20000);
  other = open_as(1, "b");
  const broker_lease lease = take(other, OWN);
  holder->name.has = holder->clock.clock.known = true;
  holder->settings.lease_ttl_ns = 3600000000000u;
  holding->restores = false;
  for (int turn = 0; turn < 3; turn++) {
    if (turn == 2) holding->follow.stage = FOLLOW_RUNNING;
    const char *told = ask();
    cr_expect_eq(strstr(told, "musterd: world w: zone 7 runs on node b\n") != NULL, turn == 0, "%s", told);
    cr_expect_str_eq(holding->process->standby,
                     turn == 2 ? "its zone runs on node b, and is to be moved here" : "its zone runs on node b");
    cr_expect(holding->process->elsewhere && holding->stage == HOLDING_ASKING && !holding->leased);
    cr_expect(holding->seen_revision == lease.revision && holding->seen_ns > 0);
  }
  holding->follow.stage = FOLLOW_NONE;
  EXPECT_RESULT(lab_release(&here, other, &lease), MUSTER_OK);
  holding->above = ZONE_EPOCH_MAX / 2 - 1;
  const char *told = ask();
  expect_told(told, formed("musterd: world w: zone 7 is this node's, epoch %" PRIu64 "\n", ZONE_EPOCH_MAX / 2));
  cr_expect_null(strstr(told, "of its epochs"), "%s", told);
  cr_expect(holding->leased && !holding->process->elsewhere && holding->seen_revision == 0 && holding->above == 0);
  await_calls(holder->broker);
  holding_end(holding);
  expect_told(ask(), "musterd: warning: world w: zone 7 has used more than half of its epochs\n");
  await_calls(holder->broker);
}

/* ------------------------------------------------------------------------------------------------------------ lost */

/* etcd knows of a version that NATS has nothing of. Nothing is thrown away before a person has said so. */
Test(broker_holder, what_is_lost_is_an_error_until_a_person_lets_the_zone_begin_anew) {
  struct broker *broker = begin(20000);
  const broker_lease lease = take(broker, OWN);
  const stored_note lost = {.object = {.version = {1, 4}, .bytes = 5}, .head = {.number = 3}};
  cr_assert_eq(note(&lease, &lost, sizeof lost), MUSTER_OK);
  errors_begin();
  stored_bring(holding);
  LAB_AWAIT(&here, holding->stage == HOLDING_IDLE);
  const char *told = errors_end(),
             *fetch = strstr(told, "musterd: error: world w: its files cannot be fetched: nats://127.0.0.1:"),
             *zone =
                 strstr(told, "musterd: error: world w: what is stored of its zone, last node b's, is lost: `muster "
                              "ctl restart w` begins anew\n");
  cr_assert(fetch && zone && fetch < zone, "%s", told);
  cr_expect_eq(strncmp(holding->process->standby, strstr(zone, "what"), strlen(holding->process->standby)), 0, "%s",
               holding->process->standby);
  cr_expect(*holding->process->standby && holding->stands_by && !holding->leased && !holding->process->elsewhere &&
            !holding->restorable);
  holding->stage = HOLDING_FETCHING, holding->restores = holding->leased = true;
  errors_begin();
  stored_bring(holding);
  LAB_AWAIT(&here, holding->stage != HOLDING_FETCHING);
  told = errors_end();
  cr_expect(strstr(told, "musterd: warning: world w: nothing of its zone is stored: it begins anew\n"), "%s", told);
  cr_expect(holding->stage == HOLDING_STARTING && !holding->restores && holding->leased);
}

/* Of another build, perhaps: nobody goes on from what cannot be read, and nobody begins anew because of it. */
Test(broker_holder, a_note_of_another_size_loses_the_zone) {
  struct broker *broker = begin(20000);
  const broker_lease lease = take(broker, OWN);
  const stored_note whole = {.object = {.version = {1, 4}, .bytes = 5}};
  for (int more = -1; more <= 1; more += 2) {
    unsigned char bytes[sizeof whole + 1] = {0};
    memcpy(bytes, &whole, sizeof whole);
    cr_assert_eq(note(&lease, bytes, (size_t)((int)sizeof whole + more)), MUSTER_OK);
    holding->stage = HOLDING_FETCHING, holding->leased = true;
    errors_begin();
    stored_bring(holding);
    LAB_AWAIT(&here, holding->stage != HOLDING_FETCHING);
    const char *told = errors_end();
    cr_expect(strstr(told, "error: world w: zone 7 is lost: the note of what is stored is of another build\n"), "%s",
              told);
    cr_expect(holding->stage == HOLDING_ASKING && !holding->leased);
    uv_timer_stop(&holding->timer);
  }
}

static broker_object store(const char *text, uint64_t version) {
  const char *path = formed("%s/source", folder);
  FILE *file = fopen(path, "we");
  cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
  stored_object of = {.object = {.bytes = 0}};
  call_here(broker_store(holder->broker, "zone-7", (zone_place){1, version}, path, note_object, &of), &of.answer);
  EXPECT_RESULT(of.answer, MUSTER_OK);
  return of.object;
}

static void expect_file(const char *ending, const char *text) {
  char got[64] = "";
  FILE *file = fopen(formed("%s/w-3.%s", folder, ending), "re");
  cr_assert_not_null(file, "%s", ending);
  got[fread(got, 1, sizeof got - 1, file)] = '\0';
  fclose(file);
  cr_expect_str_eq(got, text);
}

/* What is fetched is a snapshot and its record, of the lengths that the note says. */
Test(broker_holder, files_that_are_cut_lose_the_zone_and_whole_ones_start_it) {
  static const char text[] = "snapshot and record";
  struct broker *broker = begin(20000);
  const broker_lease lease = take(broker, OWN);
  const broker_object object = store(text, 4);
  for (uint64_t cut = 0; cut < 2; cut++) {
    const stored_note stored = {.object = object,
                                .head = {.number = 3, .snapshot_bytes = 8, .journal_bytes = 11 + cut, .frames = 60}};
    cr_assert_eq(note(&lease, &stored, sizeof stored), MUSTER_OK);
    holding->stage = HOLDING_FETCHING, holding->leased = true, holding->lease.epoch = 2 + cut;
    holding->process->standby[0] = '\0';
    errors_begin();
    stored_bring(holding);
    LAB_AWAIT(&here, holding->stage != HOLDING_FETCHING);
    const char *told = errors_end();
    if (cut) {
      expect_told(told, "musterd: error: world w: its files cannot be unpacked: /tmp/muster-holder-test-");
      expect_told(told, "musterd: error: world w: zone 7 is lost: /tmp/muster-holder-test-");
      cr_expect(holding->stage == HOLDING_ASKING && !holding->leased && !holding->fetching);
      cr_expect(strstr(holding->process->standby, "its files cannot be unpacked: ") && !holding->process->elsewhere);
    } else {
      expect_told(told, "musterd: world w: its snapshot of frame 60 was fetched, 0.0 MB\n");
      cr_expect_eq(holding->stage, HOLDING_STARTING);
      expect_file("snapshot", "snapshot"), expect_file("journal", " and record");
      cr_expect_neq(access(formed("%s/w.fetched", folder), F_OK), 0);
      pairs_close(holding), holding_close_socket(holding);
    }
  }
}

/* ---------------------------------------------------------------------------------------------------------- stream */

/* A chunk as an owner keeps it: in front of the bytes, the file and the place where they stand. */
static void keep_chunk(uint32_t number, uint64_t file, uint64_t at, const char *text, size_t cut) {
  unsigned char bytes[64];
  const uint64_t head[2] = {file, at};
  memcpy(bytes, head, sizeof head);
  memcpy(bytes + sizeof head, text, strlen(text));
  EXPECT_RESULT(CALL_HERE(broker_keep, holder->broker, BROKER_JOURNAL, "zone-7", holding->stored_note.object.version,
                          number, bytes, sizeof head + strlen(text) - cut),
                MUSTER_OK);
}

/* The record goes on for as long as a chunk follows the one before. */
Test(broker_holder, chunks_are_read_up_to_one_that_does_not_follow) {
  static const struct {
    uint32_t number; /* of the third chunk, which is to follow two of five bytes */
    uint64_t file, at;
    const char *text;
    size_t cut;
    const char *whole;
  } rows[] = {{3, 3, 10, "ccccc", 0, "aaaaabbbbbccccc"},
              {3, 3, 11, "ccccc", 0, "aaaaabbbbb"},
              {3, 3, 9, "ccccc", 0, "aaaaabbbbb"},
              {3, 4, 10, "ccccc", 0, "aaaaabbbbb"},
              {4, 3, 10, "ccccc", 0, "aaaaabbbbb"},
              {3, 3, 10, "", 1, "aaaaabbbbb"},
              {3, 3, 10, "", 0, "aaaaabbbbb"}};
  begin(20000);
  holder->settings.journal_stream = true;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    holding->stored_note = (stored_note){.object.version = {1, 10 + i}, .head.number = 3};
    holding->stage = HOLDING_FETCHING;
    keep_chunk(1, 3, 0, "aaaaa", 0), keep_chunk(2, 3, 5, "bbbbb", 0);
    keep_chunk(rows[i].number, rows[i].file, rows[i].at, rows[i].text, rows[i].cut);
    FILE *file = fopen(formed("%s/w-3.journal", folder), "we");
    cr_assert(file && fclose(file) == 0);
    errors_begin();
    journal_stream_read(holding);
    LAB_AWAIT(&here, holding->stage != HOLDING_FETCHING);
    expect_told(errors_end(),
                formed("world w: its journal's stream goes to byte %zu of file 3\n", strlen(rows[i].whole)));
    cr_expect_eq(holding->stage, HOLDING_STARTING, "row %zu", i);
    expect_file("journal", rows[i].whole);
    pairs_close(holding), holding_close_socket(holding);
  }
}

/* Whether more is kept cannot be known then: the zone does not go on with less than was safe. */
Test(broker_holder, a_stream_that_cannot_be_read_loses_the_zone) {
  begin(1);
  holding->journal_descriptor = open(formed("%s/journal", folder), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  brokers_pause(here.servers, BROKERS_NATS, 0);
  errors_begin();
  journal_stream_read_on(holding, 1, 4);
  LAB_AWAIT(&here, holding->stage != HOLDING_FETCHING);
  const char *told = errors_end();
  cr_expect(strstr(told, "error: world w: zone 7 is lost: its journal's stream cannot be read\n"), "%s", told);
  cr_expect(holding->stage == HOLDING_ASKING && !holding->leased && !holding->journal_reading);
  brokers_resume(here.servers, BROKERS_NATS, 0);
}

/* --------------------------------------------------------------------------------------------------------- covered */

typedef struct crossings {
  lab_answer answer; /* first: see lab_done() */
  uint32_t count;
} crossings;

static void see(uint32_t from, zone_place place, const void *bytes, size_t count, void *user) {
  (void)from, (void)place, (void)bytes, (void)count;
  ((crossings *)user)->count++;
}

/* So many messages of the zone to its neighbour stand there. */
static uint32_t count_crossings(struct broker *broker) {
  crossings seen = {.count = 0};
  call_here(broker_crossed(broker, OWN, OTHER, (zone_place){0}, see, lab_done, &seen), &seen.answer);
  return seen.count;
}

/* What both sides have stored is forgotten, and nothing else, whatever the neighbour's note says. */
Test(broker_holder, what_crossed_is_forgotten_up_to_where_both_sides_have_it) {
  static const struct {
    uint32_t own;               /* that this zone's note has: so many of CROSSINGS */
    uint32_t count, at, theirs; /* positions of the neighbour's note; where the pair's stands, and what it has */
    uint32_t zone;
    bool outgoing;
    uint32_t cut, left; /* bytes that its note lacks; messages that are left of CROSSINGS */
  } rows[] = {
      {3, 2, 0, 2, OWN, false, 0, 1},
      {1, 2, 1, 3, OWN, false, 0, 2},
      {3, POSITIONS, POSITIONS - 1, 3, OWN, false, 0, 0},
      {3, 2, 2, 3, OWN, false, 0, 3},
      {3, UINT32_MAX, 0, 3, OWN + 1, false, 0, 3},
      {3, 2, 0, 3, OWN, true, 0, 3},
      {3, 2, 0, 3, OWN, false, 1, 3},
      {0, 2, 0, 3, OWN, false, 0, 3},
      {3, 0, 0, 3, OWN, false, 0, 3},
  };
  struct broker *broker = begin(20000);
  const broker_lease lease = take(broker, OWN), other = take(broker, OTHER);
  holding->lease = lease;
  pairs_open(holding);
  uint64_t before = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++, before += CROSSINGS) {
    for (uint32_t k = 1; k <= CROSSINGS; k++) cr_assert_eq(cross(broker, &lease, OTHER, before + k, "text"), MUSTER_OK);
    holding->stored_note = (stored_note){.count = 1};
    if (rows[i].own)
      holding->stored_note.positions[0] =
          (wire_position){.zone = OTHER, .outgoing = true, .place = {lease.epoch, before + rows[i].own}};
    stored_note there = {.count = rows[i].count};
    there.positions[rows[i].at] = (wire_position){
        .zone = rows[i].zone, .outgoing = rows[i].outgoing, .place = {lease.epoch, before + rows[i].theirs}};
    cr_assert_eq(note(&other, &there, sizeof there - rows[i].cut), MUSTER_OK);
    pairs_cover(holding);
    await_calls(broker);
    cr_expect_eq(count_crossings(broker), rows[i].left, "row %zu", i);
    forget(broker, &lease, OTHER, (zone_place){lease.epoch, before + CROSSINGS});
  }
}

/* --------------------------------------------------------------------------------------------------- told settings */

static bool has_written(const char *words) {
  static char text[65536];
  ssize_t count = pread(STDERR_FILENO, text, sizeof text - 1, 0);
  text[count > 0 ? count : 0] = '\0';
  return strstr(text, words) != NULL;
}

static void tell_first(struct broker *other) {
  broker_tell(other, 0, "muster.large.settings", "first 1", 7);
  uv_run(&here.loop, UV_RUN_ONCE);
}

/* Each node is told of when it changes; what is no telling, or this node's own, is passed over. */
Test(broker_holder, other_settings_of_a_node_are_warned_of_once_and_their_end_is_told) {
  begin(20000);
  struct broker *other = open_as(1, "b");
  world_settings *world = settings_add_world(&holder->settings, "w");
  world->zone = OWN;
  cr_assert_not_null(told_all = told_settings_open(holder));
  const uint64_t own = settings_shared_sum(&holder->settings);
  const struct {
    const char *node, *more;
    uint64_t sum;
  } texts[] = {{"a", "", own + 1}, {"b", "", own},       {"c", " more", own + 1}, {"e/f", "", own + 1},
               {"b", "", own + 1}, {"b", "", own + 1},   {"b", "", own + 2},      {"b", "", own},
               {"b", "", own},     {"last", "", own + 1}};
  errors_begin();
  AWAIT_WITH(tell_first(other), has_written("node first has other settings")); /* it may not listen yet */
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const char *text = formed("%s %016" PRIx64 "%s", texts[i].node, texts[i].sum, texts[i].more);
    broker_tell(other, 0, "muster.large.settings", text, strlen(text));
  }
  LAB_AWAIT(&here, has_written("node last has other settings"));
  const char *lines = errors_end(),
             *first = strstr(lines, "musterd: warning: node b has other settings than this one, a: "),
             *second =
                 first ? strstr(first + 1, "musterd: warning: node b has other settings than this one, a: ") : NULL,
             *well = second ? strstr(second, "musterd: node b has the settings of this one now\n") : NULL;
  cr_assert(well, "%s", lines);
  cr_expect_null(strstr(strchr(well, '\n'), "node b"), "%s", lines);
  static const char *const silent[] = {"node a has", "node c has", "node e"};
  for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) cr_expect_null(strstr(lines, silent[i]), "%s", lines);
  told_settings_close(told_all);
}
