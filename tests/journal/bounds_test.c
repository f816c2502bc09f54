/* Where the bounds of a journal are: what is just within is taken, what is just beyond is refused. And what a journal
 * that has ended by itself, or whose last snapshot fails, still says. */
#include "support/journal_inside.h"
#include "support/journal_town.h"

#include <errno.h>
#include <muster/bulk.h>
#include <sys/resource.h>
#include <sys/time.h>

enum { PATH_MOST = 3799, NOTE_MOST = 1 << 20, KEPT_MOST = 1000 };

/* A path of so many bytes that names the files of a place. */
static void long_path(const journal_place *place, size_t bytes, char path[PATH_MOST + 2]) {
  size_t length = strlen(place->folder);
  memcpy(path, place->folder, length);
  path[length++] = '/';
  for (; length + strlen("world") + 1 < bytes; length += 2) memcpy(path + length, "./", 2);
  for (; length + strlen("world") < bytes; length++) path[length] = '/';
  strcpy(path + length, "world");
}

static muster_result begin_and_end(const little_world *little, muster_journal_def def) {
  muster_journal *journal = NULL;
  muster_result result = muster_journal_begin(little->world, &def, &journal);
  cr_expect_eq(journal != NULL, result == MUSTER_OK);
  muster_journal_end(journal, true);
  return result;
}

Test(journal_bounds, are_where_the_header_says) {
  static char path[PATH_MOST + 2], note[NOTE_MOST + 1];
  SCOPED(place_remove) journal_place place = place_make();
  SCOPED(little_world_destroy) little_world little = town();
  const struct {
    const char *field;
    size_t path;
    uint64_t recovery_ns;
    uint32_t note, incidents;
    bool taken;
  } cases[] = {{"path", PATH_MOST, 0, 0, 4, true},
               {"path", PATH_MOST + 1, 0, 0, 4, false},
               {"recovery_max_ns", 100, 10000000, 0, 4, true},
               {"recovery_max_ns", 100, 9999999, 0, 4, false},
               {"recovery_max_ns", 100, 3600000000000, 0, 4, true},
               {"recovery_max_ns", 100, 3600000000001, 0, 4, false},
               {"note_bytes", 100, 0, NOTE_MOST, 4, true},
               {"note_bytes", 100, 0, NOTE_MOST + 1, 4, false},
               {"incidents_max", 100, 0, 0, KEPT_MOST, true},
               {"incidents_max", 100, 0, 0, KEPT_MOST + 1, false},
               {"incidents_max", 100, 0, 0, UINT32_MAX, false},
               {"incidents_max", 100, 0, 0, 0, true}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    muster_journal_info info;
    muster_journal_def def = WITH(muster_journal_def, it.path = path, it.note = cases[i].note ? note : NULL,
                                  it.note_bytes = cases[i].note, it.incidents_max = cases[i].incidents);
    long_path(&place, cases[i].path, path);
    cr_assert_eq(strlen(path), cases[i].path);
    if (cases[i].recovery_ns) def.recovery_max_ns = cases[i].recovery_ns;
    muster_result result = begin_and_end(&little, def);
    cr_expect_eq(result, cases[i].taken ? MUSTER_OK : MUSTER_E_ARGUMENT, "case %zu: %s", i, muster_last_error());
    if (!cases[i].taken) cr_expect_not_null(strstr(muster_last_error(), cases[i].field), "%s", muster_last_error());
    cr_expect_eq(place_count(&place, "", ""), 0, "case %zu", i);
    if (cases[i].path > 100)
      cr_expect_eq(journal_look(path, &info), cases[i].taken ? MUSTER_E_STALE : MUSTER_E_ARGUMENT, "%zu bytes",
                   cases[i].path);
  }
}

