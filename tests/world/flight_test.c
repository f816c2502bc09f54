/* The flight recorder: what workers note while they are inside callbacks, and what a reader makes of any bytes. */
#include "world/fixture.h"

#include <muster/flight.h>

enum { WORKERS_MOST = 64 };

/* What the recorder said in the last call of each callback. */
static struct {
  void *memory;
  size_t bytes;
  muster_flight_entry seen[MUSTER_FLIGHT_DOINGS];
  uint32_t calls[MUSTER_FLIGHT_DOINGS];
  uint32_t atoms[4]; /* calls, by number of the atom as noted */
  bool marked;
} notes; /* each test runs in a process of its own */

static void note(muster_update *update, muster_flight_doing expected) {
  muster_flight_entry entries[WORKERS_MOST];
  uint32_t count = 0;
  muster_result result = muster_flight_read(notes.memory, notes.bytes, entries, WORKERS_MOST, &count);
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(count, 1, "one worker alone is inside");
  cr_assert_eq(entries[0].doing, expected);
  cr_assert_eq(muster_agent_index(entries[0].agent), muster_agent_index(update->agent));
  cr_assert_eq(muster_agent_generation(entries[0].agent), muster_agent_generation(update->agent));
  cr_assert_eq(entries[0].type.index, update->type.index);
  const muster_flight_header *header = notes.memory;
  const muster_flight_line *lines =
      (const void *)((const char *)notes.memory + notes.bytes - header->lines * sizeof *lines);
  cr_assert_eq(lines[entries[0].worker].kernel_thread, (uint64_t)gettid());
  notes.seen[expected] = entries[0];
  notes.calls[expected]++;
  if (entries[0].atom < 4) notes.atoms[entries[0].atom]++;
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

static const muster_atom atoms[] = {{note_atom, MUSTER_ROLE_PERCEPTION, 1000},
                                    {note_atom, MUSTER_ROLE_BEHAVIOUR, 1000},
                                    {note_action, MUSTER_ROLE_ACTION, 1000}};

static muster_type_def noted(void) {
  return WITH(muster_type_def, it.name = "noted", it.atoms = atoms, it.atom_count = 3,
              it.period_ns = it.period_max_ns = FRAME_NS, it.on_spawned = note_spawned, it.on_removed = note_removed);
}

/* A world whose recorder writes where the notes are read. */
static little_world noted_world(uint32_t workers, muster_type_def type) {
  little_world little = little_world_create(workers, NULL);
  notes.bytes = muster_flight_bytes(little.world);
  notes.memory = aligned_alloc(64, notes.bytes);
  cr_assert_eq(muster_flight_attach(little.world, notes.memory, notes.bytes), MUSTER_OK, "%s", muster_last_error());
  register_type(&little, &type);
  return little;
}

/* On one worker, with one agent of a type that has this atom. */
static little_world noted_world_of(atom_function *run) {
  little_world little = noted_world(1, CHANGED(noted(), it.atoms = atom_of(run, 1000), it.atom_count = 1));
  spawn_at(&little, 0.0);
  return little;
}

static uint32_t count_inside(void) {
  uint32_t count = UINT32_MAX;
  cr_assert_eq(muster_flight_read(notes.memory, notes.bytes, NULL, 0, &count), MUSTER_OK, "%s", muster_last_error());
  return count;
}

Test(flight, each_callback_of_an_agent_is_noted_while_it_runs) {
  SCOPED_WORLD little = noted_world(1, CHANGED(noted(), it.elapsed.contract = MUSTER_ELAPSED_ANALYTIC,
                                               it.elapsed.step_ns = 1000000, it.elapsed.catch_up = note_catch_up));
  muster_agent agent = spawn_at(&little, 0.0);
  run_frames(&little, 4);
  muster_agent_remove(little.world, agent);
  run_frame(&little);
  for (uint32_t doing = MUSTER_FLIGHT_ATOM; doing <= MUSTER_FLIGHT_ON_REMOVED; doing++) {
    cr_assert_gt(notes.calls[doing], 0, "%s", muster_flight_doing_name(doing));
    cr_assert_str_eq(notes.seen[doing].type_name, "noted");
    cr_assert_eq(notes.seen[doing].signal, 0);
  }
  cr_assert_eq(notes.seen[MUSTER_FLIGHT_ACTION].atom, 2);
  cr_assert_eq(notes.seen[MUSTER_FLIGHT_ON_REMOVED].frame, 5);
  cr_assert_gt(notes.atoms[1], 0);
  cr_assert_eq(notes.atoms[1], notes.atoms[2], "each atom has its own number");
  cr_assert_eq(count_inside(), 0, "between frames nobody is inside");
}

Test(flight, atoms_of_sets_are_noted_by_their_number_in_the_type) {
  const muster_set_def sets[2] = {set_with(atoms, 2), CHANGED(set_with(atoms + 2, 1), it.role = MUSTER_ROLE_ACTION)};
  SCOPED_WORLD little = noted_world(1, with_sets(noted(), sets, 2));
  spawn_at(&little, 0.0);
  run_frames(&little, 3);
  cr_assert_gt(notes.atoms[1], 0);
  cr_assert_gt(notes.calls[MUSTER_FLIGHT_ACTION], 0);
  cr_assert_eq(notes.seen[MUSTER_FLIGHT_ACTION].atom, 2);
  cr_assert_eq(count_inside(), 0);
}

static muster_atom_result mark(muster_update *update) {
  notes.marked = muster_flight_mark(notes.memory, 11);
  note(update, MUSTER_FLIGHT_ATOM);
  return MUSTER_ATOM_NEXT;
}

Test(flight, a_mark_names_the_thread_that_is_inside_and_nobody_outside) {
  SCOPED_WORLD little = noted_world_of(mark);
  cr_assert_not(muster_flight_mark(notes.memory, 11));
  run_frames(&little, 3);
  cr_assert(notes.marked);
  cr_assert_eq(notes.seen[MUSTER_FLIGHT_ATOM].signal, 11);
  cr_assert_not(muster_flight_mark(notes.memory, 11), "it has left");
  cr_assert_not(muster_flight_mark(NULL, 11));
}

static void *mark_from_elsewhere(void *memory) {
  return muster_flight_mark(memory, 6) ? memory : NULL;
}

static muster_atom_result let_another_mark(muster_update *update) {
  pthread_t other;
  void *marked = &notes;
  pthread_create(&other, NULL, mark_from_elsewhere, notes.memory);
  pthread_join(other, &marked);
  notes.marked = marked != NULL;
  note(update, MUSTER_FLIGHT_ATOM);
  return MUSTER_ATOM_NEXT;
}

Test(flight, a_mark_of_another_thread_leaves_the_innocent_alone) {
  SCOPED_WORLD little = noted_world_of(let_another_mark);
  run_frames(&little, 3);
  cr_assert_gt(notes.calls[MUSTER_FLIGHT_ATOM], 0);
  cr_assert_not(notes.marked);
  cr_assert_eq(notes.seen[MUSTER_FLIGHT_ATOM].signal, 0);
}

Test(flight, memory_that_does_not_do_is_refused) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  size_t bytes = muster_flight_bytes(little.world);
  SCOPED(free_memory) unsigned char *memory = aligned_alloc(64, bytes + 64);
  cr_assert_eq(muster_flight_attach(little.world, memory, bytes - 1), MUSTER_E_ARGUMENT);
  expect_error("bytes");
  cr_assert_eq(muster_flight_attach(little.world, memory + 8, bytes), MUSTER_E_ARGUMENT);
  expect_error("multiple of 64");
  cr_assert_eq(muster_flight_attach(little.world, memory, bytes), MUSTER_OK);
  cr_assert_eq(muster_flight_attach(little.world, NULL, 0), MUSTER_OK);
  memset(memory, 0xee, bytes);
  add_type(&little, type_with(atoms, 1));
  run_frame(&little);
  for (size_t i = 0; i < bytes; i++) cr_assert_eq(memory[i], 0xee, "memory that was taken back is not written");
}

