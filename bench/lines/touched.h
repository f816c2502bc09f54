/* touched.h - which cache lines were touched, and in which parts of a frame. There is one set, and one thread that may
 * touch: nothing here is guarded. */
#ifndef BENCH_TOUCHED_H
#define BENCH_TOUCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Forgets all lines, and notes from now on what is touched in this part. False: out of memory. */
bool touched_begin(uint32_t part);

/* What is touched from now on is touched in this part. */
void touched_turn(uint32_t part);

/* Notes nothing any more. False: out of memory, lines are missing. */
bool touched_end(void);

/* So many bytes are read or written. Those on the thread's stack do not count. */
void touched_note(const volatile void *address, size_t bytes);

/* Shows every line, by its address, with a bit for each part that touched it. */
void touched_visit(void (*show)(uintptr_t line, uint32_t parts, void *user), void *user);

/* memcpy(), memmove(), memset() and memcmp(), which note what they touch. */
void *touching_copy(void *to, const void *from, size_t bytes);
void *touching_move(void *to, const void *from, size_t bytes);
void *touching_set(void *to, int value, size_t bytes);
int touching_compare(const void *one, const void *other, size_t bytes);

#endif
