/* bench_machine.h - `muster bench machine`: how often the machine itself makes a frame late. */
#ifndef TOOLS_BENCH_MACHINE_H
#define TOOLS_BENCH_MACHINE_H

/* arguments[0] is the bench's name. Returns the exit status. */
int bench_machine_command(int count, char **arguments);

#endif