/* ----------------------------------------------------------------------------------------------- damaged recordings */

static unsigned char *copy;

/* Makes it a recording of a worker that died inside an atom. */
static size_t record_death(void) {
  SCOPED_WORLD little = noted_world(2, noted());
  copy = aligned_alloc(64, notes.bytes);
  memcpy(copy, notes.memory, notes.bytes);
  muster_flight_header *header = (void *)copy;
  muster_flight_line *line = (void *)(copy + notes.bytes - header->lines * sizeof *line);
  line[1] =
      (muster_flight_line){.agent = 3ull << 32 | 7, .place = 1ull << 56 | 1ull << 32 | 2, .frame = 9, .signal = 11};
  return notes.bytes;
}

static void expect_unreadable(const void *memory, size_t bytes, const char *what, size_t number) {
  muster_flight_entry entry;
  uint32_t count = 77;
  cr_assert_eq(muster_flight_read(memory, bytes, &entry, 1, &count), MUSTER_E_INPUT, "%s %zu", what, number);
  cr_assert_eq(count, 77, "nothing is written");
}

Test(flight_reader, tells_who_was_inside) {
  size_t bytes = record_death();
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
  size_t bytes = record_death();
  const muster_flight_header *header = (void *)copy;
  size_t names_end = sizeof *header + (size_t)header->types_max * MUSTER_FLIGHT_NAME_BYTES;
  for (size_t cut = 0; cut < bytes; cut++) {
    /* A copy of its own, so that AddressSanitizer sees reads beyond it. */
    SCOPED(free_memory) unsigned char *part = malloc(cut + 1);
    memcpy(part, copy, cut);
    expect_unreadable(part, cut, "cut at", cut);
    char words[128];
    cr_assert_str_eq(muster_last_error(), reason_of_cut(cut, bytes, names_end, words), "%zu bytes of %zu", cut, bytes);
  }
}

