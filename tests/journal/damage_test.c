/* A journal that was cut or changed at any byte: recovery to the last complete frame before the damage, or a refusal
 * that names it; never another world. MUSTER_FLIPS in the environment says how many bits are turned, and each of these
 * worlds is then recovered. */
#include "support/forged_record.h"
#include "support/journal_inside.h"
#include "support/journal_town.h"
#include "support/sanitized.h"

enum { DAMAGED_FRAMES = 24, FLIPS_DEFAULT = 10000, RECOVERED_EACH = 100 };

/* A journal of a town that died, as it was. */
typedef struct whole_journal {
  town_life life;
  char journal[PLACE_BYTES], snapshot[PLACE_BYTES];
  file_bytes journal_was, snapshot_was;
  uint64_t *sizes; /* of the journal's file after each frame; shared */
} whole_journal;

static uint64_t *sizes_now;
static const town_life *life_now;

static void measure_journal(muster_journal *journal, little_world *little, uint32_t frame) {
  struct stat status;
  (void)journal, (void)little;
  must(stat(place_find(&life_now->place, ".journal").path, &status) == 0, "there is no journal");
  sizes_now[frame] = (uint64_t)status.st_size;
}

static whole_journal whole_begin(uint32_t frames) {
  whole_journal whole = {.life = town_life_of(frames, measure_journal)};
  whole.sizes = sizes_now = shared_memory((frames + 1) * sizeof *whole.sizes);
  life_now = &whole.life;
  live_until_death(town_live, &whole.life);
  snprintf(whole.journal, PLACE_BYTES, "%s", place_find(&whole.life.place, ".journal").path);
  snprintf(whole.snapshot, PLACE_BYTES, "%s", place_find(&whole.life.place, ".snapshot").path);
  whole.journal_was = file_read(whole.journal);
  whole.snapshot_was = file_read(whole.snapshot);
  cr_assert_eq(whole.journal_was.count, whole.sizes[frames], "something was written after the last frame");
  return whole;
}

static void whole_end(whole_journal *whole) {
  town_life_end(&whole->life);
  free(whole->journal_was.bytes);
  free(whole->snapshot_was.bytes);
}

/* Recovers, which must come to the frame that is named, as it was. */
static void expect_world(const whole_journal *whole, uint64_t frames, const char *what, size_t at) {
  muster_journal_info info;
  SCOPED(little_world_destroy) little_world little = town();
  muster_result result = journal_recover(&little, whole->life.place.path, &info);
  cr_assert_eq(result, MUSTER_OK, "%s %zu: %s", what, at, muster_last_error());
  cr_assert_eq(info.frames, frames, "%s %zu: frame %lu of %lu", what, at, info.frames, frames);
  cr_assert_eq(muster_world_hash(little.world), whole->life.told->hashes[frames], "%s %zu: another world", what, at);
}

/* The last frame that is complete in so many bytes of the journal. */
static uint64_t frames_within(const whole_journal *whole, uint32_t frames, size_t bytes) {
  uint64_t complete = 0;
  for (uint32_t i = 1; i <= frames; i++)
    if (whole->sizes[i] <= bytes) complete = i;
  return complete;
}

Test(journal_damage, cut_at_every_byte_of_its_last_two_frames) {
  SCOPED(whole_end) whole_journal whole = whole_begin(DAMAGED_FRAMES);
  muster_journal_info info;
  for (size_t at = whole.sizes[DAMAGED_FRAMES]; at >= whole.sizes[DAMAGED_FRAMES - 2]; at--) {
    uint64_t complete = frames_within(&whole, DAMAGED_FRAMES, at);
    cr_assert_eq(truncate(whole.journal, (off_t)at), 0);
    cr_assert_eq(journal_look(whole.life.place.path, &info), MUSTER_OK, "cut at %zu: %s", at, muster_last_error());
    cr_assert_eq(info.frames, complete, "cut at %zu: frame %lu", at, info.frames);
    cr_assert_eq(info.lost_bytes, at - whole.sizes[complete], "cut at %zu", at);
    cr_assert_eq(info.damage[0], '\0', "cut at %zu is only cut: %s", at, info.damage);
    cr_assert(!info.clean);
    if (at % 64 == 0 || at == whole.sizes[complete]) expect_world(&whole, complete, "cut at", at);
  }
}

