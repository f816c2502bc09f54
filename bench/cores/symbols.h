/* symbols.h - what the functions of this program are called. */
#ifndef BENCH_SYMBOLS_H
#define BENCH_SYMBOLS_H

#include <stdint.h>

/* The name of the function at an address, also of one that its file keeps to itself; null where the program has no
 * table of them any more. One thread. */
const char *symbols_name(uintptr_t address);

#endif
