/* What the owner of a zone keeps of it from one message, look and tenure to the next: of a holder that this test has
 * made up, whose brokers are nowhere. */
#include "service/log.h"
#include "service/zones/balancer.h"
#include "service/zones/complaints.h"
#include "service/zones/parcel.h"

#include "base/clock.h"

#include "own_folder.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>

#ifdef MUSTER_HAS_ZONES

enum { OWN = 2, EPOCH = 4, LINKS = 2 };

static struct processes processes;
static struct holder *holder;
static struct holding *holding, *other; /* the second one of it, and the first one */
static struct wire end;                 /* of its process */

static void begin(void) {
  static const uint32_t others[LINKS] = {1, 7};
  folder_begin();
  holder = calloc(1, sizeof *holder);
  cr_assert(holder && (holder->balancer = calloc(1, sizeof *holder->balancer)));
  settings_default(&holder->settings);
  strcpy(holder->settings.cluster, "land"), strcpy(holder->settings.node, "a");
  holder->loop = &loop;
  holder->processes = &processes;
  holder->balancer->holder = holder;
  holder->count = 2;
  other = &holder->holdings[0], holding = &holder->holdings[1];
  for (uint32_t i = 0; i < 2; i++) {
    struct holding *one = &holder->holdings[i];
    *one = (struct holding){.holder = holder,
                            .process = &processes.worlds[i],
                            .tenure = 3,
                            .socket = -1,
                            .other = -1,
                            .journal_descriptor = -1,
                            .ground = {.number = OWN + i, .neighbour_count = LINKS},
                            .lease.epoch = EPOCH,
                            .stage = HOLDING_RUNNING};
    one->process->all = &processes;
    for (uint32_t k = 0; k < LINKS; k++) one->ground.neighbours[k].number = others[k];
    snprintf(one->path, sizeof one->path, "%s/worlds.w%u", folder, i);
    cr_assert(uv_timer_init(&loop, &one->timer) == 0 && uv_timer_init(&loop, &one->follow_timer) == 0);
    one->timer.data = one->follow_timer.data = one;
  }
  cr_assert(holding_open_wire(holding));
  wire_open(&end, holding->other);
}

static void finish(void) {
  wire_close(&end);
  pairs_close(holding);
  journal_stream_end(holding);
  holding_close_socket(holding);
  folder_end();
  free(holder->balancer);
  free(holder);
}

TestSuite(holder_turns, .init = begin, .fini = finish, .timeout = 60);

/* Its process says something. */
static void hear(wire_head head, const void *bytes) {
  cr_assert(wire_put(&end, head, bytes) && wire_flush(&end));
  for (int i = 0; i < 3; i++) uv_run(&loop, UV_RUN_NOWAIT);
}

/* The next message of a kind to its process. */
static wire_head next_put(wire_kind kind) {
  wire_message message;
  wire_flush(&holding->wire);
  while (wire_next(&end, &message))
    if (message.head.kind == (uint32_t)kind) return message.head;
  return (wire_head){.kind = 0};
}

/* Of a file of the zone. */
static const char *own(const char *ending) {
  return formed("worlds.w1%s", ending);
}

/* ---------------------------------------------------------------------------------------------------------- births */

static void name_spaces(uint32_t count, bool many) {
  uint32_t names[8] = {0};
  for (uint32_t i = 0; i < count; i++) names[i] = OWN << 14 | (i + 1);
  const wire_head head = {.kind = WIRE_NAMED, .number = 30 + count, .sequence = many, .bytes = count * sizeof *names};
  births_take_message(holding, &(wire_message){head, (const unsigned char *)names});
}

Test(holder_turns, a_version_is_of_the_first_of_the_looks_and_names_what_the_last_one_named) {
  holding_births *births = &holding->births;
  for (uint32_t looks = 1; looks <= 5; looks++) {
    name_spaces(looks, false);
    births->looks[0].told_ns = looks;
    births_store(holding);
    cr_expect_eq(births->storing_look.told_ns, 0, "its process has told of no snapshot");
    holding->snapshots = 1;
    births_store(holding);
    cr_expect_eq(births->storing_look.told_ns, looks > HOLDING_LOOKS ? looks - HOLDING_LOOKS + 1 : 1, "%u", looks);
    holding->snapshots = 0;
    cr_expect(births->storing.note.count == looks && births->storing.note.after == 30 + (int64_t)looks);
    for (uint32_t i = 0; i < looks; i++) cr_expect_eq(births->storing.names[i], (uint32_t)(OWN << 14 | (i + 1)));
    births->storing_look.revision = 50 + looks;
    cr_expect_eq(births_named_bytes(holding), sizeof(spaces_note) + looks * sizeof(uint32_t));
    cr_expect_eq(births->storing.note.since, 50 + looks);
  }
  name_spaces(2, true);
  births_store(holding);
  cr_expect(births->storing.note.count == UINT32_MAX && births_named_bytes(holding) == sizeof(spaces_note));
}