/* Whichever of several types it is that cannot be repeated. */
Test(journal_bounds, each_type_is_looked_at) {
  static const muster_atom atoms[] = {{town_work, MUSTER_ROLE_BEHAVIOUR, 2000}, {nothing, MUSTER_ROLE_ACTION, 500}};
  for (uint32_t parallel = 0; parallel < 4; parallel++) {
    SCOPED(place_remove) journal_place place = place_make();
    SCOPED(little_world_destroy) little_world little = little_world_create(1, NULL);
    for (uint32_t i = 0; i < 3; i++) {
      char name[16];
      muster_type_def type = type_with(atoms, 2);
      snprintf(name, sizeof name, "type-%u", i);
      type.name = name;
      type.act = i == parallel ? MUSTER_ACT_PARALLEL : MUSTER_ACT_REGION;
      register_type(&little, &type);
    }
    muster_result result = begin_and_end(&little, WITH(muster_journal_def, it.path = place.path));
    cr_expect_eq(result, parallel < 3 ? MUSTER_E_STATE : MUSTER_OK, "type %u", parallel);
    if (parallel < 3) cr_expect_not_null(strchr(strstr(muster_last_error(), "type-"), (int)('0' + parallel)));
  }
}

/* ------------------------------------------------------------------------------------------------------------ ends */

static void expect_ended(muster_journal *journal, const little_world *little, const char *why) {
  muster_journal_status status = journal_status(journal);
  cr_expect(!status.runs && !status.holds && !status.writes, "of one that has ended: %d %d %d", status.runs,
            status.holds, status.writes);
  cr_expect_eq(status.frames_safe, UINT64_MAX);
  cr_expect_eq(status.changes_safe, UINT64_MAX);
  cr_expect_not_null(strstr(status.ended_by, why), "%s", status.ended_by);
  cr_expect_eq(muster_journal_snapshot(journal), MUSTER_E_STATE);
  cr_expect_eq(muster_journal_note(journal, "a", 1), MUSTER_E_STATE);
  muster_journal_hold(journal, true);
  for (uint32_t i = 0; i < 3; i++) muster_journal_turn(journal, i * 1000000000u);
  muster_journal_status later = journal_status(journal);
  cr_expect_eq(memcmp(&status, &later, sizeof status), 0, "it goes on to change");
  cr_expect_leq(later.frames_written, little->world->frames);
}

/* The disk refuses a sync: a pipe cannot be synced, which stands for a record's file here. */
Test(journal_bounds, a_sync_that_is_refused_ends_it) {
  for (int sync = MUSTER_JOURNAL_SYNC_SECOND; sync <= MUSTER_JOURNAL_SYNC_FRAME; sync++) {
    int ends[2];
    SCOPED(kept_world_end)
    kept_world kept = kept_world_of(peopled_town(), WITH(muster_journal_def, it.sync = (muster_journal_sync)sync));
    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    cr_assert_geq(dup2(ends[1], kept.journal->current.descriptor), 0);
    town_frames(&kept.little, 10);
    AWAIT_WITH(usleep(1000), !journal_status(kept.journal).runs);
    expect_ended(kept.journal, &kept.little, "it cannot be synced: Invalid argument");
    cr_expect_eq(kept_world_end_journal(&kept, true), MUSTER_OK);
    cr_expect_eq(place_count(&kept.place, "", ""), 0);
    close(ends[0]);
    close(ends[1]);
  }
}

/* A snapshot is being written meanwhile. */
Test(journal_bounds, notes_that_are_too_long_end_it) {
  static char bytes[1 << 20];
  SCOPED(kept_world_end) kept_world kept = kept_town();
  cr_assert_eq(muster_journal_snapshot(kept.journal), MUSTER_OK);
  while (muster_journal_note(kept.journal, bytes, sizeof bytes) == MUSTER_OK) continue;
  run_frame(&kept.little);
  expect_ended(kept.journal, &kept.little, "the notes of one frame had no room");
  cr_expect_eq(kept_world_close(&kept), MUSTER_OK, "that it had ended is no error");
}