Test(journal_damage, cut_anywhere_else) {
  SCOPED(whole_end) whole_journal whole = whole_begin(DAMAGED_FRAMES);
  muster_journal_info info;
  for (size_t at = 0; at < whole.sizes[DAMAGED_FRAMES - 2]; at += 13) {
    file_write(whole.journal, whole.journal_was.bytes, at);
    muster_result result = journal_look(whole.life.place.path, &info);
    cr_assert(result == MUSTER_OK || result == MUSTER_E_INPUT, "cut at %zu: %d", at, (int)result);
    if (result == MUSTER_OK) cr_assert_eq(info.frames, frames_within(&whole, DAMAGED_FRAMES, at), "cut at %zu", at);
    if (result == MUSTER_OK && at % 53 == 0) expect_world(&whole, info.frames, "cut at", at);
  }
  file_write(whole.journal, whole.journal_was.bytes, whole.journal_was.count);
  for (size_t at = 0; at < whole.snapshot_was.count; at += 101) {
    file_write(whole.snapshot, whole.snapshot_was.bytes, at);
    cr_assert_eq(journal_look(whole.life.place.path, &info), MUSTER_E_INPUT, "snapshot cut at %zu", at);
    cr_assert_not_null(strstr(muster_last_error(), ".snapshot"), "which file? %s", muster_last_error());
  }
}

/* Processes that died while they ran the frames again have left a byte each. */
Test(journal_damage, one_death_in_a_recovery_is_not_held_against_the_frames) {
  SCOPED(whole_end) whole_journal whole = whole_begin(DAMAGED_FRAMES);
  char tries[PLACE_BYTES];
  snprintf(tries, sizeof tries, "%s", whole.journal);
  strcpy(strrchr(tries, '.'), ".replaying");
  for (size_t deaths = 0; deaths <= 3; deaths++) {
    file_write(tries, "\n\n\n", deaths);
    cr_assert_eq(journal_seen(whole.life.place.path).tried, deaths >= 2, "%zu deaths", deaths);
  }
  file_write(tries, "\n", 1);
  expect_world(&whole, DAMAGED_FRAMES, "after deaths:", 1);
  cr_assert_eq(access(tries, F_OK), -1, "a recovery that ends well forgets them");
}

/* A frame that is missing as a whole, also where all checksums are right: those behind it are lost, and told. */
static void expect_lost_without(const whole_journal *whole, uint64_t frame, bool right) {
  char says[96];
  muster_journal_info info;
  uint64_t begin = whole->sizes[frame - 1], end = whole->sizes[frame], told = DAMAGED_FRAMES - (frame - 1);
  size_t count = whole->journal_was.count - (size_t)(end - begin);
  SCOPED(free_memory) unsigned char *bytes = malloc(whole->journal_was.count);
  if (right) {
    count = forge(whole->journal_was.bytes, whole->journal_was.count, (forgery){.without = frame}, bytes);
  } else {
    memcpy(bytes, whole->journal_was.bytes, begin);
    memcpy(bytes + begin, whole->journal_was.bytes + end, count - begin);
  }
  file_write(whole->journal, bytes, count);
  cr_assert_eq(journal_look(whole->life.place.path, &info), MUSTER_OK, "%s", muster_last_error());
  cr_expect_eq(info.frames, frame - 1);
  cr_expect_eq(info.lost_frames, frame < DAMAGED_FRAMES ? told : 0, "without frame %lu: %lu", frame, info.lost_frames);
  if (right && frame < DAMAGED_FRAMES) {
    snprintf(says, sizeof says, ": section 2 %lu where frame %lu belongs", frame + 1, frame);
    cr_expect_not_null(strstr(info.damage, says), "%s", info.damage);
  }
}

/* What may come of a bit that was turned at that place of the journal. */
static void expect_survived(const whole_journal *whole, size_t at, bool recovers) {
  muster_journal_info info;
  uint64_t before = frames_within(whole, DAMAGED_FRAMES, at); /* frames that end before the damage */
  muster_result result = journal_look(whole->life.place.path, &info);
  cr_assert(result == MUSTER_OK || result == MUSTER_E_INPUT, "bit at %zu: %d", at, (int)result);
  if (result == MUSTER_E_INPUT) {
    cr_assert_not_null(strstr(muster_last_error(), "world-"), "bit at %zu, but which file? %s", at,
                       muster_last_error());
    return;
  }
  cr_assert_eq(info.frames, before, "bit at %zu: frame %lu of %lu", at, info.frames, before);
  cr_assert(info.damage[0] || info.lost_bytes, "bit at %zu: nobody noticed", at);
  cr_assert_leq(info.lost_frames, DAMAGED_FRAMES - before, "bit at %zu", at);
  if (recovers) expect_world(whole, info.frames, "bit at", at);
}

/* What is said of a frame in whose section this byte was changed. */
static void expect_damage(const whole_journal *whole, uint64_t frame, size_t byte, const char *damage) {
  enum { MARK_END = 4, LENGTH = 18, LENGTH_END = 24, HEADER_END = 32 };
  char says[64] = " is damaged: its checksum is wrong", where[32] = "";
  if (byte < MARK_END) snprintf(says, sizeof says, ": no section begins here");
  if (byte >= LENGTH && byte < LENGTH_END) /* longer than the file: it looks as if it were cut */
    snprintf(says, sizeof says, ": frame %lu is damaged", frame);
  if (byte >= HEADER_END) snprintf(says, sizeof says, ": section %lu is damaged: its checksum is wrong", frame);
  if (frame > 1) snprintf(where, sizeof where, "record: offset %lu:", whole->sizes[frame - 1]);
  cr_expect(strstr(damage, says) && strstr(damage, where), "byte %zu of frame %lu: %s", byte, frame, damage);
}

