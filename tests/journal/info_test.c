/* What a look and a recovery tell: each field of it, each callback with each of its arguments, and nothing where they
 * are refused. */
#include "support/journal_town.h"

enum { BEFORE = 5, OLD = 4, NEW = 3, SEEN_MAX = 64, RUBBISH = 10 };

/* A world that has run some frames, and has had a journal before. */
static void info_live(void *user) {
  town_life *life = user;
  little_world little = peopled_town();
  run_frames(&little, BEFORE);
  must(muster_journal_end(journal_begin_as(&little, life->def, life->place.path), false) == MUSTER_OK,
       "it does not end");
  muster_journal *journal = journal_begin_as(&little, life->def, life->place.path); /* number 3 */
  run_frames(&little, OLD);
  must(muster_journal_snapshot(journal) == MUSTER_OK, "no snapshot");
  for (uint32_t waited = 0; journal_status(journal).changes_safe == 0; usleep(1000)) {
    muster_journal_turn(journal, 0);
    must(++waited < 60000, "it is never complete");
  }
  told_frame(life->told, &little, BEFORE + OLD);
  for (uint64_t i = BEFORE + OLD; i < BEFORE + OLD + NEW; i++) {
    must(muster_journal_note(journal, &i, sizeof i) == MUSTER_OK && muster_journal_note(journal, "", 0) == MUSTER_OK,
         "no note");
    run_frame(&little);
    told_frame(life->told, &little, i + 1);
  }
}

static bool save_few(muster_journal_put put, void *put_user, void *user) {
  (void)user;
  return put("few", 3, put_user);
}

/* It has died: SCOPED(town_life_end). */
static town_life info_begin(void) {
  town_life life = town_life_of(0, NULL);
  life.def = WITH(muster_journal_def, it.note = "settings", it.note_bytes = 8, it.save_host = save_few);
  live_until_death(info_live, &life);
  return life;
}

static void put_behind(const char *path, size_t count) {
  int descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  cr_assert_eq(write(descriptor, "rubbish that no frame is", count), (ssize_t)count);
  close(descriptor);
}

static void expect_info(muster_journal_info info, muster_journal_info expected, const char *what) {
  cr_expect_eq(info.size, expected.size, "%s", what);
  cr_expect_eq(info.clean, expected.clean, "%s", what);
  cr_expect_eq(info.tried, expected.tried, "%s", what);
  cr_expect_eq(info.number, expected.number, "%s: number %lu", what, info.number);
  cr_expect_eq(info.snapshot_frames, expected.snapshot_frames, "%s: %lu", what, info.snapshot_frames);
  cr_expect_eq(info.frames, expected.frames, "%s: %lu", what, info.frames);
  cr_expect_eq(info.sim_now_ns, expected.sim_now_ns, "%s: %lu", what, info.sim_now_ns);
  cr_expect_eq(info.lost_bytes, expected.lost_bytes, "%s: %lu", what, info.lost_bytes);
  cr_expect_eq(info.lost_frames, expected.lost_frames, "%s: %lu", what, info.lost_frames);
  cr_expect_eq(*info.damage != '\0', *expected.damage != '\0', "%s: %s", what, info.damage);
}

/* What was called, in order. */
typedef struct seen {
  const char *path;
  struct seen_call {
    char kind; /* n: the journal's note, h: the host's bytes, N: a note, b: before a frame, a: after it */
    uint64_t frame, now_ns, bytes;
  } calls[SEEN_MAX];
  uint32_t count;
  char refused; /* this kind */
  bool tries;   /* there was a mark of a try at each frame */
  const muster_world *world;
} seen;

static bool see(void *user, char kind, uint64_t frame, uint64_t now_ns, uint64_t bytes) {
  seen *all = user;
  cr_assert_lt(all->count, SEEN_MAX);
  all->calls[all->count++] = (struct seen_call){kind, frame, now_ns, bytes};
  return kind != all->refused;
}

static bool see_note(const void *bytes, uint32_t count, void *user) {
  cr_expect(count == 8 && memcmp(bytes, "settings", 8) == 0, "%u bytes", count);
  return see(user, 'n', 0, 0, count);
}

static bool see_host(const void *bytes, size_t count, void *user) {
  cr_expect(count == 3 && memcmp(bytes, "few", 3) == 0, "%zu bytes", count);
  return see(user, 'h', 0, 0, count);
}

static bool see_notes(const void *bytes, size_t count, uint64_t frame, void *user) {
  uint64_t number = frame - 1;
  cr_expect(count == 0 || (count == sizeof number && memcmp(bytes, &number, sizeof number) == 0));
  return see(user, 'N', frame, 0, count);
}

static bool is_tried(const seen *all) {
  char name[PLACE_BYTES];
  snprintf(name, sizeof name, "%s-4.replaying", all->path);
  return access(name, F_OK) == 0;
}

