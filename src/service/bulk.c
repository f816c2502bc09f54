#include "service/bulk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As they are sent. */
typedef struct bulk_head {
  char magic[8];
  uint32_t version, count;
} bulk_head;

typedef struct bulk_record {
  bulk_id id;
  double axes[3];
} bulk_record;

_Static_assert(sizeof(bulk_head) == BULK_HEAD_BYTES && sizeof(bulk_record) == BULK_RECORD_BYTES &&
                   __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "they are read as they lie in memory");

static bool bulk_check_head(const bulk_head *head, size_t bytes, api_problem *problem) {
  if (bytes < BULK_HEAD_BYTES || memcmp(head->magic, "MUSTERPO", 8) != 0)
    return api_complain(problem, 400, "format", "magic", "the body must begin with MUSTERPO");
  if (head->version != BULK_VERSION)
    return api_complain(problem, 400, "format", "version", "version %u is not known; version %d is", head->version,
                        BULK_VERSION);
  if (head->count < 1 || head->count > BULK_RECORDS_MAX)
    return api_complain(problem, 400, "out_of_range", "count", "count %u must be 1 .. %d", head->count,
                        BULK_RECORDS_MAX);
  size_t wanted = BULK_HEAD_BYTES + (size_t)head->count * BULK_RECORD_BYTES;
  return bytes == wanted || api_complain(problem, 400, "format", "count",
                                         "%u records take %zu bytes, and the body has %zu", head->count, wanted, bytes);
}

static bool read_record(const void *from, uint32_t number, bulk_positions *out, api_problem *problem) {
  char field[64];
  bulk_record record;
  memcpy(&record, from, sizeof record);
  for (uint32_t axis = 0; axis < 3; axis++) {
    if (fabs(record.axes[axis]) <= 1e9) continue;
    snprintf(field, sizeof field, "records[%u].%c", number, "xyz"[axis]);
    return api_complain(problem, 400, "out_of_range", field, "%s must be finite and within +-1e9", field);
  }
  out->ids[number] = record.id;
  out->positions[number] = (muster_position){record.axes[0], record.axes[1], record.axes[2]};
  return true;
}

bool bulk_read(const void *body, size_t bytes, void *given, api_problem *problem) {
  const unsigned char *from = body;
  bulk_head head = {0};
  bulk_positions *out = given;
  if (bytes >= sizeof head) memcpy(&head, body, sizeof head);
  if (!bulk_check_head(&head, bytes, problem)) return false;
  *out = (bulk_positions){.count = head.count, .ids = malloc(head.count * (sizeof *out->ids + sizeof *out->positions))};
  if (!out->ids) return api_complain(problem, 429, "busy", NULL, "no memory for so many positions now");
  out->positions = (muster_position *)(void *)(out->ids + head.count);
  for (uint32_t i = 0; i < head.count; i++)
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
