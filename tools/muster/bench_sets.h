/* bench_sets.h - `muster bench sets`: what sets cost, beside lists of atoms and beside a plain loop. */
#ifndef TOOLS_BENCH_SETS_H
#define TOOLS_BENCH_SETS_H

/* arguments[0] is the bench's name. Returns the exit status. */
int bench_sets_command(int count, char **arguments);

#endif
