/* bench_sweep.h - `muster bench sweep`: no load at which important agents suddenly run much less often. */
#ifndef TOOLS_BENCH_SWEEP_H
#define TOOLS_BENCH_SWEEP_H

/* arguments[0] is the bench's name. Returns the exit status: failed when there is a cliff, too. */
int bench_sweep_command(int count, char **arguments);

#endif
