#include "service/zones/spaces.h"

#include "service/zones/format.h"
#include "service/zones/place.h"

#include "base/assert.h"
#include "base/bits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SPACE_BITS = 14, SPACE_MASK = (1 << SPACE_BITS) - 1 };

_Static_assert((int)SPACES_MAX == (int)SPACE_MASK && SPACES_WORDS * 64 == SPACES_MAX + 1,
               "a bit for each, and one for none");
FORMAT_HAS(zone_used, 2048);
FORMAT_HAS(spaces_note, 24);

void space_write(const zone_space *space, char text[SPACE_TEXT_BYTES]) {
  int length =
      snprintf(text, SPACE_TEXT_BYTES, "%" PRIu32 " %" PRIu64 " %" PRIu32, space->space, space->epoch, space->used);
  ASSERT(length > 0 && length < SPACE_TEXT_BYTES);
  if (space->closed) snprintf(text + length, SPACE_TEXT_BYTES - (size_t)length, " %" PRIu64, space->frame);
}

bool space_read(const char *text, zone_space *space) {
  int open_end = 0, closed_end = 0;
  *space = (zone_space){0};
  int count = sscanf(text, "%" SCNu32 " %" SCNu64 " %" SCNu32 "%n %" SCNu64 "%n", &space->space, &space->epoch,
                     &space->used, &open_end, &space->frame, &closed_end);
  space->closed = count == 4;
  bool whole = count >= 3 && text[space->closed ? closed_end : open_end] == '\0';
  return whole && space->space >= 1 && space->space <= SPACES_MAX && space->used >= 1 && space->used <= SPACES_MAX &&
         space->epoch >= 1 && space->epoch <= ZONE_EPOCH_MAX;
}

bool space_goes_on(const zone_space *space, uint64_t epoch) {
  return space->space && space->closed && space->epoch + 1 == epoch;
}

void space_close(zone_space *space, uint64_t epoch, uint64_t frame) {
  ASSERT(space->space && epoch >= space->epoch);
  space->epoch = epoch;
  space->frame = frame;
  space->closed = true;
}

bool space_take(zone_space *space, zone_used *used, uint64_t epoch) {
  uint32_t next = space->space;
  ASSERT(next <= SPACES_MAX);
  for (uint32_t tries = 0; tries < SPACES_MAX; tries++) {
    next = next % SPACES_MAX + 1;
    if (bits_has(used->bits, next)) continue;
    bits_set(used->bits, next);
    *space = (zone_space){.space = next, .used = spaces_count(used), .epoch = epoch};
    return true;
  }
  return false;
}

void spaces_begin(zone_used *used, uint32_t own) {
  ASSERT(own <= SPACES_MAX);
  *used = (zone_used){{0}};
  for (uint32_t i = 1; i <= own; i++) bits_set(used->bits, i);
}

uint32_t spaces_count(const zone_used *used) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < SPACES_WORDS; i++) count += (uint32_t)__builtin_popcountll(used->bits[i]);
  ASSERT(count <= SPACES_MAX);
  return count;
}

/* ------------------------------------------------------------------------------------------------------ used again */

void sweep_begin(spaces_sweep *sweep, uint32_t zone, int64_t taken) {
  *sweep = (spaces_sweep){.zone = zone, .since = taken, .after = INT64_MAX};
}

void sweep_add_zone(spaces_sweep *sweep) {
  sweep->zones++;
}

static void sweep_add_name(spaces_sweep *sweep, uint32_t name) {
  if (name >> SPACE_BITS == sweep->zone && (name & SPACE_MASK)) bits_set(sweep->named.bits, name & SPACE_MASK);
}

void sweep_add_note(spaces_sweep *sweep, const void *bytes, size_t count) {
  spaces_note note = {0};
  uint32_t name;
  bool whole = count >= sizeof note;
  if (whole) memcpy(&note, bytes, sizeof note);
  whole = whole && note.since > 0 && note.count <= SPACES_NAMED_MAX && count == sizeof note + note.count * sizeof name;
  sweep->notes++;
  sweep->unknown = sweep->unknown || !whole;
  if (!whole) return;
  if (note.since > sweep->since) sweep->since = note.since;
  if (note.after < sweep->after) sweep->after = note.after;
  for (uint32_t i = 0; i < note.count; i++) {
    memcpy(&name, (const unsigned char *)bytes + sizeof note + i * sizeof name, sizeof name);
    sweep_add_name(sweep, name);
  }
}

int64_t sweep_moment(const spaces_sweep *sweep) {
  bool all = sweep->zones > 0 && sweep->notes == sweep->zones && !sweep->unknown;
  return all && sweep->since <= sweep->after ? sweep->since : 0;
}

uint32_t sweep_free(const spaces_sweep *sweep, zone_space *space, zone_used *used) {
  uint32_t before = spaces_count(used);
  ASSERT(sweep_moment(sweep) && space->space);
  for (uint32_t i = 0; i < SPACES_WORDS; i++) used->bits[i] &= sweep->named.bits[i];
  bits_set(used->bits, space->space);
  space->used = spaces_count(used);
  ASSERT(space->used <= before);
  return before - space->used;
}
