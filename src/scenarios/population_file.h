/* scenarios/population_file.h - brings a file of NPC spawns into memory, whole. */
#ifndef SCENARIOS_POPULATION_FILE_H
#define SCENARIOS_POPULATION_FILE_H

#include "scenarios/population_csv.h"

#define POPULATION_FILE_MAX_BYTES (UINT64_C(2) << 30)

/* Reads and parses a file, or a pipe such as the shell's <(...), of at most POPULATION_FILE_MAX_BYTES. The message of a
 * failure names the file and says what the operating system said, or what population_csv_parse did; *rows is empty
 * then. */
muster_result population_file_read(const char *path, char up_axis, population_rows *rows);

#endif
