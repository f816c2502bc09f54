/* builtin.h - the systems that are compiled in. */
#ifndef BENCH_BUILTIN_H
#define BENCH_BUILTIN_H

#include "system.h"

extern const bench_system system_muster, system_muster_unpinned;                         /* system_muster.c */
extern const bench_system system_futex, system_futex_pinned, system_split, system_alone; /* system_bare.c */

#endif
