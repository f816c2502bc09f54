/* resident.h - what of this process is in memory. */
#ifndef BENCH_RESIDENT_H
#define BENCH_RESIDENT_H

#include <stdint.h>

/* Bytes of this process that are in memory now; 0 where the system does not tell. */
uint64_t resident_bytes(void);

#endif