/* What the host does between two frames has no room, and then a snapshot is to begin behind it. */
Test(journal_bounds, what_has_no_room_between_two_frames_ends_it) {
  enum { MANY = 4000 };
  static muster_agent agents[MANY];
  static muster_position places[MANY];
  SCOPED(kept_world_end)
  kept_world kept = kept_world_of(peopled_town(), WITH(muster_journal_def, it.buffer_bytes = 65536));
  town_frames(&kept.little, 3);
  const muster_journal_status before = journal_status(kept.journal);
  muster_agents_move(kept.little.world, agents, places, MANY);
  muster_journal_snapshot(kept.journal);
  cr_expect_eq(journal_status(kept.journal).forked, 0);
  cr_expect_eq(journal_status(kept.journal).bytes, before.bytes, "something was written");
  cr_expect_eq(place_count(&kept.place, "", ""), 2);
  town_frame(&kept.little, 3);
  expect_ended(kept.journal, &kept.little, "buffer of 65536 bytes was full");
  cr_expect_eq(kept_world_close(&kept), MUSTER_OK);
  const muster_journal_info info = journal_seen(kept.place.path);
  cr_expect_eq(info.frames, 3);
  cr_expect_eq(info.lost_bytes, 0);
  cr_expect_not(info.clean, "it did not end in order");
}

static bool refuses_now;

static bool save_until_refused(muster_journal_put put, void *put_user, void *user) {
  (void)user;
  return put("host", 4, put_user) && !refuses_now;
}

/* Then its files are as after a crash. */
Test(journal_bounds, a_last_snapshot_that_fails_is_told_and_leaves_what_a_crash_would) {
  SCOPED(kept_world_end)
  kept_world kept = kept_world_of(peopled_town(), WITH(muster_journal_def, it.save_host = save_until_refused));
  SCOPED(little_world_destroy) little_world again = town();
  town_frames(&kept.little, 6);
  refuses_now = true;
  cr_expect_eq(kept_world_close(&kept), MUSTER_E_SYSTEM);
  refuses_now = false;
  cr_expect_eq(place_count(&kept.place, "", ""), 2);
  muster_journal_info info = journal_back(&again, kept.place.path);
  cr_expect_eq(info.number, 1);
  cr_expect_eq(info.snapshot_frames, 0);
  cr_expect_eq(info.frames, 6);
  cr_expect_eq(info.lost_bytes, 0);
  cr_expect_eq(muster_world_hash(again.world), muster_world_hash(kept.little.world));
}

/* The child of a fork has a copy that it cannot end. */
Test(journal_bounds, a_forked_process_leaves_it) {
  int status = 0;
  SCOPED(kept_world_end) kept_world kept = kept_town();
  town_frame(&kept.little, 0);
  for (uint32_t remove = 0; remove < 2; remove++) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) _exit(muster_journal_end(kept.journal, remove) == MUSTER_E_STATE ? 7 : 8);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%x", (unsigned)status);
  }
  town_frame(&kept.little, 1);
  cr_expect_eq(journal_seen(kept.place.path).frames, 2);
  cr_expect_eq(kept_world_close(&kept), MUSTER_OK, "%s", muster_last_error());
}

/* ----------------------------------------------------------------------------------------------------------- notes */

static muster_journal *noted_journal;
static muster_result noted_inside;

static muster_atom_result note_inside(muster_update *update) {
  (void)update;
  if (noted_journal) noted_inside = muster_journal_note(noted_journal, "a", 1);
  return MUSTER_ATOM_NEXT;
}

static void note_at_end(muster_journal *journal, void *user) {
  muster_journal_status status = muster_journal_status_default();
  cr_expect_eq(muster_journal_status_read(journal, &status), MUSTER_E_STATE);
  muster_journal_hold(journal, true);
  *(muster_result *)user = muster_journal_note(journal, "b", 1);
}