/* A frame's section begins where the frame before ends. */
static void expect_lost(const whole_journal *whole, uint64_t frame, size_t byte) {
  size_t at = whole->sizes[frame - 1] + byte;
  whole->journal_was.bytes[at] ^= 16;
  file_write(whole->journal, whole->journal_was.bytes, whole->journal_was.count);
  whole->journal_was.bytes[at] ^= 16;
  muster_journal_info info = journal_seen(whole->life.place.path);
  cr_assert_eq(info.frames, frame - 1);
  cr_assert_eq(info.lost_frames, DAMAGED_FRAMES - (frame - 1), "byte %zu of frame %lu: %lu, %s", byte, frame,
               info.lost_frames, info.damage);
  cr_assert(*info.damage, "byte %zu of frame %lu", byte, frame);
  expect_damage(whole, frame, byte, info.damage);
}

Test(journal_damage, frames_behind_it_are_counted) {
  enum { HEADER = 32 };
  SCOPED(whole_end) whole_journal whole = whole_begin(DAMAGED_FRAMES);
  for (uint64_t frame = 1; frame <= DAMAGED_FRAMES; frame++)
    expect_lost(&whole, frame, (whole.sizes[frame] - whole.sizes[frame - 1]) / 2);
  for (size_t byte = 0; byte < HEADER; byte++) expect_lost(&whole, DAMAGED_FRAMES / 2, byte);
  for (uint64_t frame = 2; frame <= DAMAGED_FRAMES; frame++) {
    expect_lost_without(&whole, frame, false);
    expect_lost_without(&whole, frame, true);
  }
}

Test(journal_damage, a_bit_that_turned_is_noticed, .timeout = 14400) {
  const char *wanted = getenv("MUSTER_FLIPS");
  uint64_t flips = wanted ? strtoull(wanted, NULL, 10) : FLIPS_DEFAULT, random = 88172645463325252u;
  SCOPED(whole_end) whole_journal whole = whole_begin(DAMAGED_FRAMES);
  muster_journal_info info;
  for (uint64_t i = 0; i < flips; i++) {
    bool in_snapshot = xorshift(&random) % 4 == 0;
    const file_bytes *was = in_snapshot ? &whole.snapshot_was : &whole.journal_was;
    const char *path = in_snapshot ? whole.snapshot : whole.journal;
    size_t at = xorshift(&random) % was->count;
    unsigned char changed = was->bytes[at] ^ (unsigned char)(1u << xorshift(&random) % 8);
    file_change(path, at, &changed, 1);
    if (in_snapshot)
      cr_assert_eq(journal_look(whole.life.place.path, &info), MUSTER_E_INPUT, "bit at %zu of the snapshot", at);
    else
      expect_survived(&whole, at, wanted || i % RECOVERED_EACH == 0);
    file_change(path, at, &was->bytes[at], 1);
  }
  expect_world(&whole, DAMAGED_FRAMES, "bits turned back", 0);
}

Test(journal_damage, bytes_behind_the_last_frame_are_lost_and_told) {
  SCOPED(whole_end) whole_journal whole = whole_begin(6);
  unsigned char rubbish[300];
  memset(rubbish, 0xa5, sizeof rubbish);
  int descriptor = open(whole.journal, O_WRONLY | O_APPEND | O_CLOEXEC);
  cr_assert_eq(write(descriptor, rubbish, sizeof rubbish), (ssize_t)sizeof rubbish);
  close(descriptor);
  muster_journal_info info = journal_seen(whole.life.place.path);
  cr_assert_eq(info.frames, 6);
  cr_assert_eq(info.lost_bytes, sizeof rubbish);
  cr_assert_neq(info.damage[0], '\0', "rubbish is no end that is missing");
  expect_world(&whole, 6, "rubbish behind", whole.journal_was.count);
}

/* ------------------------------------------------------------------------------------------------------- of others */

static void expect_refused(const journal_place *place, little_world little, const char *says) {
  muster_journal_info info;
  cr_assert_eq(journal_recover(&little, place->path, &info), MUSTER_E_INPUT, "it was taken");
  cr_assert_not_null(strstr(muster_last_error(), says), "\"%s\" is not in: %s", says, muster_last_error());
  little_world_destroy(&little);
}

