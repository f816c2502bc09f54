/* bench_scale.h - `muster bench scale`: what scheduling costs, from few agents to millions. */
#ifndef TOOLS_BENCH_SCALE_H
#define TOOLS_BENCH_SCALE_H

/* `arguments` begins with the bench's name. Returns the exit status. */
int bench_scale_command(int count, char **arguments);

#endif
