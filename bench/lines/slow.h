/* slow.h - how much slower the clocks go: with this, the stages take about as much of a budget as in the library that
 * is not instrumented. */
#ifndef BENCH_LINES_SLOW_H
#define BENCH_LINES_SLOW_H

enum { SLOW_TIMES = 10 };

#endif
