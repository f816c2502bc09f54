/* Which files go and which stay when a journal takes the place of others: a small model is compared with what is done
 * to any set of files. */
#include "support/journal_inside.h"
#include "support/journal_town.h"

enum { KINDS = 5, NUMBERS = 6, INCIDENTS = 5, ROUNDS = 60 };

/* The kinds of files of a number; a record ends with a crash or in order. */
static const char *const kind_endings[KINDS] = {".snapshot", ".snapshot.new", ".journal", ".replaying", ".stranger"};

typedef struct file_set {
  bool has[NUMBERS + 1][KINDS];
  bool crashed[NUMBERS + 1];
  bool incident[NUMBERS + INCIDENTS + 2][KINDS]; /* .snapshot and .journal of each */
} file_set;

static uint64_t retire_random(uint64_t *random) {
  return xorshift(random) >> 11;
}

static file_set draw_set(uint64_t *random) {
  file_set set = {0};
  for (uint32_t n = 1; n <= NUMBERS; n++) {
    bool pair = retire_random(random) % 3 == 0;
    for (uint32_t k = 0; k < KINDS; k++) set.has[n][k] = retire_random(random) % 4 == 0;
    if (pair) set.has[n][0] = set.has[n][2] = true;
    set.crashed[n] = retire_random(random) % 2;
  }
  uint32_t first = (uint32_t)(1 + retire_random(random) % 3), count = (uint32_t)(retire_random(random) % INCIDENTS);
  for (uint32_t n = first; n < first + count; n++) set.incident[n][0] = set.incident[n][2] = true;
  return set;
}

/* As include/muster/journal.h has it: what ended with a crash is kept, the newest of it, and of those that are kept the
 * oldest go. */
static void model_retire(file_set *set, uint64_t below, uint32_t most) {
  uint32_t incident = 0, newest = 0;
  for (uint32_t n = 1; n <= NUMBERS; n++)
    if (n < below && set->has[n][0] && set->has[n][2] && set->crashed[n]) incident = n;
  for (uint32_t n = 1; n < NUMBERS + INCIDENTS + 2; n++)
    if (set->incident[n][2]) newest = n;
  if (incident && most) {
    newest++;
    set->incident[newest][0] = set->incident[newest][2] = true;
    for (uint32_t n = 1; n + most <= newest; n++) set->incident[n][0] = set->incident[n][2] = false;
  }
  for (uint32_t n = 1; n <= NUMBERS && n < below; n++)
    if (set->has[n][0] || set->has[n][1] || set->has[n][2])
      for (uint32_t k = 0; k < 4; k++) set->has[n][k] = false;
}

static const char *set_name(const journal_place *place, const char *what, uint32_t number, uint32_t kind,
                            char name[PLACE_BYTES]) {
  snprintf(name, PLACE_BYTES, "%s-%s%u%s", place->path, what, number, kind_endings[kind]);
  return name;
}

/* The records of a journal while it runs, and when it has ended. */
typedef struct both_records {
  file_bytes crashed, clean;
} both_records;

static both_records make_records(void) {
  both_records records;
  SCOPED(kept_world_end) kept_world kept = kept_town();
  run_frames(&kept.little, 2);
  records.crashed = file_read(place_find(&kept.place, ".journal").path);
  cr_assert_eq(kept_world_close(&kept), MUSTER_OK);
  records.clean = file_read(place_find(&kept.place, ".journal").path);
  return records;
}

static void forget_records(both_records *records) {
  free(records->crashed.bytes);
  free(records->clean.bytes);
}

static void put_set(const journal_place *place, const file_set *set, const both_records *records) {
  const file_bytes few = {.bytes = records->clean.bytes, .count = 3};
  char name[PLACE_BYTES];
  for (uint32_t n = 1; n <= NUMBERS; n++)
    for (uint32_t k = 0; k < KINDS; k++) {
      const file_bytes *file = k != 2 ? &few : set->crashed[n] ? &records->crashed : &records->clean;
      if (set->has[n][k]) file_write(set_name(place, "", n, k, name), file->bytes, file->count);
    }
  for (uint32_t n = 1; n < NUMBERS + INCIDENTS + 2; n++)
    for (uint32_t k = 0; k < KINDS; k++)
      if (set->incident[n][k]) file_write(set_name(place, "incident-", n, k, name), few.bytes, few.count);
}

