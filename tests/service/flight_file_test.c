/* The reader of the flight recorder's file: what it tells, and that it survives anything. */
#include "service/flight.h"
#include "service/flight_file.h"

#include <criterion/criterion.h>
#include <muster/flight.h>
#include <muster/muster.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* A file of two worlds, each with one worker inside a callback, of which the first world's was hit by a signal. */
struct file {
  size_t size;
  unsigned char *bytes;
};

static muster_atom_result never(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_FINISH;
}

static size_t write_part(const char *name, unsigned char *memory, bool marked) {
  muster_world_def def = muster_world_def_default();
  def.limits.agents_max = 16;
  def.limits.types_max = 3;
  muster_world *world = muster_world_create(&def);
  cr_assert_not_null(world, "%s", muster_last_error());
  size_t bytes = muster_flight_bytes(world);
  if (memory) {
    muster_type_def type = muster_type_def_default();
    type.name = name;
    type.atoms = &(muster_atom){never, MUSTER_ROLE_BEHAVIOUR, 10};
    type.atom_count = 1;
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

static struct file write_file(void) {
  struct file file = {0};
  flight_head head;
  flight_counts counts = {.count = 1, .counts = {{"main", "wolf", 2}}};
  size_t bytes = write_part(NULL, NULL, false);
  flight_head_begin(&head, 4711, 1234567890, &counts, &(flight_poisons){0});
  flight_head_add_part(&head, "main", "wildlife", bytes);
  flight_head_add_part(&head, "other", "village", bytes);
  uint64_t first = head.parts[0].offset, second = head.parts[1].offset;
  file.size = second + bytes;
  file.bytes = aligned_alloc(64, (file.size + 63) / 64 * 64);
  memset(file.bytes, 0, file.size);
  write_part("wolf", file.bytes + first, true);
  write_part("sheep", file.bytes + second, false);
  memcpy(file.bytes, &head, sizeof head);
  return file;
}

static muster_result read_file(const struct file *file, flight_report *report, flight_counts *counts) {
  return flight_file_read(file->bytes, file->size, report, counts, NULL);
}

Test(flight_file, tells_culprits_first_and_who_else_was_running) {
  struct file file = write_file();
  flight_report report;
  flight_counts counts;
  cr_assert_eq(read_file(&file, &report, &counts), MUSTER_OK, "%s", muster_last_error());
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
  free(file.bytes);
}

Test(flight_file, of_a_good_end_blames_nobody) {
  struct file file = write_file();
  flight_report report;
  flight_counts counts;
  ((flight_head *)(void *)file.bytes)->clean = 1;
  cr_assert_eq(read_file(&file, &report, &counts), MUSTER_OK, "%s", muster_last_error());
  cr_assert(report.clean);
  cr_assert_eq(report.inside_count, 0);
  cr_assert_eq(counts.counts[0].crashes, 2, "the counts stay");
  free(file.bytes);
}

Test(flight_file, without_a_mark_tells_who_was_running_and_blames_nobody) {
  struct file file = write_file();
  flight_report report;
  flight_counts counts;
  const flight_head *head = (const void *)file.bytes;
  unsigned char *part = file.bytes + head->parts[0].offset;
  muster_flight_line *lines =
      (void *)(part + head->parts[0].bytes - ((muster_flight_header *)(void *)part)->lines * sizeof *lines);
  lines->signal = 0;
  cr_assert_eq(read_file(&file, &report, &counts), MUSTER_OK);
  cr_assert_eq(report.culprit_count, 0);
  cr_assert_eq(report.inside_count, 2);
  cr_assert_eq(report.signal, 0);
  free(file.bytes);
}

Test(flight_file, tells_the_function_of_a_module_that_was_hit_if_it_can_be_one) {
  struct file file = write_file();
  flight_report report;
  flight_counts counts;
  flight_head *head = (void *)file.bytes;
  head->call = (flight_call){"main", "wildlife", FLIGHT_POPULATE, 1};
  cr_assert_eq(read_file(&file, &report, &counts), MUSTER_OK);
  cr_assert_str_eq(report.call.module, "wildlife");
  cr_assert_str_eq(flight_function_name(report.call.function), "populate");
  head->call.hit = 0;
  cr_assert_eq(read_file(&file, &report, &counts), MUSTER_OK);
  cr_assert_eq(report.call.function, 0, "another thread was hit");
  head->call.hit = 1;
  head->call.function = 99;
  cr_assert_eq(read_file(&file, &report, &counts), MUSTER_OK);
  cr_assert_eq(report.call.function, 0);
  head->call.function = FLIGHT_POPULATE;
  memset(head->call.world, 'x', sizeof head->call.world);
  cr_assert_eq(read_file(&file, &report, &counts), MUSTER_OK);
  cr_assert_eq(report.call.function, 0, "a name without an end");
  free(file.bytes);
}

/* Its own bytes are beyond the check, too: what cannot be is no request. */
Test(flight_file, tells_the_request_that_was_under_way_if_it_can_be_one) {
  struct file file = write_file();
  flight_report report;
  flight_counts counts;
  flight_head *head = (void *)file.bytes;
  head->request = (flight_request){.world = "main", .key = "one", .digest = {7}, .under_way = 1};
  cr_assert_eq(read_file(&file, &report, &counts), MUSTER_OK);
  cr_assert_str_eq(report.request.key, "one");
  head->request.under_way = 0;
  cr_assert_eq(read_file(&file, &report, &counts), MUSTER_OK);
  cr_assert_str_empty(report.request.key);
  head->request.under_way = 1;
  memset(head->request.key, 'k', sizeof head->request.key);
  cr_assert_eq(read_file(&file, &report, &counts), MUSTER_OK);
  cr_assert_str_empty(report.request.key);
  free(file.bytes);
}

static const flight_poison *die(flight_poisons *poisons, const char *key, unsigned char request, uint32_t hit) {
  flight_report report = {.process = 4711, .request = {.world = "main", .digest = {request}, .hit = hit}};
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
  char key[16];
  for (int i = 0; i <= FLIGHT_POISONS_MAX; i++) {
    snprintf(key, sizeof key, "key-%d", i);
    die(&poisons, key, 1, 1);
  }
  cr_assert_eq(poisons.count, FLIGHT_POISONS_MAX);
  cr_assert_str_eq(poisons.poisons[0].key, "key-1");
  cr_assert_str_eq(poisons.poisons[FLIGHT_POISONS_MAX - 1].key, key);
}

Test(flight_file, that_is_cut_off_anywhere_is_refused_with_a_reason) {
  struct file file = write_file();
  flight_report report;
  flight_counts counts;
  for (size_t cut = 0; cut < file.size; cut += cut < 512 || cut + 512 > file.size ? 1 : 61) {
    unsigned char *part = malloc(cut + 1);
    memcpy(part, file.bytes, cut);
    cr_assert_eq(flight_file_read(part, cut, &report, &counts, NULL), MUSTER_E_INPUT, "%zu of %zu bytes", cut,
                 file.size);
    cr_assert(strstr(muster_last_error(), "cut off"), "%s", muster_last_error());
    free(part);
  }
  free(file.bytes);
}

Test(flight_file, with_a_flipped_bit_in_its_head_is_refused) {
  struct file file = write_file();
  flight_report report;
  flight_counts counts;
  for (size_t bit = 0; bit < offsetof(flight_head, clean) * 8; bit += bit < 4096 ? 1 : 7) {
    file.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    cr_assert_eq(read_file(&file, &report, &counts), MUSTER_E_INPUT, "bit %zu", bit);
    file.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
  }
  free(file.bytes);
}

Test(flight_file, of_the_version_before_is_refused_by_its_number) {
  struct file file = write_file();
  flight_report report;
  flight_counts counts;
  memset(file.bytes, 0, file.size);
  memcpy(file.bytes, "MUSTERDF\1\0\0\0", 12);
  cr_assert_eq(read_file(&file, &report, &counts), MUSTER_E_INPUT);
  cr_assert(strstr(muster_last_error(), "version 1; this program reads version 2"), "%s", muster_last_error());
  free(file.bytes);
}

Test(flight_file, with_a_damaged_part_still_tells_of_the_others) {
  struct file file = write_file();
  flight_report report;
  flight_counts counts;
  const flight_head *head = (const void *)file.bytes;
  file.bytes[head->parts[0].offset + 40] ^= 1;
  file.bytes[head->parts[0].offset] ^= 1;
  cr_assert_eq(read_file(&file, &report, &counts), MUSTER_OK);
  cr_assert_eq(report.damaged_parts, 1);
  cr_assert_eq(report.culprit_count, 0);
  cr_assert_eq(report.inside_count, 1);
  cr_assert_str_eq(report.inside[0].world, "other");
  free(file.bytes);
}

Test(flight_file, survives_garbage_behind_a_good_check) {
  struct file file = write_file();
  flight_report report;
  flight_counts counts;
  flight_head *head = (void *)file.bytes;
  uint64_t seed = 88172645463325252ull;
  unsigned char *kept = malloc(file.size);
  memcpy(kept, file.bytes, file.size);
  for (uint32_t round = 0; round < 3000; round++) {
    memcpy(file.bytes, kept, file.size);
    for (uint32_t k = 0; k < 1 + round % 40; k++) {
      seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
      file.bytes[sizeof head->before + seed % (file.size - sizeof head->before)] = (unsigned char)(seed >> 50);
    }
    flight_head_renew_check(head);
    muster_result result = read_file(&file, &report, &counts);
    cr_assert(result == MUSTER_OK || result == MUSTER_E_INPUT);
    if (result) continue;
    cr_assert(report.inside_count <= FLIGHT_INSIDE_MAX);
    flight_counts_add(&counts, &report);
  }
  free(kept);
  free(file.bytes);
}

Test(flight_file, counts_no_more_types_than_there_is_room_for) {
  flight_counts counts = {.count = FLIGHT_COUNTS_MAX};
  flight_report report = {.culprit_count = 1, .inside_count = 1, .inside = {{.world = "main", .module = "m"}}};
  strcpy(report.inside[0].entry.type_name, "wolf");
  for (uint32_t i = 0; i < FLIGHT_COUNTS_MAX; i++)
    snprintf(counts.counts[i].type, sizeof counts.counts[i].type, "type %u", i);
  cr_assert_not(flight_counts_add(&counts, &report));
  cr_assert_eq(counts.count, FLIGHT_COUNTS_MAX);
}

/* Any program that writes the file can make its check value right: only the names' own ends keep the reader inside
 * them. */
Test(flight_file, with_a_name_that_does_not_end_in_its_room_is_refused) {
  struct file file = write_file();
  flight_report report;
  flight_counts counts;
  flight_head *head = (void *)file.bytes, kept = *head;
  for (int i = 0; i < 2; i++) {
    *head = kept;
    memset(i ? head->parts[0].module : head->parts[0].world, 'x', NAME_BYTES);
    flight_head_renew_check(head);
    cr_assert_eq(read_file(&file, &report, &counts), MUSTER_E_INPUT);
    cr_assert(strstr(muster_last_error(), "says what cannot be"), "%s", muster_last_error());
  }
  free(file.bytes);
}

Test(flight_file, counts_types_of_one_name_in_two_worlds_apart) {
  flight_counts counts = {.count = 2, .counts = {{"main", "wolf", 2}, {"other", "wolf", 5}}};
  cr_assert_eq(flight_counts_find(&counts, "other", "wolf")->crashes, 5);
  cr_assert_null(flight_counts_find(&counts, "third", "wolf"));
  cr_assert_eq(flight_counts_forget(&counts, "other", "wolf"), 5);
  cr_assert_eq(flight_counts_find(&counts, "main", "wolf")->crashes, 2);
}

/* ---------------------------------------------------------------------------------------------------- the recorder */

static struct flight recorder;

static void make_folder(char folder[64], char path[96]) {
  snprintf(folder, 64, "/tmp/muster-flight-XXXXXX");
  cr_assert_not_null(mkdtemp(folder));
  snprintf(path, 96, "%s/flight", folder);
}

static void remove_folder(const char *folder, const char *path) {
  unlink(path);
  cr_assert_eq(rmdir(folder), 0, "something else is left in it");
}

Test(flight_file, that_finds_no_room_keeps_no_service_from_its_start_and_leaves_nothing) {
  char folder[64], path[96];
  struct rlimit before;
  make_folder(folder, path);
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
  remove_folder(folder, path);
}

/* A service whose standard input was closed gets descriptor 0 for the first file that it opens. */
Test(flight_file, of_the_last_run_is_read_whatever_the_number_of_its_descriptor) {
  char folder[64], path[96];
  struct file file = write_file();
  make_folder(folder, path);
  FILE *left = fopen(path, "we");
  cr_assert_eq(fwrite(file.bytes, 1, file.size, left), file.size);
  fclose(left);
  close(STDIN_FILENO);
  cr_assert_eq(flight_open(&recorder, path, 2), MUSTER_OK, "%s", muster_last_error());
  cr_assert(recorder.last.known);
  cr_assert_eq(recorder.last.process, 4711);
  flight_close(&recorder);
  remove_folder(folder, path);
  free(file.bytes);
}
