/* The reader of the flight recorder's file: what it tells, and that it survives anything. */
#include "room.h"
#include "service/flight.h"
#include "service/flight_file.h"

#include <muster/flight.h>
#include <muster/muster.h>

/* A file of two worlds, each with one worker inside a callback, of which the first world's was hit by a signal. */
static struct file {
  size_t size;
  unsigned char *bytes;
} file;

static flight_head *head; /* where it begins */
static flight_report report;
static flight_counts counts;

static muster_atom_result never(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_FINISH;
}

static size_t write_part(const char *name, unsigned char *memory, bool marked) {
  const muster_world_def def = WITH(muster_world_def, it.limits.agents_max = 16, it.limits.types_max = 3);
  muster_world *world = muster_world_create(&def);
  cr_assert_not_null(world, "%s", muster_last_error());
  size_t bytes = muster_flight_bytes(world);
  if (memory) {
    const muster_atom atom = {never, MUSTER_ROLE_BEHAVIOUR, 10};
    const muster_type_def type = WITH(muster_type_def, it.name = name, it.atoms = &atom, it.atom_count = 1);
    cr_assert_eq(muster_flight_attach(world, memory, bytes), MUSTER_OK, "%s", muster_last_error());
    cr_assert_neq(muster_type_register(world, &type).index, 0);
    const muster_flight_header *header = (const void *)memory;
    muster_flight_line *line = (void *)(memory + bytes - header->lines * sizeof *line);
    *line = (muster_flight_line){
        .agent = 1ull << 32 | 5, .place = 1ull << 56 | 1ull << 32, .frame = 3, .signal = marked ? 11 : 0};
  }
  muster_world_destroy(world);
  return bytes;
}

static void write_file(void) {
  flight_head made;
  size_t bytes = write_part(NULL, NULL, false);
  counts = (flight_counts){.count = 1, .counts = {{"main", "wolf", 2}}};
  flight_head_begin(&made, 4711, 1234567890, &counts, &(flight_poisons){0});
  flight_head_add_part(&made, "main", "wildlife", bytes);
  flight_head_add_part(&made, "other", "village", bytes);
  uint64_t first = made.parts[0].offset, second = made.parts[1].offset;
  file.size = second + bytes;
  file.bytes = aligned_alloc(64, (file.size + 63) / 64 * 64);
  head = memset(file.bytes, 0, file.size);
  write_part("wolf", file.bytes + first, true);
  write_part("sheep", file.bytes + second, false);
  *head = made;
}

static void free_file(void) {
  free(file.bytes);
}

TestSuite(flight_file, .init = write_file, .fini = free_file);

static muster_result read_file(void) {
  return flight_file_read(file.bytes, file.size, &report, &counts, NULL);
}

static void assert_read(void) {
  cr_assert_eq(read_file(), MUSTER_OK, "%s", muster_last_error());
}

static void assert_refused(const char *says) {
  cr_assert_eq(read_file(), MUSTER_E_INPUT);
  cr_assert(strstr(muster_last_error(), says), "%s", muster_last_error());
}

Test(flight_file, tells_culprits_first_and_who_else_was_running) {
  assert_read();
  cr_assert(report.known);
  cr_assert_not(report.clean);
  cr_assert_eq(report.process, 4711);
  cr_assert_eq(report.signal, 11);
  cr_assert_eq(report.culprit_count, 1);
  cr_assert_eq(report.inside_count, 2);
  cr_assert_str_eq(report.inside[0].world, "main");
  cr_assert_str_eq(report.inside[0].module, "wildlife");
  cr_assert_str_eq(report.inside[0].entry.type_name, "wolf");
  cr_assert_str_eq(report.inside[1].world, "other");
  cr_assert_str_eq(report.inside[1].entry.type_name, "sheep");
  cr_assert(flight_counts_add(&counts, &report));
  cr_assert_eq(counts.count, 1);
  cr_assert_eq(flight_counts_find(&counts, "main", "wolf")->crashes, 3);
  cr_assert_null(flight_counts_find(&counts, "other", "sheep"), "the innocent are not counted");
  cr_assert_eq(flight_counts_forget(&counts, "main", "wolf"), 3);
  cr_assert_eq(counts.count, 0);
}

Test(flight_file, of_a_good_end_blames_nobody) {
  head->clean = 1;
  assert_read();
  cr_assert(report.clean);
  cr_assert_eq(report.inside_count, 0);
  cr_assert_eq(counts.counts[0].crashes, 2, "the counts stay");
}

Test(flight_file, without_a_mark_tells_who_was_running_and_blames_nobody) {
  unsigned char *part = file.bytes + head->parts[0].offset;
  muster_flight_line *lines =
      (void *)(part + head->parts[0].bytes - ((muster_flight_header *)(void *)part)->lines * sizeof *lines);
  lines->signal = 0;
  assert_read();
  cr_assert_eq(report.culprit_count, 0);
  cr_assert_eq(report.inside_count, 2);
  cr_assert_eq(report.signal, 0);
}

