/* scenarios/population_csv.h - reads a table of NPC spawns from text, or from a file (population_file.c).
 *
 * The text is CSV as in RFC 4180, with common variations: LF or CRLF, a UTF-8 byte order mark, blank lines, blanks
 * around fields, no newline at the end. The first line that is not blank is the header. It names, in any order and any
 * case, x and one of y and z, and may name kind, world, patrol and speed; other columns are skipped. But a column named
 * map (mapid, dimension, scene ...) must have the same text in all rows, unless there is one of worlds: all rows would
 * lie upon one another.
 *
 *     x, y, z   finite decimal numbers within +-1e9, of fewer than 512 characters, metres
 *     kind      any text; without the column every row is a kind of its own
 *     world     any text; without the column there is one world
 *     patrol    0, 1, false, true, or empty for 0
 *     speed     0..1000 metres per second; empty or -1, as some servers write it, for none
 *
 * Text that is anything else gives one message that names file, line, column and reason, such as
 * "spawns.csv:17: column 'x': 'abc' is not a number", and no rows.
 */
#ifndef SCENARIOS_POPULATION_CSV_H
#define SCENARIOS_POPULATION_CSV_H

#include <muster/muster.h>

#define POPULATION_ROWS_MAX       16000000u
#define POPULATION_WORLDS_MAX     65536u
#define POPULATION_COLUMNS_MAX    1024u
#define POPULATION_NUMBER_BYTES   512u
#define POPULATION_FILE_MAX_BYTES (UINT64_C(2) << 30)

typedef struct population_row {
  muster_position position; /* x and y on the ground, z up, whichever axis is up in the file */
  uint32_t kind;            /* 0..kind_count-1, in order of appearance */
  uint32_t world;           /* 0..world_count-1, in order of appearance */
  float speed_mps;          /* 0 = none given */
  bool patrol;
} population_row;

typedef struct population_rows {
  population_row *rows; /* owned; freed by population_rows_free */
  uint32_t count;
  uint64_t *kinds; /* owned; a hash of each kind's text */
  uint32_t kind_count;
  uint32_t world_count;
} population_rows;

/* Reads `bytes` of text; file_name is for messages only. up_axis, 'y' or 'z', says which of the file's axes is height;
 * a file with only one of y and z is flat: that one is the second axis of the ground, and every height is 0. A text of
 * more than rows_max rows is refused. On failure returns MUSTER_E_INPUT or MUSTER_E_MEMORY with a message, and *rows is
 * empty. */
muster_result population_csv_parse(const char *file_name, const char *text, size_t bytes, char up_axis,
                                   uint32_t rows_max, population_rows *rows);

/* Reads and parses a file, or a pipe such as the shell's <(...), of at most POPULATION_FILE_MAX_BYTES. The message of a
 * failure names the file and says what the operating system said, or what population_csv_parse did; *rows is empty
 * then. */
muster_result population_file_read(const char *path, char up_axis, population_rows *rows);

/* Frees what the rows own and empties them; empty rows are a no-op. */
void population_rows_free(population_rows *rows);

#endif
