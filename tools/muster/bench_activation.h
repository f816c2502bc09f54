/* bench_activation.h - `muster bench activation`: what planned activation does to the load of frames. */
#ifndef TOOLS_BENCH_ACTIVATION_H
#define TOOLS_BENCH_ACTIVATION_H

/* arguments[0] is the bench's name. Returns the exit status: failed when a peak is above its bound, too. */
int bench_activation_command(int count, char **arguments);

#endif
