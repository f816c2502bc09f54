/* bench_activation.h - `muster bench activation`: what planned activation does to the load of frames. */
#ifndef TOOLS_BENCH_ACTIVATION_H
#define TOOLS_BENCH_ACTIVATION_H

/* Runs the command line behind `muster bench`, whose first argument is the bench's name; returns the exit status. */
int bench_activation_command(int count, char **arguments);

#endif