Test(holder_turns, a_space_is_closed_only_where_nothing_of_it_is_asked) {
  holding_births *births = &holding->births;
  for (uint32_t tenure = 0; tenure < 2; tenure++) {
    holding->lease.space = (zone_space){.space = 9, .used = 3, .epoch = EPOCH};
    births->unborn = 77, births->own = 5, births->half_told = births->swept = true;
    births->asks = births->wanted = true;
    births->looks[0].told_ns = 5;
    births_begin(holding);
    cr_expect(births->space.space == 9 && births->unborn == 77, "nobody was born in it yet, whoever asks");
    cr_expect(!births->asks && !births->wanted && !births->own && !births->half_told && !births->swept);
    cr_expect_eq(births->looks[0].told_ns, 0);
    cr_expect_null(births_close(holding, 0), "it ran no frame");
    births->asks = true;
    cr_expect_null(births_close(holding, 60));
    births->asks = false, births->wanted = true;
    cr_expect_null(births_close(holding, 60));
    births->wanted = false;
    cr_expect(!births->space.closed);
    const zone_space *closed = births_close(holding, 60);
    cr_assert_not_null(closed);
    cr_expect(closed->closed && closed->space == 9 && closed->epoch == EPOCH && closed->frame == 60);
  }
  births->space = (zone_space){0};
  cr_expect_null(births_close(holding, 60), "there is none");
}

/* ----------------------------------------------------------------------------------------------------------- files */

Test(holder_turns, files_of_a_zone_are_told_from_those_of_others_and_for_people) {
  static const char *const past[] = {"-3.snapshot", "-3.journal",    "-12.snapshot",      "-12.journal",
                                     "-13.journal", "-12.replaying", "-9.journal.other-1"},
                           *const kept[] = {"-incident-44.snapshot", ".epoch", ".partial", "x-99.snapshot"};
  uint64_t number = 5;
  cr_expect(!stored_newest(holding, &number) && number == 0);
  cr_expect(!stored_are_partial(holding) && !stored_are_replaying(holding));
  cr_assert(stored_note_partial(holding));
  cr_expect(stored_are_partial(holding) && !stored_are_partial(other));
  stored_are_whole(holding);
  cr_expect(!stored_are_partial(holding));
  for (size_t i = 0; i < COUNT_OF(past); i++) write_file(own(past[i]), "p");
  for (size_t i = 0; i < COUNT_OF(kept); i++) write_file(own(kept[i]), "k");
  cr_expect(stored_newest(holding, &number) && number == 12, "%lu", number);
  cr_expect(stored_are_replaying(holding) && !stored_are_replaying(other));
  cr_expect(!stored_newest(other, &number));
  stored_remove(holding);
  for (size_t i = 0; i < COUNT_OF(past); i++) cr_expect(!exists(own(past[i])), "%s", past[i]);
  for (size_t i = 0; i < COUNT_OF(kept); i++) cr_expect(exists(own(kept[i])), "%s", kept[i]);
  cr_expect(!stored_newest(holding, &number) && !stored_are_replaying(holding));
}

Test(holder_turns, the_epoch_is_noted_with_the_start_of_the_machine) {
  bool this_boot = true;
  char boot[LAND_BOOT_BYTES];
  cr_expect(stored_read_epoch(holding, &this_boot) == 0 && !this_boot);
  for (uint64_t epoch = EPOCH; epoch < EPOCH + 2; epoch++) {
    holding->lease.epoch = epoch;
    stored_write_epoch(holding);
    cr_expect_eq(stored_read_epoch(holding, &this_boot), epoch);
    stored_read_boot(boot);
    cr_expect_eq(this_boot, *boot != '\0');
  }
  write_file(own(".epoch"), "61 another-start-of-it\n");
  cr_expect(stored_read_epoch(holding, &this_boot) == 61 && !this_boot);
  write_file(own(".epoch"), "62\n");
  cr_expect(stored_read_epoch(holding, &this_boot) == 62 && !this_boot);
}

/* What is stored is not older than the settings say, by much; who was asked is not asked again at once. */
Test(holder_turns, a_snapshot_is_wanted_once_what_is_stored_is_old) {
  static const struct {
    uint64_t stored_s, wanted_s; /* so long ago, of an interval of 1000 s */
    bool stored, storing, fresh, wants;
    move_stage move;
    uint64_t interval_s;
  } all[] = {
      {1100, 1100, true, false, false, true, MOVE_NONE, 1000},
      {900, 1100, true, false, false, false, MOVE_NONE, 1000},
      {1100, 900, true, false, false, false, MOVE_NONE, 1000},
      {1100, 1100, false, false, false, false, MOVE_NONE, 1000},
      {1100, 1100, true, true, false, false, MOVE_NONE, 1000},
      {1100, 1100, true, false, true, false, MOVE_NONE, 1000},
      {1100, 1100, true, false, false, false, MOVE_FOLLOWED, 1000},
      {1100, 1100, true, false, false, false, MOVE_STOPPING, 1000},
      {1100, 1100, true, false, false, true, MOVE_OVER, 1000},
      {1100, 1100, true, false, false, false, MOVE_NONE, 0},
  };
  for (size_t i = 0; i < COUNT_OF(all); i++) {
    const uint64_t now_ns = clock_system();
    holder->settings.snapshot_interval_ns = all[i].interval_s * 1000000000;
    holding->stored_ns = now_ns - all[i].stored_s * 1000000000;
    holding->wanted_ns = now_ns - all[i].wanted_s * 1000000000;
    holding->stored = all[i].stored, holding->storing = all[i].storing;
    holding->snapshots = 4 + all[i].fresh, holding->storing_snapshots = 4;
    holding->move.stage = all[i].move;
    stored_want(holding);
    cr_expect_eq(next_put(WIRE_WANTED).kind, all[i].wants ? WIRE_WANTED : 0, "row %zu", i);
    stored_want(holding);
    cr_expect_eq(next_put(WIRE_WANTED).kind, 0, "row %zu: it was asked", i);
  }
}

