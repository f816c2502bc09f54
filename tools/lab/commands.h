/* commands.h - the commands of `muster-lab`, as program.h wants them. */
#ifndef LAB_COMMANDS_H
#define LAB_COMMANDS_H

int repro_command(int count, char **arguments);
int bench_command(int count, char **arguments);
int bench_all_command(int count, char **arguments); /* of bench_command; arguments[0] is "all" */

#endif
