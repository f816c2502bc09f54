/* The flight recorder: what workers note while they are inside callbacks, and what a reader makes of any bytes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/little_world.h"

#include <muster/flight.h>
#include <muster/overruns.h>
#include <muster/sets.h>

enum { WORKERS_MOST = 64 };

/* What the recorder said in the last call of each callback. */
struct notes {
  little_world little;
  void *memory;
  size_t bytes;
  muster_flight_entry seen[MUSTER_FLIGHT_DOINGS];
  uint32_t calls[MUSTER_FLIGHT_DOINGS];
  uint32_t atoms[4]; /* calls, by number of the atom as noted */
  bool marked;
};

static void note(muster_update *update, muster_flight_doing expected) {
  struct notes *notes = update->type_user;
  muster_flight_entry entries[WORKERS_MOST];
  uint32_t count = 0;
  muster_result result = muster_flight_read(notes->memory, notes->bytes, entries, WORKERS_MOST, &count);
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(count, 1, "one worker alone is inside");
  cr_assert_eq(entries[0].doing, expected);
  cr_assert_eq(muster_agent_index(entries[0].agent), muster_agent_index(update->agent));
  cr_assert_eq(muster_agent_generation(entries[0].agent), muster_agent_generation(update->agent));
  cr_assert_eq(entries[0].type.index, update->type.index);
  const muster_flight_header *header = notes->memory;
  const muster_flight_line *lines =
      (const void *)((const char *)notes->memory + notes->bytes - header->lines * sizeof *lines);
  cr_assert_eq(lines[entries[0].worker].kernel_thread, (uint64_t)gettid());
  notes->seen[expected] = entries[0];
  notes->calls[expected]++;
  if (entries[0].atom < 4) notes->atoms[entries[0].atom]++;
}

