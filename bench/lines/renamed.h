/* renamed.h - included before each source of the library that is compiled for counting: what it calls instead of
 * arena_reserve(), so that memory has names, and instead of those functions of the C library that read and write for
 * it, which the compiler does not instrument. */
#ifndef BENCH_RENAMED_H
#define BENCH_RENAMED_H

#include "names.h"
#include "touched.h"

#include <string.h>

#define arena_reserve(arena, count, each)            names_reserve(arena, count, each, #each, __FILE__)
#define arena_reserve_for_frames(arena, count, each) names_reserve_for_frames(arena, count, each, #each, __FILE__)

#define memcpy(to, from, bytes)   touching_copy(to, from, bytes)
#define memmove(to, from, bytes)  touching_move(to, from, bytes)
#define memset(to, value, bytes)  touching_set(to, value, bytes)
#define memcmp(one, other, bytes) touching_compare(one, other, bytes)

#endif