/* ---------------------------------------------------------------------------------------------------------- stream */

/* Frames that were told since the snapshot that is stored now stand in its file; those told with another may not. */
Test(holder_turns, what_is_safe_behind_a_version_is_what_its_file_has) {
  holder->settings.journal_stream = true;
  write_file(own("-7.journal"), "0123456789");
  for (uint32_t others = 0; others < 2; others++) {
    holding->stored_note.head = (stored_head){.number = 7, .journal_bytes = 10, .frames = 40};
    holding->storing_snapshots = 3;
    holding->snapshots = 3 + others;
    holding->frames = 50;
    holding->safe_frames = 0;
    holding->journal_busy = true, holding->journal_chunk = 9, holding->chunk_bytes = 5;
    journal_stream_stored(holding);
    cr_expect(holding->journal_file == 7 && holding->journal_at == 10 && holding->journal_chunk == 0);
    cr_expect(!holding->journal_busy && holding->chunk_bytes == 0 && holding->file_snapshots == 3);
    cr_expect_eq(holding->file_frames, others ? 40 : 50);
    cr_expect_eq(holding->safe_frames, others ? 40 : 50, "%lu: there is no more of the file", holding->safe_frames);
    wire_head first = next_put(WIRE_SAFE), last = first;
    cr_expect(first.kind == WIRE_SAFE && first.number == 0 && first.sequence == 3);
    for (wire_head put; (put = next_put(WIRE_SAFE)).kind;) last = put;
    cr_expect(last.number == holding->safe_frames && last.sequence == 3);
  }
}

/* ----------------------------------------------------------------------------------------------------------- moves */

Test(holder_turns, an_answer_to_an_order_before_it_is_passed_over) {
  holding_move *move = &holding->move;
  holding->move_turn = 5;
  holding->storing = true; /* so that nothing goes on */
  *move = (holding_move){.stage = MOVE_FOLLOWED};
  moves_take_told(holding, &(wire_head){.kind = WIRE_HELD, .zone = 4, .number = 8, .sequence = 1});
  cr_expect(!move->held && !move->paused && move->snapshots == 0);
  moves_take_told(holding, &(wire_head){.kind = WIRE_STOPPED, .zone = 5, .number = 90});
  cr_expect(!move->stopped, "it was not told to stop");
  moves_take_told(holding, &(wire_head){.kind = WIRE_HELD, .zone = 5, .number = 8, .sequence = 1});
  cr_expect(move->held && move->paused && move->snapshots == 8 && !move->stopped);
  for (uint32_t stored = 0; stored < 2; stored++) {
    *move = (holding_move){.stage = MOVE_STOPPING};
    moves_take_told(holding, &(wire_head){.kind = WIRE_STOPPED, .zone = 4, .number = 90, .sequence = stored});
    cr_expect(!move->stopped && move->stage == MOVE_STOPPING);
    moves_take_told(holding, &(wire_head){.kind = WIRE_STOPPED, .zone = 5, .number = 91, .sequence = stored});
    cr_expect(move->stopped && move->frame == 91);
    cr_expect_eq(move->stage, stored ? MOVE_STORING : MOVE_STOPPING);
    cr_expect_eq(holding->stage, HOLDING_RUNNING, "it is being stored");
  }
  *move = (holding_move){.stage = MOVE_STOPPING, .stopped = true, .frame = 91};
  holding->safe_frames = 91;
  moves_go_on(holding);
  cr_expect(move->stage == MOVE_STOPPING && holding->stage == HOLDING_RUNNING, "the store may bring another version");
  holding->storing = false, holding->crosses = true;
  moves_go_on(holding);
  cr_expect(move->stage == MOVE_STOPPING && holding->stage == HOLDING_RUNNING, "what crosses has no answer");
  holding->crosses = false, holding->safe_frames = 90;
  moves_go_on(holding);
  cr_expect(move->stage == MOVE_STOPPING && holding->stage == HOLDING_RUNNING, "its last frame is not kept");
}

/* It is no failure of the process then: it begins again when its zone comes back. */
Test(holder_turns, the_process_of_a_zone_that_was_given_away_is_told_and_expected_to_end) {
  holding->process->has_process = true;
  holding->move = (holding_move){.stage = MOVE_GIVEN, .to = "b"};
  moves_turn(holding);
  cr_expect(holding->process->again && !*holding->process->stuck);
  cr_expect_eq(next_put(WIRE_MOVE).number, WIRE_MOVE_OVER);
}