static muster_atom_result note_atom(muster_update *update) {
  note(update, MUSTER_FLIGHT_ATOM);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result note_action(muster_update *update) {
  note(update, MUSTER_FLIGHT_ACTION);
  return MUSTER_ATOM_NEXT;
}

static void note_catch_up(muster_update *update) {
  note(update, MUSTER_FLIGHT_CATCH_UP);
}

static void note_spawned(muster_update *update) {
  note(update, MUSTER_FLIGHT_ON_SPAWNED);
}

static void note_removed(muster_update *update) {
  note(update, MUSTER_FLIGHT_ON_REMOVED);
}

static void open_notes(struct notes *notes, uint32_t workers) {
  *notes = (struct notes){0};
  notes->little = little_world_create(workers, NULL);
  notes->bytes = muster_flight_bytes(notes->little.world);
  notes->memory = aligned_alloc(64, notes->bytes);
  muster_result result = muster_flight_attach(notes->little.world, notes->memory, notes->bytes);
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
}

static void close_notes(struct notes *notes) {
  little_world_destroy(&notes->little);
  free(notes->memory);
}

static const muster_atom atoms[] = {{note_atom, MUSTER_ROLE_PERCEPTION, 1000},
                                    {note_atom, MUSTER_ROLE_BEHAVIOUR, 1000},
                                    {note_action, MUSTER_ROLE_ACTION, 1000}};

static muster_type_def noted(struct notes *notes) {
  muster_type_def type = muster_type_def_default();
  type.name = "noted";
  type.atoms = atoms;
  type.atom_count = 3;
  type.period_ns = type.period_max_ns = FRAME_NS;
  type.user = notes;
  type.on_spawned = note_spawned;
  type.on_removed = note_removed;
  return type;
}

static uint32_t count_inside(const struct notes *notes) {
  uint32_t count = UINT32_MAX;
  muster_result result = muster_flight_read(notes->memory, notes->bytes, NULL, 0, &count);
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  return count;
}

Test(flight, each_callback_of_an_agent_is_noted_while_it_runs) {
  struct notes notes;
  open_notes(&notes, 1);
  muster_type_def type = noted(&notes);
  type.elapsed.contract = MUSTER_ELAPSED_ANALYTIC;
  type.elapsed.step_ns = 1000000;
  type.elapsed.catch_up = note_catch_up;
  register_type(&notes.little, &type);
  muster_agent agent = spawn_at(&notes.little, 0.0);
  run_frames(&notes.little, 4);
  muster_agent_remove(notes.little.world, agent);
  run_frame(&notes.little);
  for (uint32_t doing = MUSTER_FLIGHT_ATOM; doing <= MUSTER_FLIGHT_ON_REMOVED; doing++) {
    cr_assert_gt(notes.calls[doing], 0, "%s", muster_flight_doing_name(doing));
    cr_assert_str_eq(notes.seen[doing].type_name, "noted");
    cr_assert_eq(notes.seen[doing].signal, 0);
  }
  cr_assert_eq(notes.seen[MUSTER_FLIGHT_ACTION].atom, 2);
  cr_assert_eq(notes.seen[MUSTER_FLIGHT_ON_REMOVED].frame, 5);
  cr_assert_gt(notes.atoms[1], 0);
  cr_assert_eq(notes.atoms[1], notes.atoms[2], "each atom has its own number");
  cr_assert_eq(count_inside(&notes), 0, "between frames nobody is inside");
  close_notes(&notes);
}

Test(flight, atoms_of_sets_are_noted_by_their_number_in_the_type) {
  struct notes notes;
  open_notes(&notes, 1);
  muster_set_def sets[2] = {muster_set_def_default(), muster_set_def_default()};
  sets[0].atoms = atoms;
  sets[0].atom_count = 2;
  sets[1].atoms = atoms + 2;
  sets[1].atom_count = 1;
  sets[1].role = MUSTER_ROLE_ACTION;
  muster_type_def type = noted(&notes);
  type.atoms = NULL;
  type.atom_count = 0;
  type.sets.list = sets;
  type.sets.count = 2;
  register_type(&notes.little, &type);
  spawn_at(&notes.little, 0.0);
  run_frames(&notes.little, 3);
  cr_assert_gt(notes.atoms[1], 0);
  cr_assert_gt(notes.calls[MUSTER_FLIGHT_ACTION], 0);
  cr_assert_eq(notes.seen[MUSTER_FLIGHT_ACTION].atom, 2);
  cr_assert_eq(count_inside(&notes), 0);
  close_notes(&notes);
}

static muster_atom_result mark(muster_update *update) {
  struct notes *notes = update->type_user;
  notes->marked = muster_flight_mark(notes->memory, 11);
  note(update, MUSTER_FLIGHT_ATOM);
  return MUSTER_ATOM_NEXT;
}

Test(flight, a_mark_names_the_thread_that_is_inside_and_nobody_outside) {
  struct notes notes;
  open_notes(&notes, 1);
  muster_type_def type = noted(&notes);
  type.atoms = &(muster_atom){mark, MUSTER_ROLE_BEHAVIOUR, 1000};
  type.atom_count = 1;
  register_type(&notes.little, &type);
  spawn_at(&notes.little, 0.0);
  cr_assert_not(muster_flight_mark(notes.memory, 11));
  run_frames(&notes.little, 3);
  cr_assert(notes.marked);
  cr_assert_eq(notes.seen[MUSTER_FLIGHT_ATOM].signal, 11);
  cr_assert_not(muster_flight_mark(notes.memory, 11), "it has left");
  cr_assert_not(muster_flight_mark(NULL, 11));
  close_notes(&notes);
}

static void *mark_from_elsewhere(void *memory) {
  return muster_flight_mark(memory, 6) ? memory : NULL;
}

static muster_atom_result let_another_mark(muster_update *update) {
  struct notes *notes = update->type_user;
  pthread_t other;
  void *marked = notes;
  pthread_create(&other, NULL, mark_from_elsewhere, notes->memory);
  pthread_join(other, &marked);
  notes->marked = marked != NULL;
  note(update, MUSTER_FLIGHT_ATOM);
  return MUSTER_ATOM_NEXT;
}

Test(flight, a_mark_of_another_thread_leaves_the_innocent_alone) {
  struct notes notes;
  open_notes(&notes, 1);
  muster_type_def type = noted(&notes);
  type.atoms = &(muster_atom){let_another_mark, MUSTER_ROLE_BEHAVIOUR, 1000};
  type.atom_count = 1;
  register_type(&notes.little, &type);
  spawn_at(&notes.little, 0.0);
  run_frames(&notes.little, 3);
  cr_assert_gt(notes.calls[MUSTER_FLIGHT_ATOM], 0);
  cr_assert_not(notes.marked);
  cr_assert_eq(notes.seen[MUSTER_FLIGHT_ATOM].signal, 0);
  close_notes(&notes);
}

Test(flight, memory_that_does_not_do_is_refused) {
  little_world little = little_world_create(1, NULL);
  size_t bytes = muster_flight_bytes(little.world);
  unsigned char *memory = aligned_alloc(64, bytes + 64);
  cr_assert_eq(muster_flight_attach(little.world, memory, bytes - 1), MUSTER_E_ARGUMENT);
  cr_assert(strstr(muster_last_error(), "bytes"));
  cr_assert_eq(muster_flight_attach(little.world, memory + 8, bytes), MUSTER_E_ARGUMENT);
  cr_assert(strstr(muster_last_error(), "multiple of 64"));
  cr_assert_eq(muster_flight_attach(little.world, memory, bytes), MUSTER_OK);
  cr_assert_eq(muster_flight_attach(little.world, NULL, 0), MUSTER_OK);
  memset(memory, 0xee, bytes);
  muster_type_def type = type_with(atoms, 1);
  register_type(&little, &type);
  run_frame(&little);
  for (size_t i = 0; i < bytes; i++) cr_assert_eq(memory[i], 0xee, "memory that was taken back is not written");
  little_world_destroy(&little);
  free(memory);
}

/* ----------------------------------------------------------------------------------------------- damaged recordings */

/* A recording of a worker that died inside an atom. */
static size_t record_death(unsigned char **copy) {
  struct notes notes;
  open_notes(&notes, 2);
  muster_type_def type = noted(&notes);
  register_type(&notes.little, &type);
  *copy = aligned_alloc(64, notes.bytes);
  memcpy(*copy, notes.memory, notes.bytes);
  muster_flight_header *header = (void *)*copy;
  muster_flight_line *line = (void *)(*copy + notes.bytes - header->lines * sizeof *line);
  line[1] =
      (muster_flight_line){.agent = 3ull << 32 | 7, .place = 1ull << 56 | 1ull << 32 | 2, .frame = 9, .signal = 11};
  size_t bytes = notes.bytes;
  close_notes(&notes);
  return bytes;
}

static muster_result read_copy(const void *memory, size_t bytes, uint32_t *count) {
  muster_flight_entry entries[WORKERS_MOST];
  return muster_flight_read(memory, bytes, entries, WORKERS_MOST, count);
}

Test(flight_reader, tells_who_was_inside) {
  unsigned char *copy;
  size_t bytes = record_death(&copy);
  muster_flight_entry entry;
  uint32_t count = 0;
  cr_assert_eq(muster_flight_read(copy, bytes, &entry, 1, &count), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(count, 1);
  cr_assert_eq(entry.worker, 1);
  cr_assert_eq(entry.doing, MUSTER_FLIGHT_ATOM);
  cr_assert_eq(muster_agent_index(entry.agent), 7);
  cr_assert_eq(muster_agent_generation(entry.agent), 3);
  cr_assert_eq(entry.atom, 2);
  cr_assert_eq(entry.frame, 9);
  cr_assert_eq(entry.signal, 11);
  cr_assert_str_eq(entry.type_name, "noted");
  free(copy);
}

/* Words with which a cut recording is refused. The reader checks the sealed sections first, and behind them the lines.
 */
static const char *reason_of_cut(size_t cut, size_t bytes, size_t names_end, char words[128]) {
  enum { MAGIC = 8, HEAD = 16, CHUNK = 32 };
  size_t content = names_end - HEAD - CHUNK;
  if (cut < MAGIC) return "flight recorder: offset 0: this is not a Muster file";
  if (cut < HEAD)
    snprintf(words, 128, "flight recorder: offset %zu: the file ends here", cut);
  else if (cut < HEAD + CHUNK || (cut >= names_end && cut < names_end + CHUNK))
    snprintf(words, 128, "flight recorder: offset %zu: it was cut here", cut);
  else if (cut < names_end)
    snprintf(words, 128, "flight recorder: offset %d: a chunk of %zu bytes, but only %zu follow", HEAD, content,
             cut - HEAD - CHUNK);
  else
    snprintf(words, 128, "flight recorder: cut off: %zu bytes of %zu", cut, bytes);
  return words;
}

Test(flight_reader, refuses_every_truncation_with_its_reason) {
  unsigned char *copy;
  size_t bytes = record_death(&copy);
  const muster_flight_header *header = (void *)copy;
  size_t names_end = sizeof *header + (size_t)header->types_max * MUSTER_FLIGHT_NAME_BYTES;
  for (size_t cut = 0; cut < bytes; cut++) {
    uint32_t count = 77;
    unsigned char *part = malloc(cut + 1); /* a copy of its own, so that AddressSanitizer sees reads beyond it */
    memcpy(part, copy, cut);
    cr_assert_eq(read_copy(part, cut, &count), MUSTER_E_INPUT, "%zu bytes of %zu", cut, bytes);
    char words[128];
    cr_assert_str_eq(muster_last_error(), reason_of_cut(cut, bytes, names_end, words), "%zu bytes of %zu", cut, bytes);
    cr_assert_eq(count, 77, "nothing is written");
    free(part);
  }
  free(copy);
}

Test(flight_reader, refuses_any_flipped_bit_in_header_and_names) {
  unsigned char *copy;
  size_t bytes = record_death(&copy);
  muster_flight_header *header = (void *)copy;
  size_t end = sizeof *header + (size_t)header->types_max * MUSTER_FLIGHT_NAME_BYTES;
  for (size_t bit = 0; bit < end * 8; bit++) {
    uint32_t count = 77;
    copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
    cr_assert_eq(read_copy(copy, bytes, &count), MUSTER_E_INPUT, "bit %zu", bit);
    cr_assert_eq(count, 77);
    copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
  }
  free(copy);
}

Test(flight_reader, refuses_memory_of_the_version_before_by_its_number) {
  uint64_t before[128] = {0};
  uint32_t count = 77;
  memcpy(before, "MUSTFLIT\1\0\0\0", 12);
  cr_assert_eq(read_copy(before, sizeof before, &count), MUSTER_E_INPUT);
  cr_assert(strstr(muster_last_error(), "version 1, this library reads 2"), "%s", muster_last_error());
  cr_assert_eq(count, 77);
}

Test(flight_reader, refuses_lines_that_nobody_writes) {
  static const muster_flight_line impossible[] = {
      {.place = 200ull << 56 | 1ull << 32}, /* no callback has this number */
      {.place = 1ull << 56 | 2ull << 32},   /* only one type is registered */
      {.place = 1ull << 56},                /* a callback of no type */
      {.place = 1ull << 32},                /* a type, but no callback */
      {.place = 1ull << 56 | 1ull << 32, .signal = 4096},
  };
  unsigned char *copy;
  size_t bytes = record_death(&copy);
  muster_flight_line *line = (void *)(copy + bytes - sizeof *line);
  for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
    uint32_t count;
    *line = impossible[i];
    cr_assert_eq(read_copy(copy, bytes, &count), MUSTER_E_INPUT, "line %zu", i);
    cr_assert(strstr(muster_last_error(), "damaged"), "%s", muster_last_error());
  }
  free(copy);
}

Test(flight_reader, survives_garbage) {
  unsigned char *copy;
  size_t bytes = record_death(&copy);
  uint64_t seed = 88172645463325252ull;
  for (uint32_t round = 0; round < 2000; round++) {
    uint32_t count = 0;
    unsigned char *garbage = malloc(bytes);
    memcpy(garbage, copy, bytes);
    for (uint32_t k = 0; k < 1 + round % 64; k++) {
      seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
      garbage[seed % bytes] = (unsigned char)(seed >> 48);
    }
    muster_result result = read_copy(garbage, bytes, &count);
    cr_assert(result == MUSTER_OK || result == MUSTER_E_INPUT);
    cr_assert(count <= WORKERS_MOST);
    free(garbage);
  }
  free(copy);
}

/* -------------------------------------------------------------------------------------------- the host's quarantine */

Test(flight, a_type_in_quarantine_by_the_hosts_word_rests_until_it_is_reinstated) {
  struct notes notes;
  open_notes(&notes, 1);
  muster_type_def type = noted(&notes);
  register_type(&notes.little, &type);
  cr_assert_eq(muster_type_quarantine(notes.little.world, notes.little.type), MUSTER_OK);
  spawn_at(&notes.little, 0.0);
  run_frames(&notes.little, 5);
  muster_overrun_counts counts = muster_overrun_counts_default();
  muster_overrun_counts_read(notes.little.world, notes.little.type, &counts);
  cr_assert(counts.quarantined);
  cr_assert_eq(notes.calls[MUSTER_FLIGHT_ATOM], 0);
  cr_assert_eq(muster_type_quarantine(notes.little.world, notes.little.type), MUSTER_OK);
  cr_assert_eq(run_frame(&notes.little).types_quarantined, 1, "twice is once");
  cr_assert_eq(muster_type_reinstate(notes.little.world, notes.little.type), MUSTER_OK);
  run_frames(&notes.little, 3);
  cr_assert_gt(notes.calls[MUSTER_FLIGHT_ATOM], 0);
  cr_assert_eq(muster_type_quarantine(notes.little.world, (muster_type){9}), MUSTER_E_ARGUMENT);
  close_notes(&notes);
}
