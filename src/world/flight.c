/* flight.c - the flight recorder: its memory, and the reader of what a dead process left. */
#include "world/flight.h"

#include "base/flight_format.h"
#include "run/flight.h"
#include "run/runner.h"
#include "world/guard.h"

#include <muster/flight.h>

#include <string.h>

enum { TYPES_MOST = 1024 }; /* that any world may have */

_Static_assert(sizeof(muster_flight_header) == 64, "names follow");
_Static_assert(offsetof(muster_flight_header, lines) == CHUNKS_SEAL_BEFORE, "the section begins there");

/* The bytes of the section, from `lines` on. */
static size_t section_bytes(uint32_t types_max) {
  return sizeof(muster_flight_header) - CHUNKS_SEAL_BEFORE + (size_t)types_max * MUSTER_FLIGHT_NAME_BYTES;
}

static size_t lines_offset(uint32_t types_max) {
  return (CHUNKS_SEAL_BEFORE + section_bytes(types_max) + CHUNKS_SEAL_AFTER + 63) / 64 * 64;
}

static size_t bytes_for(uint32_t types_max, uint32_t lines) {
  return lines_offset(types_max) + lines * sizeof(muster_flight_line);
}

/* ------------------------------------------------------------------------------------------------------- writing */

void flight_enter_types(struct muster_world *world) {
  muster_flight_header *header = world->runner->flight_memory;
  if (!header) return;
  char *names = (char *)(header + 1);
  for (uint32_t i = header->types; i < world->agents.types.count; i++) {
    _Static_assert(sizeof world_type(world, i)->name <= MUSTER_FLIGHT_NAME_BYTES, "names are kept whole");
    memcpy(names + (size_t)i * MUSTER_FLIGHT_NAME_BYTES, world_type(world, i)->name, sizeof world_type(world, i)->name);
  }
  header->types = world->agents.types.count;
  chunks_seal(&flight_format, FLIGHT_OF_WORLD, header, section_bytes(header->types_max));
}

size_t muster_flight_bytes(const muster_world *world) {
  if (guard_any(world, "flight recorder")) return 0;
  return bytes_for(world->def.limits.types_max, world->runner->state_count);
}

static void lend(struct muster_world *world, void *memory) {
  struct runner *runner = world->runner;
  runner->flight_memory = memory;
  runner->flight_lines = memory ? (flight_line *)((char *)memory + lines_offset(world->def.limits.types_max)) : NULL;
  for (uint32_t i = 0; i < runner->state_count; i++)
    runner->states[i].flight = memory ? &runner->flight_lines[i] : NULL;
}

muster_result muster_flight_attach(muster_world *world, void *memory, size_t bytes) {
  muster_result result = guard_between(world, "flight recorder");
  if (result) return result;
  size_t needed = muster_flight_bytes(world);
  if (memory && bytes < needed)
    return error_set(MUSTER_E_ARGUMENT, "flight recorder: this world needs %zu bytes, not %zu", needed, bytes);
  if ((uintptr_t)memory % 64)
    return error_set(MUSTER_E_ARGUMENT, "flight recorder: its memory must begin at a multiple of 64");
  if (memory) {
    memset(memory, 0, needed);
    muster_flight_header *header = memory;
    header->lines = world->runner->state_count;
    header->types_max = world->def.limits.types_max;
  }
  lend(world, memory);
  flight_enter_types(world);
  return MUSTER_OK;
}

bool muster_flight_mark(void *memory, int signal) {
  muster_flight_header *header = memory;
  if (!header || header->types_max > TYPES_MOST || header->lines > MUSTER_FLIGHT_LINES_MAX)
    return false; /* the header was overwritten */
  return flight_mark((flight_line *)((char *)memory + lines_offset(header->types_max)), header->lines, signal);
}

/* ------------------------------------------------------------------------------------------------------- reading */

const char *muster_flight_doing_name(muster_flight_doing doing) {
  static const char *const names[MUSTER_FLIGHT_DOINGS] = {"nothing",    "atom",       "action",        "catch_up",
                                                          "on_spawned", "on_removed", "fold or unfold"};
  return names[(unsigned)doing < MUSTER_FLIGHT_DOINGS ? doing : MUSTER_FLIGHT_NOTHING];
}