Test(holder_turns, an_order_that_could_not_be_followed_is_remembered_and_all_else_of_it_is_not) {
  for (uint32_t failed = 0; failed < 2; failed++) {
    holding->follow = (holding_follow){.stage = FOLLOW_RUNNING, .near = true, .noted = true, .frame = 7, .next = 8};
    holding->follow.failed = failed;
    follow_end(holding);
    cr_expect_eq(holding->follow.failed, failed);
    cr_expect(holding->follow.stage == FOLLOW_NONE && !holding->follow.near && !holding->follow.noted);
    cr_expect(holding->follow.frame == 0 && holding->follow.next == 0);
  }
}

/* ----------------------------------------------------------------------------------------------------------- pairs */

Test(holder_turns, each_position_that_is_told_stands_in_the_note_of_what_is_stored) {
  static const uint32_t zones[] = {1, 1, 7, 7, 8};
  stored_note note;
  wire_position told[2 * LINKS + 1];
  pairs_open(holding);
  for (uint32_t round = 1; round < 3; round++) {
    for (uint32_t i = 0; i <= 2 * LINKS; i++)
      told[i] = (wire_position){.zone = zones[i], .outgoing = i % 2, .place = {round, 10 + i}};
    hear((wire_head){.kind = WIRE_POSITIONS, .bytes = sizeof told}, told);
    for (uint32_t i = 0; i < LINKS; i++) {
      const holding_link *link = &holding->links[i];
      cr_expect(link->in_known.place.number == 10 + 2 * i && link->out_known.place.number == 11 + 2 * i);
    }
    pairs_fill_note(holding, &note);
    cr_assert_eq(note.count, 2 * LINKS);
    for (uint32_t i = 0; i < note.count; i++) {
      const wire_position *position = &note.positions[i];
      uint32_t at = (position->zone == 7 ? 2 : 0) + position->outgoing;
      cr_expect(position->zone == told[at].zone && place_equal(position->place, (zone_place){round, 10 + at}), "%u", i);
      for (uint32_t k = 0; k < i; k++)
        cr_expect(position->zone != note.positions[k].zone || position->outgoing != note.positions[k].outgoing);
    }
    cr_expect_eq(holding->stage, HOLDING_RUNNING);
    cr_expect(place_is_none(note.object.version));
  }
}

/* A parcel of another epoch, or of another number than is said, is none of its process's. */
Test(holder_turns, a_parcel_that_is_none_of_this_tenure_loses_the_zone) {
  static const uint64_t epochs[] = {EPOCH, EPOCH - 1, EPOCH + 1, EPOCH}, numbers[] = {1, 1, 1, 2};
  pairs_open(holding);
  for (size_t i = 0; i < COUNT_OF(epochs); i++) {
    SCOPED(parcel_free) struct parcel parcel = {0};
    parcel_begin(&parcel, epochs[i], numbers[i], 1, 0);
    const wire_head head = {.kind = WIRE_PUBLISH, .zone = 7, .number = 1, .bytes = parcel.count};
    const uint32_t tenure = holding->tenure;
    holding->leased = true;
    pairs_take_message(holding, &(wire_message){head, parcel.bytes});
    cr_expect_eq(holding->leased, i == 0, "parcel %zu", i);
    cr_expect_eq(holding->tenure, tenure + (i > 0), "parcel %zu", i);
    if (i == 0) cr_expect(!STAILQ_EMPTY(&holding->links[1].waiting) && STAILQ_EMPTY(&holding->links[0].waiting));
    if (i > 0) pairs_open(holding);
  }
}

/* All that one tenure knew, but what the next one asks for. */
Test(holder_turns, the_end_of_a_tenure_leaves_nothing_of_it) {
  holding->renewing = holding->crosses = holding->storing = holding->store_again = true;
  holding->stored = holding->brings_again = true;
  holding->move = (holding_move){.stage = MOVE_FOLLOWED, .stopped = true, .frame = 4};
  holding->follow = (holding_follow){.stage = FOLLOW_FETCHING, .near = true};
  const uint32_t tenure = holding->tenure;
  cr_expect(holder_is_busy(holder));
  other->stage = HOLDING_IDLE;
  cr_expect(holder_is_busy(holder), "the other one is");
  holding_end(holding);
  cr_expect(holding->stage == HOLDING_IDLE && holding->tenure == tenure + 1);
  cr_expect(!holding->renewing && !holding->crosses && !holding->storing && !holding->store_again);
  cr_expect(!holding->stored && !holding->brings_again && !holding->move.stopped);
  cr_expect(holding->move.stage == MOVE_NONE && holding->follow.stage == FOLLOW_NONE && !holding->follow.near);
  cr_expect(holding->socket < 0 && holding->other < 0 && !holding->polls);
  cr_expect(!holder_is_busy(holder));
  other->stage = HOLDING_RUNNING;
  cr_expect(holder_is_busy(holder), "the first one is");
}

Test(holder_turns, birth_spaces_are_told_of_zones_that_this_node_has) {
  char words[HOLDER_WORDS_BYTES];
  uint32_t next = 0;
  other->births.space.used = SPACES_MAX / 2 + 1, holding->births.space.used = SPACES_MAX / 2 + 2;
  holding->leased = true;
  cr_assert(holder_tells_of_births(holder, &next, words));
  cr_expect(strstr(words, "zone 3 has used 8193 of its 16383 birth spaces"), "%s", words);
  cr_expect(!holder_tells_of_births(holder, &next, words) && next == 2);
  next = 0;
  cr_expect(!holder_tells_of_births(NULL, &next, words));
  holding->births.space.used = SPACES_MAX / 2;
  cr_expect(!holder_tells_of_births(holder, &next, words));
}