/* A note comes between frames or in end_frame: in each frame, as in the first. */
Test(journal_bounds, a_note_has_its_moments) {
  muster_result at_end = MUSTER_E_STATE;
  little_world little =
      peopled(town_of(1, MUSTER_CLOCK_VIRTUAL, CHANGED(town_type(), it.atoms = atom_of(note_inside, 2000))));
  const muster_journal_def def = WITH(muster_journal_def, it.end_frame = note_at_end, it.user = &at_end);
  SCOPED(kept_world_end) kept_world kept = kept_world_of(little, def);
  noted_journal = kept.journal;
  for (uint32_t frame = 0; frame < 4; frame++) {
    noted_inside = MUSTER_OK;
    at_end = MUSTER_E_STATE;
    run_frames(&kept.little, 2);
    cr_expect_eq(noted_inside, MUSTER_E_STATE, "in an update of frame %u", 2 * frame);
    cr_expect_eq(at_end, MUSTER_OK);
    cr_expect_not(noted_journal->held, "a hold inside a frame");
    cr_expect_eq(muster_journal_note(noted_journal, NULL, 0), MUSTER_OK);
    cr_expect_eq(muster_journal_note(noted_journal, NULL, 1), MUSTER_E_ARGUMENT);
  }
}

/* Who puts more than the disk takes is told, and so is who begins. */
static uint32_t puts_refused;

static bool put_much(muster_journal_put put, void *put_user, void *user) {
  (void)user;
  static char bytes[100000];
  for (uint32_t i = 0; i < 20; i++) puts_refused += !put(bytes, sizeof bytes, put_user);
  return true;
}

Test(journal_bounds, what_the_disk_does_not_take_is_no_snapshot) {
  SCOPED(place_remove) journal_place place = place_make();
  SCOPED(little_world_destroy) little_world little = town();
  const muster_journal_def def = WITH(muster_journal_def, it.path = place.path, it.save_host = put_much);
  struct rlimit usual;
  muster_journal *journal = NULL;
  signal(SIGXFSZ, SIG_IGN);
  cr_assert_eq(getrlimit(RLIMIT_FSIZE, &usual), 0);
  cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000000, usual.rlim_max}), 0);
  muster_result result = muster_journal_begin(little.world, &def, &journal);
  cr_assert_eq(setrlimit(RLIMIT_FSIZE, &usual), 0);
  cr_expect_eq(result, MUSTER_E_SYSTEM);
  cr_expect_not_null(strstr(muster_last_error(), "File too large"), "%s", muster_last_error());
  cr_expect_geq(puts_refused, 9);
  cr_expect_eq(place_count(&place, "", ""), 0);
}

/* Two processes that die while they run the frames again are counted; one that loads the snapshot is not. */
static void die_before(muster_world *world, uint64_t frame, uint64_t sim_now_ns, void *user) {
  (void)world, (void)frame, (void)sim_now_ns, (void)user;
  die();
}

static void recover_and_die(void *user) {
  const muster_journal_recover_def def = WITH(muster_journal_recover_def, it.path = user, it.before_frame = die_before);
  muster_journal_recover(town().world, &def, NULL);
}

Test(journal_bounds, deaths_in_recoveries_add_up) {
  SCOPED(town_life_end) town_life life = town_life_of(3, NULL);
  muster_journal_info info;
  char *path = life.place.path;
  live_until_death(town_live, &life);
  for (uint32_t deaths = 0; deaths < 4; deaths++) {
    cr_assert_eq(journal_look(path, &info), MUSTER_OK);
    cr_expect_eq(info.tried, deaths >= 2, "%u deaths", deaths);
    live_until_death(recover_and_die, path);
  }
  SCOPED(little_world_destroy) little_world little = town();
  cr_expect_eq(journal_recover(&little, path, &info), MUSTER_OK);
  cr_expect_eq(journal_look(path, &info), MUSTER_OK);
  cr_expect_not(info.tried, "a recovery that ends well forgets them");
}

/* A host may have closed its standard input: then some file has the descriptor 0. */
static void expect_one_try(muster_world *world, uint64_t frame, uint64_t sim_now_ns, void *user) {
  struct stat status;
  (void)world, (void)frame, (void)sim_now_ns;
  cr_assert_eq(stat(user, &status), 0, "%s", strerror(errno));
  cr_expect_eq(status.st_size, 1, "%ld deaths", (long)status.st_size);
}

static void expect_lowest(int expected, const char *when) {
  int lowest = dup(1);
  cr_expect_eq(lowest, expected, "%s descriptor %d is free", when, lowest);
  close(lowest);
}

