/* check.h - whether known accesses are counted as what they are. */
#ifndef BENCH_LINES_CHECK_H
#define BENCH_LINES_CHECK_H

/* Null, or what was counted wrong (valid until the next call). It forgets all names. */
const char *check_planted(void);

#endif
