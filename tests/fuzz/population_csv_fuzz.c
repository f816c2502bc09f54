/* population_csv_fuzz.c - any bytes are either a table of spawns that keeps its promises, or one message.
 *
 * With libFuzzer (-fsanitize=fuzzer) this is a fuzzer; with replay.c it is a test. The first byte chooses the axis that
 * is up and the number of rows that may be read; the others are the file. */
#include "scenarios/population_csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "population_csv_fuzz: broken: %s; the message was: %s\n", what, muster_last_error());
  abort();
}

static void check_row(const population_rows *rows, const population_row *row) {
  const muster_position *place = &row->position;
  require(fabs(place->x) <= 1e9 && fabs(place->y) <= 1e9 && fabs(place->z) <= 1e9, "places are in range");
  require(row->speed_mps >= 0 && row->speed_mps <= 1000, "speeds are in range");
  require(row->kind < rows->kind_count && row->world < rows->world_count, "numbers of kinds and worlds are dense");
}

/* The message names the file, a line of it, and a reason. */
static void check_message(const uint8_t *data, size_t bytes) {
  const char *message = muster_last_error(), *name = "fuzz.csv:";
  require(strncmp(message, name, strlen(name)) == 0, "messages name the file");
  char *end;
  unsigned long line = strtoul(message + strlen(name), &end, 10), lines = 1;
  for (size_t i = 0; i < bytes; i++) lines += data[i] == '\n' || (data[i] == '\r' && i + 1 == bytes);
  require(line >= 1 && line <= lines, "messages name a line of the file");
  require(strncmp(end, ": ", 2) == 0 && strlen(end) > 2, "messages give a reason");
  for (; *end; end++) require(*end >= ' ' && *end <= '~', "messages are printable");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  if (bytes == 0) return 0;
  uint8_t choice = *data++;
  bytes--;
  population_rows rows;
  uint32_t rows_max = choice & 2 ? 3 : 100000;
  muster_result result =
      population_csv_parse("fuzz.csv", (const char *)data, bytes, choice & 1 ? 'z' : 'y', rows_max, &rows);
  if (result) {
    require(result == MUSTER_E_INPUT, "bad text is bad input");
    require(!rows.rows && !rows.kinds && !rows.count, "nothing is half-loaded");
    check_message(data, bytes);
    return 0;
  }
  require(rows.count >= 1 && rows.count <= rows_max, "a table has rows");
  for (uint32_t i = 0; i < rows.count; i++) check_row(&rows, &rows.rows[i]);
  population_rows_free(&rows);
  return 0;
}