Test(flight_file, tells_the_function_of_a_module_that_was_hit_if_it_can_be_one) {
  head->call = (flight_call){"main", "wildlife", FLIGHT_POPULATE, 1};
  assert_read();
  cr_assert_str_eq(report.call.module, "wildlife");
  cr_assert_str_eq(flight_function_name(report.call.function), "populate");
  head->call.hit = 0;
  assert_read();
  cr_assert_eq(report.call.function, 0, "another thread was hit");
  head->call.hit = 1;
  head->call.function = 99;
  assert_read();
  cr_assert_eq(report.call.function, 0);
  head->call.function = FLIGHT_POPULATE;
  memset(head->call.world, 'x', sizeof head->call.world);
  assert_read();
  cr_assert_eq(report.call.function, 0, "a name without an end");
}

/* Its own bytes are beyond the check, too: what cannot be is no request. */
Test(flight_file, tells_the_request_that_was_under_way_if_it_can_be_one) {
  head->request = (flight_request){.world = "main", .key = "one", .digest = {7}, .under_way = 1};
  assert_read();
  cr_assert_str_eq(report.request.key, "one");
  head->request.under_way = 0;
  assert_read();
  cr_assert_str_empty(report.request.key);
  head->request.under_way = 1;
  memset(head->request.key, 'k', sizeof head->request.key);
  assert_read();
  cr_assert_str_empty(report.request.key);
}

static const flight_poison *die(flight_poisons *poisons, const char *key, unsigned char request, uint32_t hit) {
  report = (flight_report){.process = 4711, .request = {.world = "main", .digest = {request}, .hit = hit}};
  snprintf(report.request.key, sizeof report.request.key, "%s", key);
  return flight_poisons_add(poisons, &report);
}

Test(flight_file, counts_the_deaths_of_each_request_by_what_is_known_of_them) {
  flight_poisons poisons = {0};
  cr_assert_null(die(&poisons, "", 1, 1), "no request was under way");
  cr_assert_eq(die(&poisons, "killed", 1, 0)->deaths, 1);
  cr_assert_eq(die(&poisons, "killed", 1, 0)->deaths, FLIGHT_DEATHS);
  cr_assert_geq(die(&poisons, "hit", 1, 1)->deaths, FLIGHT_DEATHS);
  cr_assert_eq(die(&poisons, "killed", 2, 0)->deaths, 1, "another request with the key begins anew");
  cr_assert_eq(poisons.count, 2);
  cr_assert(flight_poisons_forget(&poisons, "main", "killed"));
  cr_assert_not(flight_poisons_forget(&poisons, "main", "killed"));
  cr_assert_not(flight_poisons_forget(&poisons, "other", "hit"));
  cr_assert_eq(poisons.count, 1);
  cr_assert_str_eq(poisons.poisons[0].key, "hit");
}

Test(flight_file, forgets_the_oldest_request_for_a_new_one) {
  flight_poisons poisons = {0};
  const char *key = NULL;
  for (int i = 0; i <= FLIGHT_POISONS_MAX; i++) die(&poisons, key = formed("key-%d", i), 1, 1);
  cr_assert_eq(poisons.count, FLIGHT_POISONS_MAX);
  cr_assert_str_eq(poisons.poisons[0].key, "key-1");
  cr_assert_str_eq(poisons.poisons[FLIGHT_POISONS_MAX - 1].key, key);
}

Test(flight_file, that_is_cut_off_anywhere_is_refused_with_a_reason) {
  for (size_t cut = 0; cut < file.size; cut += cut < 512 || cut + 512 > file.size ? 1 : 61) {
    SCOPED(free_memory) unsigned char *part = exact_copy(file.bytes, cut);
    cr_assert_eq(flight_file_read(part, cut, &report, &counts, NULL), MUSTER_E_INPUT, "%zu of %zu", cut, file.size);
    cr_assert(strstr(muster_last_error(), "cut off"), "%s", muster_last_error());
  }
}

Test(flight_file, with_a_flipped_bit_in_its_head_is_refused) {
  for (size_t bit = 0; bit < offsetof(flight_head, clean) * 8; bit += bit < 4096 ? 1 : 7) {
    turn_bit(file.bytes, bit);
    cr_assert_eq(read_file(), MUSTER_E_INPUT, "bit %zu", bit);
    turn_bit(file.bytes, bit);
  }
}

Test(flight_file, of_the_version_before_is_refused_by_its_number) {
  memset(file.bytes, 0, file.size);
  memcpy(file.bytes, "MUSTERDF\1\0\0\0", 12);
  assert_refused("version 1; this program reads version 2");
}

