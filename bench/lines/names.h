/* names.h - what memory is called: by the line of code that reserved it, and the function that had it reserved. */
#ifndef BENCH_NAMES_H
#define BENCH_NAMES_H

#include "lines.h"

#include "base/arena.h"

#include <stdint.h>

/* Forgets all names. */
void names_forget(void);

/* The number of the name of what lies at a line: 0 where no arena reserved it. */
uint32_t names_at(uintptr_t line);

/* Writes a name by its number, and says how many there are. A name is what was reserved and where, and, if that was
 * done for several functions, for which. */
void names_write(uint32_t number, char text[LINES_NAME_BYTES]);
uint32_t names_count(void);

/* Reserves as arena_reserve() does, and remembers the name. */
void *names_reserve(struct arena *arena, size_t count, size_t each, const char *what, const char *file);
void *names_reserve_for_frames(struct arena *arena, size_t count, size_t each, const char *what, const char *file);

#endif