static void see_before(muster_world *world, uint64_t frame, uint64_t sim_now_ns, void *user) {
  seen *all = user;
  all->tries = all->tries && is_tried(all);
  cr_expect_eq(world, all->world);
  see(user, 'b', frame, sim_now_ns, 0);
}

static void see_after(muster_world *world, uint64_t frame, uint64_t sim_now_ns, void *user) {
  seen *all = user;
  cr_expect_eq(world, all->world);
  see(user, 'a', frame, sim_now_ns, 0);
}

static void expect_call(const seen *all, uint32_t i, char kind, uint64_t frame, uint64_t bytes) {
  const struct seen_call *call = &all->calls[i];
  uint64_t now_ns = kind == 'a' || kind == 'b' ? frame * FRAME_NS : 0;
  cr_expect(
      i < all->count && call->kind == kind && call->frame == frame && call->now_ns == now_ns && call->bytes == bytes,
      "call %u of %u is %c %lu at %lu of %lu bytes", i, all->count, call->kind, call->frame, call->now_ns, call->bytes);
}

static void expect_notes(const seen *all, uint32_t at) {
  for (uint32_t i = 0; i < NEW; i++) {
    expect_call(all, at + 2 * i, 'N', BEFORE + OLD + 1 + i, 8);
    expect_call(all, at + 2 * i + 1, 'N', BEFORE + OLD + 1 + i, 0);
  }
}

static muster_journal_info info_expected(void) {
  return WITH(muster_journal_info, it.number = 4, it.snapshot_frames = BEFORE + OLD, it.frames = BEFORE + OLD + NEW);
}

static muster_journal_look_def look_of(const town_life *life, seen *all) {
  return WITH(muster_journal_look_def, it.path = life->place.path, it.take_note = see_note, it.take_host = see_host,
              it.take_notes = see_notes, it.user = all);
}

Test(journal_info, a_look_tells_all_and_hands_out_all) {
  SCOPED(town_life_end) town_life life = info_begin();
  seen all = {.count = 0};
  const muster_journal_look_def look = look_of(&life, &all);
  muster_journal_info info = muster_journal_info_default(), expected = info_expected();
  muster_world_def world = muster_world_def_default();
  cr_assert_eq(muster_journal_look(&look, &info, &world), MUSTER_OK, "%s", muster_last_error());
  expect_info(info, expected, "at first");
  cr_expect_eq(all.count, 2 + 2 * NEW);
  expect_call(&all, 0, 'n', 0, 8);
  expect_call(&all, 1, 'h', 0, 3);
  expect_notes(&all, 2);
  cr_expect_eq(world.limits.agents_max, 256);
  cr_expect_eq(world.clock.kind, MUSTER_CLOCK_VIRTUAL);
  cr_expect(world.pool == NULL && world.log.write == muster_world_def_default().log.write);
  put_behind(place_find(&life.place, ".journal").path, RUBBISH);
  expected.lost_bytes = RUBBISH;
  cr_assert_eq(muster_journal_look(&look, &info, NULL), MUSTER_OK);
  expect_info(info, expected, "with a part of a frame");
  cr_expect_eq(muster_journal_look(&look, NULL, NULL), MUSTER_OK, "nobody wants to know");
}

/* Nothing is told then. */
Test(journal_info, a_look_that_is_refused_tells_nothing) {
  static const struct {
    char kind;
    const char *says;
    uint32_t calls;
  } refusals[] = {{'n', ".journal: its note was refused", 1},
                  {'h', ".snapshot: what the host had kept was refused", 2},
                  {'N', "world: ", 3}};
  SCOPED(town_life_end) town_life life = info_begin();
  for (size_t i = 0; i < COUNT_OF(refusals); i++) {
    seen all = {.refused = refusals[i].kind};
    const muster_journal_look_def look = look_of(&life, &all);
    muster_journal_info info = muster_journal_info_default(), untouched = info;
    muster_world_def world = muster_world_def_default(), same = world;
    cr_expect_eq(muster_journal_look(&look, &info, &world), MUSTER_E_INPUT, "refusal %zu", i);
    cr_expect_not_null(strstr(muster_last_error(), refusals[i].says), "%s", muster_last_error());
    cr_expect_eq(all.count, refusals[i].calls, "%u calls", all.count);
    expect_info(info, untouched, "refused");
    cr_expect_eq(memcmp(&world, &same, sizeof world), 0);
  }
}

static muster_result info_recover(const town_life *life, little_world *little, bool snapshot_only, seen *all,
                                  muster_journal_info *info) {
  const char *path = life->place.path;
  const muster_journal_recover_def def =
      WITH(muster_journal_recover_def, it.path = path, it.snapshot_only = snapshot_only, it.take_notes = see_notes,
           it.before_frame = see_before, it.after_frame = see_after, it.user = all);
  *all = (seen){.path = path, .tries = true, .refused = all->refused, .world = little->world};
  *info = muster_journal_info_default();
  return muster_journal_recover(little->world, &def, info);
}