/* Checks the section, and copies the header. */
static muster_result world_flight_read_header(const void *memory, size_t bytes, muster_flight_header *header) {
  static const char before[] = "MUSTFLIT";
  chunk_reader reader;
  size_t length;
  if (bytes >= strlen(before) && memcmp(memory, before, strlen(before)) == 0)
    return error_set(MUSTER_E_INPUT, "flight recorder: version 1, this library reads %u", MUSTER_FLIGHT_VERSION);
  muster_result result = chunks_read_front(&reader, &flight_format, memory, bytes, &length);
  if (result) return result;
  if (length < sizeof *header || !chunks_enter(&reader, FLIGHT_OF_WORLD))
    return error_set(MUSTER_E_INPUT, "flight recorder: this is no world's memory");
  memcpy(header, memory, sizeof *header);
  if (header->types_max > TYPES_MOST || header->types > header->types_max || header->lines > MUSTER_FLIGHT_LINES_MAX ||
      header->bytes != section_bytes(header->types_max))
    return error_set(MUSTER_E_INPUT, "flight recorder: damaged: %u types of %u and %u lines cannot be", header->types,
                     header->types_max, header->lines);
  if (bytes_for(header->types_max, header->lines) > bytes)
    return error_set(MUSTER_E_INPUT, "flight recorder: cut off: %zu bytes of %zu", bytes,
                     bytes_for(header->types_max, header->lines));
  return MUSTER_OK;
}

static muster_result check_lines(const muster_flight_header *header, const unsigned char *lines) {
  for (uint32_t i = 0; i < header->lines; i++) {
    muster_flight_line line;
    memcpy(&line, lines + i * sizeof line, sizeof line);
    uint32_t type = (uint32_t)(line.place >> 32) & 0xffffffu;
    bool possible = line.place >> 56 < MUSTER_FLIGHT_DOINGS && type <= header->types && line.signal < 128;
    if (line.place) possible = possible && line.place >> 56 && type;
    if (!possible) return error_set(MUSTER_E_INPUT, "flight recorder: damaged: line %u cannot have been written", i);
  }
  return MUSTER_OK;
}

static void copy_name(char out[MUSTER_FLIGHT_NAME_BYTES], const char *name) {
  size_t length = strnlen(name, MUSTER_FLIGHT_NAME_BYTES - 1);
  for (size_t i = 0; i < length; i++) out[i] = name[i];
  for (size_t i = 0; i < length; i++)
    if (out[i] < ' ' || out[i] > '~') out[i] = '?';
  memset(out + length, 0, MUSTER_FLIGHT_NAME_BYTES - length);
}

static muster_flight_entry world_flight_entry_of(const muster_flight_line *line, uint32_t worker, const char *names) {
  muster_flight_entry entry = {.worker = worker,
                               .doing = (muster_flight_doing)(line->place >> 56),
                               .signal = (uint32_t)line->signal,
                               .atom = (uint32_t)line->place,
                               .agent = muster_agent_make((uint32_t)line->agent, (uint32_t)(line->agent >> 32)),
                               .type = {(uint32_t)(line->place >> 32) & 0xffffffu},
                               .frame = line->frame};
  copy_name(entry.type_name, names + (size_t)(entry.type.index - 1) * MUSTER_FLIGHT_NAME_BYTES);
  return entry;
}

/* The memory may stand anywhere: a header is copied, names and lines are read byte by byte. */
muster_result muster_flight_read(const void *memory, size_t bytes, muster_flight_entry *entries, uint32_t capacity,
                                 uint32_t *count) {
  muster_flight_header header;
  if (!count || (capacity && !entries)) return error_missing("flight recorder", "array and the count");
  muster_result result = world_flight_read_header(memory, memory ? bytes : 0, &header);
  if (result) return result;
  const char *names = (const char *)memory + sizeof header;
  const unsigned char *lines = (const unsigned char *)memory + lines_offset(header.types_max);
  result = check_lines(&header, lines);
  if (result) return result;
  *count = 0;
  for (uint32_t i = 0; i < header.lines; i++) {
    muster_flight_line line;
    memcpy(&line, lines + i * sizeof line, sizeof line);
    if (!line.place) continue;
    if (*count < capacity) entries[*count] = world_flight_entry_of(&line, i, names);
    ++*count;
  }
  return MUSTER_OK;
}