Test(journal_damage, another_module_is_refused_by_what_differs) {
  SCOPED(whole_end) whole_journal whole = whole_begin(6);
  const journal_place *place = &whole.life.place;
  muster_type_def larger = CHANGED(town_type(), it.state_bytes *= 2), farmer = CHANGED(town_type(), it.name = "farmer");
  expect_refused(place, town_of(1, MUSTER_CLOCK_VIRTUAL, larger), "townsman");
  expect_refused(place, town_of(1, MUSTER_CLOCK_VIRTUAL, farmer), "farmer");
  expect_refused(place, town_of(1, MUSTER_CLOCK_WALL, town_type()), "clock");
  expect_world(&whole, 6, "the right one", 0);
}

/* Two journals, of which one gets the other's snapshot under its own name. */
Test(journal_damage, another_snapshot_is_refused) {
  SCOPED(whole_end) whole_journal one = whole_begin(6), other = whole_begin(9);
  muster_journal_info info;
  file_write(one.snapshot, other.snapshot_was.bytes, other.snapshot_was.count);
  muster_result result = journal_look(one.life.place.path, &info);
  cr_assert_eq(result, MUSTER_E_INPUT, "two that do not belong together were taken: %d", (int)result);
  cr_assert_not_null(strstr(muster_last_error(), "world-"), "%s", muster_last_error());
  expect_refused(&one.life.place, town(), "world-");
  file_write(one.snapshot, one.snapshot_was.bytes, one.snapshot_was.count);
  expect_world(&one, 6, "its own again", 0);
}

static bool put_megabytes(muster_journal_put put, void *put_user, void *user) {
  static char bytes[1 << 20];
  for (uint32_t i = 0; i < 64; i++)
    if (!put(bytes, sizeof bytes, put_user)) return false;
  return user == NULL;
}

/* Then an older snapshot may not stand for it. */
Test(journal_damage, what_there_is_no_memory_for_is_not_damaged) {
  const muster_journal_def def = WITH(muster_journal_def, it.save_host = put_megabytes);
  SCOPED(kept_world_end) kept_world kept = kept_world_of(peopled_town(), def);
  run_frame(&kept.little);
  cr_assert_eq(kept_world_close(&kept), MUSTER_OK);
  journal_bytes file;
  journal_snapshot snapshot;
  cr_assert_eq(journal_file_map(place_find(&kept.place, ".snapshot").path, &file), MUSTER_OK);
  if (!UNDER_SANITIZER) {
    struct rlimit usual;
    size_t pages = 0;
    FILE *used = fopen("/proc/self/statm", "r");
    cr_assert(used && fscanf(used, "%zu", &pages) == 1 && getrlimit(RLIMIT_AS, &usual) == 0);
    fclose(used);
    const struct rlimit few = {pages * (size_t)sysconf(_SC_PAGESIZE) + (32 << 20), usual.rlim_max};
    cr_assert_eq(setrlimit(RLIMIT_AS, &few), 0);
    muster_result result = journal_snapshot_read(&file, &snapshot);
    cr_assert_eq(setrlimit(RLIMIT_AS, &usual), 0);
    cr_expect_eq(result, MUSTER_E_MEMORY, "%d", (int)result);
    cr_expect_str_eq(muster_last_error(), "journal's snapshot: no memory for what the host gave it");
  }
  cr_assert_eq(journal_snapshot_read(&file, &snapshot), MUSTER_OK, "%s", muster_last_error());
  cr_expect_eq(snapshot.host_bytes, 64 << 20);
  journal_snapshot_free(&snapshot);
  journal_file_unmap(&file);
}

/* The number that stands for the layout of all structures is at the same place of both files' heads. */
Test(journal_damage, another_build_is_refused) {
  SCOPED(whole_end) whole_journal whole = whole_begin(6);
  muster_journal_info info;
  for (size_t at = 0; at < 16; at++) {
    unsigned char changed = whole.journal_was.bytes[at] ^ 0x10;
    file_change(whole.journal, at, &changed, 1);
    muster_result result = journal_look(whole.life.place.path, &info);
    cr_assert_eq(result, MUSTER_E_INPUT, "byte %zu of the head: %d", at, (int)result);
    cr_assert_not_null(strstr(muster_last_error(), ".journal"), "byte %zu: %s", at, muster_last_error());
    file_change(whole.journal, at, &whole.journal_was.bytes[at], 1);
  }
  expect_world(&whole, 6, "this build", 0);
}

Test(journal_damage, without_a_journal_there_is_none) {
  SCOPED(place_remove) journal_place place = place_make();
  muster_journal_info info;
  SCOPED(little_world_destroy) little_world little = town();
  cr_assert_eq(journal_look(place.path, &info), MUSTER_E_STALE);
  cr_assert_eq(journal_recover(&little, place.path, &info), MUSTER_E_STALE);
  cr_assert_eq(journal_look("/nowhere/at/all", &info), MUSTER_E_STALE);
}