Test(flight_file, with_a_damaged_part_still_tells_of_the_others) {
  file.bytes[head->parts[0].offset + 40] ^= 1;
  file.bytes[head->parts[0].offset] ^= 1;
  assert_read();
  cr_assert_eq(report.damaged_parts, 1);
  cr_assert_eq(report.culprit_count, 0);
  cr_assert_eq(report.inside_count, 1);
  cr_assert_str_eq(report.inside[0].world, "other");
}

Test(flight_file, survives_garbage_behind_a_good_check) {
  uint64_t seed = 88172645463325252ull;
  SCOPED(free_memory) unsigned char *kept = exact_copy(file.bytes, file.size);
  for (uint32_t round = 0; round < 3000; round++) {
    memcpy(file.bytes, kept, file.size);
    for (uint32_t k = 0; k < 1 + round % 40; k++) {
      next_random(&seed);
      file.bytes[sizeof head->before + seed % (file.size - sizeof head->before)] = (unsigned char)(seed >> 50);
    }
    flight_head_renew_check(head);
    muster_result result = read_file();
    cr_assert(result == MUSTER_OK || result == MUSTER_E_INPUT);
    if (result) continue;
    cr_assert(report.inside_count <= FLIGHT_INSIDE_MAX);
    flight_counts_add(&counts, &report);
  }
}

Test(flight_file, counts_no_more_types_than_there_is_room_for) {
  counts = (flight_counts){.count = FLIGHT_COUNTS_MAX};
  report = (flight_report){.culprit_count = 1, .inside_count = 1, .inside = {{.world = "main", .module = "m"}}};
  strcpy(report.inside[0].entry.type_name, "wolf");
  for (uint32_t i = 0; i < FLIGHT_COUNTS_MAX; i++)
    snprintf(counts.counts[i].type, sizeof counts.counts[i].type, "type %u", i);
  cr_assert_not(flight_counts_add(&counts, &report));
  cr_assert_eq(counts.count, FLIGHT_COUNTS_MAX);
}

/* Any program that writes the file can make its check value right: only the names' own ends stop the reader. */
Test(flight_file, with_a_name_that_does_not_end_in_its_room_is_refused) {
  flight_head kept = *head;
  for (int i = 0; i < 2; i++) {
    *head = kept;
    memset(i ? head->parts[0].module : head->parts[0].world, 'x', NAME_BYTES);
    flight_head_renew_check(head);
    assert_refused("says what cannot be");
  }
}

Test(flight_file, counts_types_of_one_name_in_two_worlds_apart) {
  counts = (flight_counts){.count = 2, .counts = {{"main", "wolf", 2}, {"other", "wolf", 5}}};
  cr_assert_eq(flight_counts_find(&counts, "other", "wolf")->crashes, 5);
  cr_assert_null(flight_counts_find(&counts, "third", "wolf"));
  cr_assert_eq(flight_counts_forget(&counts, "other", "wolf"), 5);
  cr_assert_eq(flight_counts_find(&counts, "main", "wolf")->crashes, 2);
}

/* ---------------------------------------------------------------------------------------------------- the recorder */

static struct flight recorder;

static char folder[64] = "/tmp/muster-flight-XXXXXX";

static const char *make_folder(void) {
  cr_assert_not_null(mkdtemp(folder));
  return formed("%s/flight", folder);
}

static void remove_folder(const char *path) {
  unlink(path);
  cr_assert_eq(rmdir(folder), 0, "something else is left in it");
}

Test(flight_file, that_finds_no_room_keeps_no_service_from_its_start_and_leaves_nothing) {
  const char *path = make_folder();
  struct rlimit before;
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &before);
  setrlimit(RLIMIT_FSIZE, &(struct rlimit){16, before.rlim_max});
  muster_result result = flight_open(&recorder, path, 2);
  setrlimit(RLIMIT_FSIZE, &before);
  cr_assert_eq(result, MUSTER_OK);
  cr_assert(strstr(muster_last_error(), "cannot map it: File too large"), "%s", muster_last_error());
  cr_assert(!recorder.head && recorder.descriptor == -1, "it has none");
  cr_assert_eq(flight_read_counts(&recorder, NULL, 0), 0);
  flight_close(&recorder);
  remove_folder(path);
}

/* A service whose standard input was closed gets descriptor 0 for the first file that it opens. */
Test(flight_file, of_the_last_run_is_read_whatever_the_number_of_its_descriptor) {
  const char *path = make_folder();
  FILE *left = fopen(path, "we");
  cr_assert_eq(fwrite(file.bytes, 1, file.size, left), file.size);
  fclose(left);
  close(STDIN_FILENO);
  cr_assert_eq(flight_open(&recorder, path, 2), MUSTER_OK, "%s", muster_last_error());
  cr_assert(recorder.last.known);
  cr_assert_eq(recorder.last.process, 4711);
  flight_close(&recorder);
  remove_folder(path);
}