static void recover_beside(const journal_place *place, uint64_t hash) {
  char tries[PLACE_BYTES];
  SCOPED(little_world_destroy) little_world little = town();
  muster_journal_info info = journal_seen(place->path);
  expect_lowest(0, "behind a look");
  snprintf(tries, sizeof tries, "%s-%lu.replaying", place->path, info.number);
  const muster_journal_recover_def recover =
      WITH(muster_journal_recover_def, it.path = place->path, it.before_frame = expect_one_try, it.user = tries);
  cr_expect_eq(muster_journal_recover(little.world, &recover, &info), MUSTER_OK, "%s", muster_last_error());
  expect_lowest(0, "behind a recovery");
  cr_expect_eq(info.frames, info.snapshot_frames + 1);
  cr_expect_eq(muster_world_hash(little.world), hash);
}

Test(journal_bounds, a_file_may_have_the_descriptor_0) {
  static const uint64_t spare_ns = 1000000000000u;
  int input = fcntl(0, F_DUPFD_CLOEXEC, 100);
  little_world little = peopled_town();
  close(0);
  SCOPED(kept_world_end) kept_world kept = kept_world_of(little, muster_journal_def_default());
  muster_journal *journal = kept.journal;
  cr_expect_eq(journal->current.descriptor, 0);
  muster_journal_turn(journal, spare_ns);     /* gets memory */
  for (uint32_t turn = 0; turn < 5; turn++) { /* in a process, in memory, ... */
    bool zero = turn % 2;
    town_frame(&kept.little, turn);
    syncer_did(&journal->syncer, true);
    journal->asked = true;
    muster_journal_turn(journal, turn == 1 ? spare_ns : 0);
    cr_expect_eq(journal->next.descriptor == 0, zero, "turn %u: %d", turn, journal->next.descriptor);
    AWAIT_WITH(muster_journal_turn(journal, 0), !journal_status(journal).writes && !syncer_moves(&journal->syncer));
    cr_expect_eq(journal_status(journal).snapshots, turn + 2);
    cr_expect_eq(journal_status(journal).forked, turn + (turn < 1));
    if (!zero) expect_lowest(0, "behind the file before");
  }
  town_frame(&kept.little, 5);
  recover_beside(&kept.place, muster_world_hash(kept.little.world));
  cr_expect_eq(kept_world_close(&kept), MUSTER_OK, "%s", muster_last_error());
  expect_lowest(0, "behind the end");
  cr_assert_eq(dup2(input, 0), 0);
  close(input);
}

/* ---------------------------------------------------------------------------------------------------------- writes */

static void interrupted(int signal_number) {
  (void)signal_number;
}

/* A write that a signal interrupts, or that takes a part, is gone on with. */
Test(journal_bounds, a_write_goes_on_to_its_end) {
  enum { WRITTEN = 3000001 };
  static unsigned char bytes[WRITTEN], chunk[4096];
  const struct sigaction action = {.sa_handler = interrupted};
  const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  int ends[2], status = 0;
  for (size_t i = 0; i < WRITTEN; i++) bytes[i] = (unsigned char)(i * 2654435761u >> 11);
  cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
  fflush(NULL);
  pid_t reader = fork();
  if (reader == 0) {
    size_t at = 0;
    close(ends[1]);
    for (ssize_t some; (some = read(ends[0], chunk, sizeof chunk)) > 0; at += (size_t)some) {
      if (at + (size_t)some > WRITTEN || memcmp(bytes + at, chunk, (size_t)some) != 0) _exit(8);
      if (at % 16384 == 0) usleep(600);
    }
    _exit(at == WRITTEN ? 7 : 9);
  }
  close(ends[0]);
  cr_assert_eq(sigaction(SIGALRM, &action, NULL), 0);
  cr_assert_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
  cr_expect(journal_file_write(ends[1], bytes, WRITTEN), "%s", strerror(errno));
  cr_assert_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
  close(ends[1]);
  cr_assert_eq(waitpid(reader, &status, 0), reader);
  cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%x", (unsigned)status);
}