/* ------------------------------------------------------------------------------------------------------------ load */

static void tell_load(double wants, double has, uint64_t frame, uint64_t snapshots) {
  const wire_load load = {.wants = wants, .has = has};
  hear((wire_head){.kind = WIRE_FRAME, .number = frame, .sequence = snapshots, .bytes = sizeof load}, &load);
}

/* A mean over ten seconds, of the lesser of both. */
Test(holder_turns, a_load_is_a_mean_over_the_time_between_two_frames) {
  tell_load(3, 5, 1, 0);
  cr_expect_eq(holding->load, 3, "the first one");
  holding->load = 1;
  holding->load_ns = clock_boot() - 10000000000u; /* it was told ten seconds ago */
  uint64_t now_ns = clock_boot();
  tell_load(7, 3, 2, 0);
  cr_expect(holding->load > 1.99 && holding->load < 3, "%g", holding->load);
  cr_expect_geq(holding->load_ns, now_ns, "the next mean is from here on");
  cr_expect_eq(holding->frames, 2);
  cr_expect_eq(other->load, 0, "another zone's");
}

/* What a process says may be anything, and a load is what a machine can have. */
Test(holder_turns, a_load_that_cannot_be_counts_as_one_that_can) {
  static const struct {
    double wants, has, load;
  } all[] = {{NAN, 2, 0}, {2, NAN, 0}, {-1, 2, 0}, {2, -1, 0}, {INFINITY, 3, 3}, {1e9, INFINITY, CPU_SETSIZE},
             {2, 2, 2}};
  for (size_t i = 0; i < COUNT_OF(all); i++) {
    holding->load_ns = 0;
    tell_load(all[i].wants, all[i].has, 1 + i, 0);
    cr_expect_eq(holding->load, all[i].load, "row %zu: %g", i, holding->load);
  }
  hear((wire_head){.kind = WIRE_FRAME, .number = 99, .bytes = 8}, &(double){7});
  cr_expect(holding->load == 2 && holding->frames == 99, "what is no load leaves it: %g", holding->load);
}

Test(holder_turns, frames_are_in_the_file_of_the_snapshot_that_they_were_told_with) {
  holding->file_snapshots = 2;
  holding->births.unborn = 9;
  tell_load(1, 1, 10, 2);
  cr_expect(holding->frames == 10 && holding->file_frames == 10 && holding->snapshots == 2);
  cr_expect_eq(holding->births.unborn, 0);
  tell_load(1, 1, 11, 3);
  cr_expect(holding->frames == 11 && holding->file_frames == 10 && holding->snapshots == 3);
  holding->stage = HOLDING_READING;
  holding->births.unborn = 9;
  tell_load(1, 1, 12, 4);
  cr_expect(holding->frames == 12 && holding->snapshots == 3 && holding->births.unborn == 9, "it does not run yet");
}

/* ------------------------------------------------------------------------------------------------------ complaints */

/* What is written of a cause: a line once a minute, which tells how often it came since. */
Test(holder_turns, each_cause_is_complained_of_once_a_minute_with_what_was_left_out) {
  static struct complaints all;
  all.loop = &loop;
  errors_begin();
  for (int minute = 0; minute < 3; minute++) {
    for (int i = 0; i < (minute == 2 ? 1 : 3); i++) complaints_add(&all, "one", "broken %d.%d", minute, i);
    for (uint32_t i = 0; i < all.count; i++) all.known[i].at_ms = uv_now(&loop) - 60000;
  }
  complaints_add(&all, "two", "is bad");
  complaints_add(&all, "two", "is bad still");
  complaints_forget(&all, "one");
  complaints_add(&all, "two", "is bad for the third time");
  complaints_add(&all, "one", "broken again");
  static const char *const lines[] = {
      "one: broken 0.0\n", "one: broken 1.0 (and 2 times since this was last written)\n",
      "one: broken 2.0 (and 2 times since this was last written)\n", "two: is bad\n", "one: broken again\n"};
  const char *at = errors_end();
  for (size_t i = 0; i < COUNT_OF(lines); i++) {
    at = strstr(at, "warning: ");
    cr_assert(at && strncmp(at + 9, lines[i], strlen(lines[i])) == 0, "%s is not %s", at ? at : "nothing", lines[i]);
    at++;
  }
  cr_expect_null(strstr(at, "warning: "), "%s", at);
}

