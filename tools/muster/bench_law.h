/* bench_law.h - `muster bench law`: what the law of importance promises, over worlds, loads and seeds. */
#ifndef TOOLS_BENCH_LAW_H
#define TOOLS_BENCH_LAW_H

/* arguments[0] is the bench's name. Returns the exit status: failed when a promise is missed, too. */
int bench_law_command(int count, char **arguments);

#endif
