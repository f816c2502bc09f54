/* Fuzzes the decoder of positions in bulk: what it takes is of the documented size and range, what it refuses has a
 * reason. */
#include "service/bulk.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void expect(bool holds) {
  if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  bulk_positions positions;
  api_problem problem = {0};
  if (!bulk_read(data, bytes, &positions, &problem)) {
    expect(problem.status == 400 && *problem.code && *problem.message);
    return 0;
  }
  expect(bytes == BULK_HEAD_BYTES + (size_t)positions.count * BULK_RECORD_BYTES);
  for (uint32_t i = 0; i < positions.count; i++) {
    muster_position place = positions.positions[i];
    expect(place.x >= -1e9 && place.x <= 1e9 && place.y >= -1e9 && place.y <= 1e9 && place.z >= -1e9 && place.z <= 1e9);
  }
  bulk_release(&positions);
  return 0;
}
