#include "service/bulk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t read_u32(const unsigned char *from) {
  return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static double read_f64(const unsigned char *from) {
  uint64_t bits = (uint64_t)read_u32(from + 4) << 32 | read_u32(from);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static bool bulk_check_head(const unsigned char *from, size_t bytes, api_problem *problem) {
  if (bytes < BULK_HEAD_BYTES || memcmp(from, "MUSTERPO", 8) != 0)
    return api_complain(problem, 400, "format", "magic", "the body must begin with MUSTERPO");
  if (read_u32(from + 8) != BULK_VERSION)
    return api_complain(problem, 400, "format", "version", "version %u is not known; version %d is", read_u32(from + 8),
                        BULK_VERSION);
  uint32_t count = read_u32(from + 12);
  if (count < 1 || count > BULK_RECORDS_MAX)
    return api_complain(problem, 400, "out_of_range", "count", "count %u must be 1 .. %d", count, BULK_RECORDS_MAX);
  if (bytes != BULK_HEAD_BYTES + (size_t)count * BULK_RECORD_BYTES)
    return api_complain(problem, 400, "format", "count", "%u records take %zu bytes, and the body has %zu", count,
                        BULK_HEAD_BYTES + (size_t)count * BULK_RECORD_BYTES, bytes);
  return true;
}

/* Also false for NaN. */
static bool is_in_range(double value) {
  return value >= -1e9 && value <= 1e9;
}

static bool read_record(const unsigned char *from, uint32_t number, bulk_positions *out, api_problem *problem) {
  char field[64];
  double axes[3];
  for (uint32_t axis = 0; axis < 3; axis++) {
    axes[axis] = read_f64(from + 8 + 8 * axis);
    if (is_in_range(axes[axis])) continue;
    snprintf(field, sizeof field, "records[%u].%c", number, "xyz"[axis]);
    return api_complain(problem, 400, "out_of_range", field, "%s must be finite and within +-1e9", field);
  }
  out->ids[number] = (bulk_id){.agent = {read_u32(from), read_u32(from + 4)}};
  out->positions[number] = (muster_position){axes[0], axes[1], axes[2]};
  return true;
}

bool bulk_read(const void *body, size_t bytes, void *given, api_problem *problem) {
  const unsigned char *from = body;
  bulk_positions *out = given;
  if (!bulk_check_head(from, bytes, problem)) return false;
  uint32_t count = read_u32(from + 12);
  *out = (bulk_positions){.count = count, .ids = malloc(count * (sizeof *out->ids + sizeof *out->positions))};
  if (!out->ids) return api_complain(problem, 429, "busy", NULL, "no memory for so many positions now");
  out->positions = (muster_position *)(void *)(out->ids + count);
  for (uint32_t i = 0; i < count; i++)
    if (!read_record(from + BULK_HEAD_BYTES + (size_t)i * BULK_RECORD_BYTES, i, out, problem)) {
      bulk_release(out);
      return false;
    }
  return true;
}

void bulk_release(void *given) {
  bulk_positions *positions = given;
  free(positions->ids);
  positions->ids = NULL;
}
