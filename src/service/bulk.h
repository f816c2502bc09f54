/* service/bulk.h - positions of many agents or observers in few bytes: the body of POST /v1/worlds/W/positions and
 * /v1/worlds/W/observers/positions, as application/octet-stream. All numbers are little-endian:
 *
 *     bytes 0..7     "MUSTERPO"
 *     bytes 8..11    version: 1
 *     bytes 12..15   count of records: 1 .. 65,536
 *     then for each  index u32, generation u32 (the id INDEX.GENERATION), x f64, y f64, z f64: 32 bytes
 *
 * The body ends with the last record. A coordinate that is not finite or beyond +-1e9 refuses the whole body; ids that
 * are gone are skipped and counted. Positions take effect at once, before the next frame. */
#ifndef SERVICE_BULK_H
#define SERVICE_BULK_H

#include "service/api_read.h"

enum { BULK_HEAD_BYTES = 16, BULK_RECORD_BYTES = 32, BULK_RECORDS_MAX = 65536, BULK_VERSION = 1 };

typedef union bulk_id {
  muster_agent agent;
  muster_observer observer;
} bulk_id;

typedef struct bulk_positions {
  uint32_t count;
  bulk_id *ids; /* owned, with the positions behind them */
  muster_position *positions;
} bulk_positions;

/* Decodes a body into `out`, a bulk_positions. False with a problem, and nothing to release. Any thread. */
bool bulk_read(const void *body, size_t bytes, void *out, api_problem *problem);

/* Frees what was decoded. */
void bulk_release(void *positions);

#endif