/* A cause more than there are places for takes that of the cause that was written longest ago. */
Test(holder_turns, of_too_many_causes_the_one_written_longest_ago_is_forgotten) {
  enum { OLDEST = 17 };
  static struct complaints all;
  all.loop = &loop;
  errors_begin();
  for (int i = 0; i < COMPLAINTS_MAX; i++) complaints_add(&all, formed("cause %d", i), "is bad");
  for (uint32_t i = 0; i < COMPLAINTS_MAX; i++) all.known[i].at_ms = uv_now(&loop) - (i == OLDEST ? 2000 : 1000);
  complaints_add(&all, "one more", "is bad");
  cr_expect_eq(all.count, COMPLAINTS_MAX);
  for (int i = 0; i < COMPLAINTS_MAX; i++)
    if (i != OLDEST) complaints_add(&all, formed("cause %d", i), "is bad again");
  complaints_add(&all, "one more", "is bad again");
  complaints_add(&all, formed("cause %d", OLDEST), "is bad again");
  const char *told = errors_end();
  cr_expect_eq(count_in(told, "is bad again"), 1, "%s", told);
  expect_in(told, "musterd: warning: cause 17: is bad again\n");
}

/* ---------------------------------------------------------------------------------------------------- asked brokers */

static void open_broker_at(const char *etcd, const char *user) {
  broker_settings settings = {.world = "land", .node = "a", .nats = "nats://127.0.0.1:1"};
  snprintf(settings.etcd_user, sizeof settings.etcd_user, "%s", user);
  snprintf(settings.etcd, sizeof settings.etcd, "%s", etcd);
  holder->broker = broker_open(&loop, &settings, NULL, NULL);
  cr_assert_not_null(holder->broker, "%s", muster_last_error());
  holder->settings.lease_ttl_ns = 3600000000000u;
}

/* What is asked of it waits for an answer until it is closed: nobody listens there. */
static void open_broker(void) {
  open_broker_at("http://127.0.0.1:1", "");
}

static void note_closed(void *user) {
  *(bool *)user = true;
}

static void close_broker(void) {
  bool closed = false;
  holder->closing = true;
  broker_close(holder->broker, note_closed, &closed);
  while (!closed) uv_run(&loop, UV_RUN_ONCE);
  holder->broker = NULL;
}

Test(holder_turns, no_more_messages_cross_at_once_than_a_transaction_takes) {
  open_broker();
  holding->stored = true;
  pairs_open(holding);
  for (uint32_t i = 0; i < BROKER_CROSSINGS_MAX + 3; i++) {
    holding_parcel *parcel = calloc(1, sizeof *parcel + 8);
    *parcel = (holding_parcel){.number = i + 1, .bytes = 8};
    STAILQ_INSERT_TAIL(&holding->links[i % LINKS].waiting, parcel, link);
  }
  pairs_publish(holding);
  cr_expect(holding->crosses);
  cr_expect_eq(holding->links[0].crossing + holding->links[1].crossing, BROKER_CROSSINGS_MAX);
  pairs_publish(holding);
  cr_expect_eq(holding->links[0].crossing + holding->links[1].crossing, BROKER_CROSSINGS_MAX, "one after the other");
  close_broker();
}

/* Until its process runs nobody else renews its lease, which is done a few times, not for ever. */
Test(holder_turns, a_lease_is_renewed_while_a_process_starts_or_its_last_state_is_stored) {
  open_broker();
  holding->leased = true;
  holding_later(holding, 0);
  for (int storing = 0; storing < 2; storing++) {
    uint32_t renewals = 0;
    holding->stage = storing ? HOLDING_STORING : HOLDING_STARTING;
    for (uint32_t turn = 0; turn < 100; turn++) {
      holding->leased_ns = clock_boot() - holder->settings.lease_ttl_ns / 2;
      holding->renewing = false;
      holding->timer.timer_cb(&holding->timer);
      renewals += holding->renewing;
    }
    if (storing) cr_expect_eq(renewals, 100);
    if (!storing) cr_expect(renewals > 1 && renewals < 100, "%u", renewals);
  }
  close_broker();
}

/* A lease that has ended by its time is another's, perhaps. */
Test(holder_turns, a_zone_whose_lease_was_not_renewed_in_time_is_lost) {
  static const struct {
    holding_stage stage;
    uint64_t ago_s; /* of a lease of an hour */
    bool leased, lost;
  } all[] = {{HOLDING_RUNNING, 3700, true, true},    {HOLDING_FETCHING, 3500, true, false},
             {HOLDING_FETCHING, 3700, true, true},   {HOLDING_STORING, 3700, true, true},
             {HOLDING_FETCHING, 3700, false, false}, {HOLDING_STARTING, 3700, true, true}};
  open_broker();
  for (size_t i = 0; i < COUNT_OF(all); i++) {
    holding->stage = all[i].stage, holding->leased = all[i].leased, holding->renewing = true;
    holding->leased_ns = clock_boot() - all[i].ago_s * 1000000000;
    holding_later(holding, 0);
    errors_begin();
    log_line(MUSTER_LOG_INFO, "begin");
    holding->timer.timer_cb(&holding->timer);
    const char *told = errors_end();
    cr_expect_eq(holding->stage, all[i].lost ? HOLDING_ASKING : all[i].stage, "row %zu", i);
    cr_expect_eq(strstr(told, "error: world : zone 3 is lost: its lease was not renewed in time\n") != NULL,
                 all[i].lost, "row %zu: %s", i, told);
    cr_expect_eq(holding->leased, all[i].leased && !all[i].lost, "row %zu", i);
  }
  close_broker();
}