Test(flight_reader, refuses_any_flipped_bit_in_header_and_names) {
  size_t bytes = record_death();
  muster_flight_header *header = (void *)copy;
  size_t end = sizeof *header + (size_t)header->types_max * MUSTER_FLIGHT_NAME_BYTES;
  for (size_t bit = 0; bit < end * 8; bit++) {
    copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
    expect_unreadable(copy, bytes, "bit", bit);
    copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
  }
}

Test(flight_reader, refuses_memory_of_the_version_before_by_its_number) {
  uint64_t before[128] = {0};
  memcpy(before, "MUSTFLIT\1\0\0\0", 12);
  expect_unreadable(before, sizeof before, "version", 1);
  expect_error("version 1, this library reads 2");
}

Test(flight_reader, refuses_lines_that_nobody_writes) {
  static const muster_flight_line impossible[] = {
      {.place = 200ull << 56 | 1ull << 32}, /* no callback has this number */
      {.place = 1ull << 56 | 2ull << 32},   /* only one type is registered */
      {.place = 1ull << 56},                /* a callback of no type */
      {.place = 1ull << 32},                /* a type, but no callback */
      {.place = 1ull << 56 | 1ull << 32, .signal = 4096},
  };
  size_t bytes = record_death();
  muster_flight_line *line = (void *)(copy + bytes - sizeof *line);
  for (size_t i = 0; i < COUNT_OF(impossible); i++) {
    *line = impossible[i];
    expect_unreadable(copy, bytes, "line", i);
    expect_error("damaged");
  }
}

Test(flight_reader, survives_garbage) {
  size_t bytes = record_death();
  uint64_t seed = 88172645463325252ull;
  for (uint32_t round = 0; round < 2000; round++) {
    uint32_t count = 0;
    SCOPED(free_memory) unsigned char *garbage = malloc(bytes);
    memcpy(garbage, copy, bytes);
    for (uint32_t k = 0; k < 1 + round % 64; k++) {
      seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
      garbage[seed % bytes] = (unsigned char)(seed >> 48);
    }
    muster_flight_entry entries[WORKERS_MOST];
    muster_result result = muster_flight_read(garbage, bytes, entries, WORKERS_MOST, &count);
    cr_assert(result == MUSTER_OK || result == MUSTER_E_INPUT);
    cr_assert(count <= WORKERS_MOST);
  }
}

/* -------------------------------------------------------------------------------------------- the host's quarantine */

Test(flight, a_type_in_quarantine_by_the_hosts_word_rests_until_it_is_reinstated) {
  SCOPED_WORLD little = noted_world(1, noted());
  cr_assert_eq(muster_type_quarantine(little.world, little.type), MUSTER_OK);
  spawn_at(&little, 0.0);
  run_frames(&little, 5);
  cr_assert(overrun_counts_of(&little).quarantined);
  cr_assert_eq(notes.calls[MUSTER_FLIGHT_ATOM], 0);
  cr_assert_eq(muster_type_quarantine(little.world, little.type), MUSTER_OK);
  cr_assert_eq(run_frame(&little).types_quarantined, 1, "twice is once");
  cr_assert_eq(muster_type_reinstate(little.world, little.type), MUSTER_OK);
  run_frames(&little, 3);
  cr_assert_gt(notes.calls[MUSTER_FLIGHT_ATOM], 0);
  cr_assert_eq(muster_type_quarantine(little.world, (muster_type){9}), MUSTER_E_ARGUMENT);
}
