/* bench_control.h - `muster bench control`: how the controller answers when costs or budgets change. */
#ifndef TOOLS_BENCH_CONTROL_H
#define TOOLS_BENCH_CONTROL_H

/* arguments[0] is the bench's name. Returns the exit status: failed when a response is out of bounds, too. */
int bench_control_command(int count, char **arguments);

#endif