/* A snapshot is stored that is new and due, or the first of a tenure, or one that failed. */
Test(holder_turns, a_version_is_stored_when_it_is_due) {
  static const struct {
    bool again, stored, other, stream, storing, file;
    uint64_t ago_s; /* of an interval of 1000 s */
    bool stores;
  } all[] = {
      {false, true, true, false, false, true, 1100, true},   {false, true, true, false, false, true, 900, false},
      {false, true, false, false, false, true, 1100, false}, {false, true, true, true, false, true, 900, true},
      {false, true, false, true, false, true, 900, false},   {false, false, false, false, false, true, 0, true},
      {true, true, false, false, false, true, 0, true},      {true, true, true, true, true, true, 1100, false},
      {true, true, true, true, false, false, 1100, false},
  };
  open_broker();
  holder->settings.snapshot_interval_ns = 1000000000000u;
  for (size_t i = 0; i < COUNT_OF(all); i++) {
    if (all[i].file) write_file(own("-7.snapshot"), "s"), write_file(own("-7.journal"), "j");
    if (!all[i].file) stored_remove(holding);
    holding->store_again = all[i].again, holding->stored = all[i].stored, holding->storing = all[i].storing;
    holding->snapshots = 4 + all[i].other, holding->storing_snapshots = 4;
    holding->stored_ns = clock_system() - all[i].ago_s * 1000000000;
    holder->settings.journal_stream = all[i].stream;
    stored_put(holding);
    bool stores = holding->storing && !all[i].storing;
    cr_expect_eq(stores, all[i].stores, "row %zu", i);
    cr_expect_eq(holding->store_again, all[i].again && !stores, "row %zu", i);
    if (stores) cr_expect_eq(holding->storing_snapshots, holding->snapshots, "row %zu", i);
    holding->tenure++; /* nobody waits for it */
  }
  close_broker();
}

/* As before a process begins. */
static void close_socket(void) {
  holding_close_socket(holding);
  uv_run(&loop, UV_RUN_NOWAIT);
}

/* A process goes on from its own files when these have all that had gone out. */
Test(holder_turns, own_files_are_whole_after_the_last_start_of_the_machine_where_each_frame_was_synced) {
  static const struct {
    muster_journal_sync sync;
    bool this_boot, is_whole;
  } all[] = {{MUSTER_JOURNAL_SYNC_FRAME, false, true},
             {MUSTER_JOURNAL_SYNC_FRAME, true, true},
             {MUSTER_JOURNAL_SYNC_NONE, false, false},
             {MUSTER_JOURNAL_SYNC_NONE, true, true}};
  open_broker();
  processes.stopping = true; /* no process begins */
  strcpy(holding->lease.last_owner, "a");
  for (size_t i = 0; i < COUNT_OF(all); i++) {
    char boot[LAND_BOOT_BYTES];
    stored_read_boot(boot);
    if (all[i].this_boot && !*boot) continue;
    pairs_close(holding);
    close_socket();
    write_file(own("-7.snapshot"), "s"), write_file(own("-7.journal"), "j");
    holding->lease.epoch = EPOCH;
    stored_write_epoch(holding);
    if (!all[i].this_boot) write_file(own(".epoch"), "4 another-start-of-it\n");
    holding->lease.epoch = EPOCH + 1;
    holder->settings.journal_sync = all[i].sync;
    holding->stage = HOLDING_FETCHING;
    stored_bring(holding);
    cr_expect_eq(holding->stage, all[i].is_whole ? HOLDING_STARTING : HOLDING_FETCHING, "row %zu", i);
    cr_expect_eq(holding->has_files, !all[i].is_whole);
    cr_expect(exists(own("-7.snapshot")) && exists(own("-7.journal")));
  }
  close_broker();
  processes.stopping = false;
}

/* Without a stream of its frames there is nothing to read behind what was fetched. */
Test(holder_turns, a_zone_without_a_stream_starts_from_what_was_fetched) {
  open_broker();
  processes.stopping = true;
  close_socket();
  holding->stage = HOLDING_FETCHING;
  holder->settings.journal_stream = false;
  journal_stream_read(holding);
  cr_expect(holding->stage == HOLDING_STARTING && !holding->journal_reading);
  close_broker();
  processes.stopping = false;
}

Test(holder_turns, a_wall_clock_that_is_off_is_warned_of_once_and_its_end_is_told) {
  char text[NODES_TEXT_BYTES];
  open_broker();
  free(holder->balancer);
  holder->balancer = balancer_open(holder);
  cr_assert_not_null(holder->balancer);
  struct balancer *balancer = holder->balancer;
  errors_begin();
  for (int round = 0; round < 2; round++) {
    for (uint32_t i = 0; i < 3; i++) {
      node_told told = {.life = 1,
                        .count = (uint64_t)round + 1,
                        .capacity = 1,
                        .has_wall = true,
                        .wall_ns = 1795680000000000000 + (i == 2 && round == 0 ? 3600000000000 : 0)};
      snprintf(told.name, sizeof told.name, "n%u", i);
      cr_assert(nodes_hear(&balancer->nodes, text, nodes_write(&told, text), clock_boot()));
    }
    for (uint32_t i = 0; round && i < balancer->nodes.count; i++)
      balancer->nodes.rows[i].off_told_ns = 0; /* a minute has passed */
    for (int turn = 0; turn < 3; turn++) balancer->timer.timer_cb(&balancer->timer);
  }
  const char *lines = errors_end(), *off = strstr(lines, "musterd: warning: cluster land: the wall clock of "),
             *well = strstr(lines, "musterd: cluster land: the wall clock of node n2 is as the others' again\n");
  cr_assert(off && well && off < well, "%s", lines);
  cr_expect(strstr(off, "node n2 is 3600.0 s ahead of that of node n0: times in logs and certificates are wrong"));
  cr_expect_null(strstr(off + 30, "warning: cluster land"), "%s", lines);
  close_broker();
}