/* Returns how many there should be. */
static uint32_t expect_kinds(const journal_place *place, const char *what, uint32_t number, const bool has[KINDS],
                             uint32_t round) {
  char name[PLACE_BYTES];
  uint32_t files = 0;
  for (uint32_t k = 0; k < KINDS; files += has[k++]) {
    bool there = access(set_name(place, what, number, k, name), F_OK) == 0;
    cr_expect_eq(there, has[k], "round %u: %s is %s", round, name, there ? "there" : "gone");
  }
  return files;
}

static void expect_set(const journal_place *place, const file_set *set, uint32_t round) {
  uint32_t files = 0;
  for (uint32_t n = 1; n <= NUMBERS; n++) files += expect_kinds(place, "", n, set->has[n], round);
  for (uint32_t n = 1; n < NUMBERS + INCIDENTS + 2; n++)
    files += expect_kinds(place, "incident-", n, set->incident[n], round);
  cr_expect_eq(place_count(place, "", ""), files, "round %u: there are others", round);
}

Test(journal_retire, leaves_what_the_model_leaves) {
  SCOPED(place_remove) journal_place place = place_make();
  SCOPED(forget_records) both_records records = make_records();
  uint64_t random = 88172645463325252u;
  for (uint32_t round = 0; round < ROUNDS; round++) {
    file_set set = draw_set(&random);
    uint64_t below = round % 5 == 0 ? UINT64_MAX : retire_random(&random) % (NUMBERS + 2);
    uint32_t most = (uint32_t)(retire_random(&random) % 5);
    put_set(&place, &set, &records);
    journal_files_retire(place.path, below, most);
    model_retire(&set, below, most);
    expect_set(&place, &set, round);
    place_each(&place, "", "", place_unlink, NULL);
  }
}

/* What is kept as an incident are the files of that crash, the snapshot and the record, each under its own ending. */
Test(journal_retire, keeps_both_files_of_the_newest_crash) {
  SCOPED(place_remove) journal_place place = place_make();
  SCOPED(forget_records) both_records records = make_records();
  file_bytes crashed = records.crashed;
  char name[PLACE_BYTES], text[2];
  for (uint32_t n = 3; n <= 6; n++) {
    snprintf(text, sizeof text, "%u", n);
    file_write(set_name(&place, "", n, 0, name), text, 1);
    crashed.bytes[crashed.count] = (unsigned char)*text; /* a byte behind the last frame */
    file_write(set_name(&place, "", n, 2, name), crashed.bytes, crashed.count + 1);
  }
  journal_files_retire(place.path, 6, 3);
  file_bytes snapshot = file_read(set_name(&place, "incident-", 1, 0, name)),
             record = file_read(set_name(&place, "incident-", 1, 2, name));
  cr_expect(snapshot.count == 1 && *snapshot.bytes == '5');
  cr_expect(record.count == crashed.count + 1 && record.bytes[crashed.count] == '5');
  cr_expect_eq(place_count(&place, "", ""), 4, "and number 6");
  free(snapshot.bytes);
  free(record.bytes);
}

/* However many there are, in whichever order the folder has them. */
Test(journal_retire, finds_the_newest_of_any_numbers) {
  static journal_numbers found;
  enum { ROOM = COUNT_OF(found.numbers) };
  static const uint32_t counts[] = {3, ROOM, ROOM + 40};
  journal_name name;
  for (size_t i = 0; i < COUNT_OF(counts); i++) {
    SCOPED(place_remove) journal_place place = place_make();
    cr_expect_eq(journal_files_list(place.path, "", ".journal", &found), MUSTER_E_STALE);
    cr_expect_eq(found.count, 0);
    for (uint64_t n = 1; n <= counts[i]; n++) {
      journal_file_name(place.path, "", n * 7919 % 100003, ".journal", name);
      file_write(name, "", 0);
    }
    cr_assert_eq(journal_files_list(place.path, "", ".journal", &found), MUSTER_OK);
    cr_expect_eq(found.count, counts[i] < ROOM ? counts[i] : ROOM);
    uint64_t greater = UINT64_MAX;
    for (uint32_t k = 0; k < found.count; k++) {
      uint32_t above = 0;
      for (uint64_t n = 1; n <= counts[i]; n++) above += n * 7919 % 100003 > found.numbers[k];
      cr_assert(above == k && found.numbers[k] < greater, "number %u of %u", k, counts[i]);
      greater = found.numbers[k];
    }
  }
}