Test(journal_info, a_recovery_tells_all_and_calls_for_each_frame) {
  SCOPED(town_life_end) town_life life = info_begin();
  muster_journal_info info, expected = info_expected();
  for (uint32_t only = 0; only < 2; only++) {
    seen all = {.count = 0};
    SCOPED(little_world_destroy) little_world little = town();
    put_behind(place_find(&life.place, ".journal").path, only ? 2 : 8);
    cr_assert_eq(info_recover(&life, &little, only, &all, &info), MUSTER_OK, "%s", muster_last_error());
    expected.lost_bytes += only ? 2 : 8;
    if (only) expected.frames = BEFORE + OLD;
    expected.sim_now_ns = expected.frames * FRAME_NS;
    expect_info(info, expected, only ? "of the snapshot alone" : "of all frames");
    cr_expect_eq(muster_world_hash(little.world), life.told->hashes[expected.frames]);
    cr_expect_eq(all.count, only ? 0 : 4 * NEW, "%u calls", all.count);
    if (!only) expect_notes(&all, 0);
    for (uint32_t i = 0; i < NEW && !only; i++) {
      expect_call(&all, 2 * NEW + 2 * i, 'b', BEFORE + OLD + 1 + i, 0);
      expect_call(&all, 2 * NEW + 2 * i + 1, 'a', BEFORE + OLD + 1 + i, 0);
    }
    cr_expect(all.tries, "frames that may kill this process are not marked");
    cr_expect_not(is_tried(&all));
  }
}

Test(journal_info, a_recovery_whose_notes_are_refused_is_none) {
  SCOPED(town_life_end) town_life life = info_begin();
  muster_journal_info info;
  seen all = {.refused = 'N'};
  little_world little = town();
  cr_expect_eq(info_recover(&life, &little, false, &all, &info), MUSTER_E_INPUT);
  cr_expect_eq(all.count, 1);
  expect_info(info, muster_journal_info_default(), "refused");
  cr_expect_not(is_tried(&all), "it ran no frame");
  muster_world_destroy(little.world);
  muster_pool_destroy(little.pool);
}

/* An incident is only looked at: nothing is put beside it. */
static void count_files(muster_world *world, uint64_t frame, uint64_t sim_now_ns, void *user) {
  const journal_place *place = user;
  (void)world, (void)sim_now_ns, (void)frame;
  cr_expect_eq(place_count(place, "", ""), 4);
}

Test(journal_info, an_incident_is_looked_at_and_recovered_and_left_as_it_is) {
  SCOPED(town_life_end) town_life life = info_begin();
  muster_journal_info info, expected = info_expected();
  char incident[PLACE_BYTES];
  SCOPED(little_world_destroy) little_world little = town(), again = town();
  muster_journal *journal = journal_begin(&little, life.place.path);
  snprintf(incident, sizeof incident, "%s-incident-1", life.place.path);
  expected.number = 0;
  info = journal_seen(incident);
  expect_info(info, expected, "an incident");
  const muster_journal_recover_def def =
      WITH(muster_journal_recover_def, it.path = incident, it.before_frame = count_files, it.user = &life.place);
  cr_assert_eq(muster_journal_recover(again.world, &def, &info), MUSTER_OK, "%s", muster_last_error());
  expected.sim_now_ns = expected.frames * FRAME_NS;
  expect_info(info, expected, "an incident again");
  cr_expect_eq(muster_world_hash(again.world), life.told->hashes[expected.frames]);
  cr_expect_eq(place_count(&life.place, "", ""), 4);
  cr_assert_eq(muster_journal_end(journal, true), MUSTER_OK);
  cr_expect_eq(place_count(&life.place, "", ""), 2, "an incident outlives the journal");
}

/* Of several pairs that are all damaged the newest is told of. */
Test(journal_info, the_newest_damage_is_named) {
  SCOPED(place_remove) journal_place place = place_make();
  muster_journal_info info;
  char name[PLACE_BYTES];
  for (uint32_t number = 5; number <= 8; number++) {
    snprintf(name, sizeof name, "%s-%u.snapshot", place.path, number);
    file_write(name, "damaged", number == 6 ? 0 : 7);
  }
  cr_expect_eq(journal_look(place.path, &info), MUSTER_E_INPUT, "%s", muster_last_error());
  cr_expect_not_null(strstr(muster_last_error(), "world-8.snapshot"), "%s", muster_last_error());
  place_each(&place, "world-8", "", place_unlink, NULL);
  place_each(&place, "world-7", "", place_unlink, NULL);
  cr_expect_eq(journal_look(place.path, &info), MUSTER_E_INPUT, "%s", muster_last_error());
  cr_expect_not_null(strstr(muster_last_error(), "world-6.snapshot: it is empty"), "%s", muster_last_error());
}