/* An etcd that says the same to everybody, until its socket is shut down. */
typedef struct one_answer {
  int listener;
  const char *status, *body;
} one_answer;

static void *answer_all(void *user) {
  const one_answer *etcd = user;
  char bytes[4096];
  for (int client; (client = accept4(etcd->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0; close(client)) {
    if (recv(client, bytes, sizeof bytes, 0) <= 0) continue;
    int length = snprintf(bytes, sizeof bytes, "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
                          etcd->status, strlen(etcd->body), etcd->body);
    send(client, bytes, (size_t)length, MSG_NOSIGNAL);
    shutdown(client, SHUT_WR);
    while (recv(client, bytes, sizeof bytes, 0) > 0) continue;
  }
  return NULL;
}

static char reason[512]; /* "" = there is no answer yet */

#define X_64       "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define LONG_TOKEN "{\"token\": \"" X_64 X_64 X_64 X_64 "\"}" /* a byte more than there is room for */

static void take_reason(muster_result result, const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count, (void)user;
  const char *words = result ? strrchr(muster_last_error(), ':') : NULL;
  snprintf(reason, sizeof reason, "%s%s", muster_result_name(result), words ? words : "");
}

Test(holder_turns, why_etcd_refuses_is_told_in_its_own_words_or_by_its_status) {
  enum { NO_KEY = 6 }; /* the row of an answer that is no fault of the server */
  static const struct {
    const char *status, *body, *words, *user;
  } all[] = {{"400 Bad Request", "{\"error\": \"plain words\"}", "MUSTER_E_SYSTEM: plain words", ""},
             {"400 Bad Request", "{\"error\": {\"message\": \"deep words\"}}", "MUSTER_E_SYSTEM: deep words", ""},
             {"400 Bad Request", "{\"error\": 7}", "MUSTER_E_SYSTEM: it answers with status 400", ""},
             {"500 Internal Server Error", "{\"error\": {}}", "MUSTER_E_SYSTEM: it answers with status 500", ""},
             {"500 Internal Server Error", "{}", "MUSTER_E_SYSTEM: it answers with status 500", ""},
             {"502 Bad Gateway", "<html>", "MUSTER_E_SYSTEM: it answers with status 502", ""},
             {"404 Not Found", "{\"error\": \"no such key\"}", "MUSTER_E_SYSTEM: no such key", ""},
             {"404 Not Found", "{}", "MUSTER_E_SYSTEM: it answers with status 404", ""},
             {"200 OK", "[]", "MUSTER_E_SYSTEM: it answers with status 200", ""},
             {"200 OK", "{\"error\": \"late words\"}", "MUSTER_E_SYSTEM: late words", ""},
             {"200 OK", "{\"token\": 7}", "MUSTER_E_SYSTEM: it answers with status 200", "somebody"},
             {"200 OK", LONG_TOKEN, "MUSTER_E_SYSTEM: its token is too long", "somebody"},
             {"400 Bad Request", "{\"error\": \"who is that\"}", "MUSTER_E_SYSTEM: who is that", "somebody"},
             {"401 Unauthorized", "{\"error\": \"nobody knows you\"}", "MUSTER_E_SYSTEM: nobody knows you", ""}};
  for (size_t i = 0; i < COUNT_OF(all); i++) {
    pthread_t thread;
    one_answer etcd = {socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), all[i].status, all[i].body};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    cr_assert(bind(etcd.listener, (struct sockaddr *)&address, bytes) == 0 && listen(etcd.listener, 16) == 0 &&
              getsockname(etcd.listener, (struct sockaddr *)&address, &bytes) == 0);
    cr_assert_eq(pthread_create(&thread, NULL, answer_all, &etcd), 0);
    errors_begin();
    log_line(MUSTER_LOG_INFO, "begin");
    open_broker_at(formed("http://127.0.0.1:%u", ntohs(address.sin_port)), all[i].user);
    reason[0] = '\0';
    cr_assert_eq(broker_read_stored(holder->broker, OWN, take_reason, NULL), MUSTER_OK, "%s", muster_last_error());
    while (!*reason) uv_run(&loop, UV_RUN_ONCE);
    cr_expect_eq(strstr(errors_end(), "musterd: warning: etcd http://") != NULL, i != NO_KEY, "row %zu", i);
    cr_expect_str_eq(reason, all[i].words, "row %zu: %s", i, reason);
    close_broker();
    shutdown(etcd.listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(etcd.listener);
  }
}

#endif
